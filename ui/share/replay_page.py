"""The command that turns traces into one HTML file that replays them offline.

python -m ui.share.replay_page run.json --out run.html            the trace of one decode
python -m ui.share.replay_page sbd.json ntp.json --out run.html   several lanes, the main one first
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.cli.output import with_output
from sbd_core.errors import SetBlockDecodingError
from sbd_core.files import read_file
from sbd_core.replay import replay_html
from ui.share.trace_files import read_trace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 if a trace cannot be used or the page cannot be written."""
    parser = argparse.ArgumentParser(
        description="Turn traces of one prompt into a page that replays them offline.",
        prog="python -m ui.share.replay_page",
    )
    parser.add_argument("traces", nargs="+", type=Path, help="trace files, the main one first")
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    flags = parser.parse_args(arguments)
    try:
        page = replay_html(*(read_trace(read_file(path).decode()) for path in flags.traces))
        flags.out.write_text(page, encoding="utf-8")
    except (OSError, UnicodeDecodeError, SetBlockDecodingError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(page.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(with_output(main))
