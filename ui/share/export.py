"""A recorded run as one HTML file that plays anywhere, offline, with nothing beside it.

python -m ui.share.export run.json --out run.html            the trace of one decode
python -m ui.share.export sbd.json ntp.json --out run.html   several lanes, the main one first
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.errors import SetBlockDecodingError, TraceError
from sbd_core.trace import Trace
from ui import wire_format
from ui.components.assets import STYLES, markup, replay_script
from ui.share.trace_files import read_trace


def trace_html(*traces: Trace) -> str:
    """The page that replays `traces` side by side, the main one first, one of each strategy."""
    if not traces:
        raise TraceError("traces: must be one or more")
    lanes: dict[str, Trace] = {trace.config.strategy: trace for trace in traces}
    if len(lanes) < len(traces):
        raise TraceError("traces: must each be of another strategy")
    return standalone_html(wire_format.replay("export", lanes))


def standalone_html(lines: str) -> str:
    """The player with wire `lines` inside, which hold no `<`, so none escape."""
    styles = "\n".join(path.read_text(encoding="utf-8") for path in STYLES if path.stem != "page")
    page = markup("replay").replace("/*STYLES*/", styles)
    page = page.replace("/*SCRIPTS*/", replay_script())
    return page.replace("<!--LINES-->", lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 2 a file cannot be read, used or written."""
    parser = argparse.ArgumentParser(
        description="Turn traces of one prompt into a page that replays them offline.",
        prog="python -m ui.share.export",
    )
    parser.add_argument("traces", nargs="+", type=Path, help="trace files, the main one first")
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    flags = parser.parse_args(arguments)
    try:
        traces = [read_trace(path.read_text(encoding="utf-8")) for path in flags.traces]
        page = trace_html(*traces)
        flags.out.write_text(page, encoding="utf-8")
    except (OSError, UnicodeDecodeError, SetBlockDecodingError) as error:
        print(f"python -m ui.share.export: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(page.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
