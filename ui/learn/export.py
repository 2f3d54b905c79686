"""The command that puts the ten scenes into one HTML file: no server, no network, no model.

python -m ui.learn.export --out learn.html     the scenes
python -m ui.learn.export --words              their words alone, as plain text
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.errors import SetBlockDecodingError
from sbd_core.replay.page import STYLES
from ui.components.assets import ASSETS, DIST, markup
from ui.learn.lesson import lesson, words_text


def page() -> str:
    """The file. Raises TraceError if the recorded runs are missing."""
    names = (*STYLES, "learn")
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in names)
    text = markup("learn-page").replace("/*STYLES*/", styles)
    text = text.replace("/*SCRIPTS*/", (DIST / "learn.js").read_text("utf-8"))
    return text.replace("<!--LESSON-->", lesson())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 2 the runs cannot be read or the file not written."""
    parser = argparse.ArgumentParser(
        description="Put the ten scenes of the Learn view into one page that works offline.",
        prog="python -m ui.learn.export",
    )
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--out", type=Path, help="the HTML file to write")
    wanted.add_argument("--words", action="store_true", help="print the words of the scenes")
    flags = parser.parse_args(arguments)
    try:
        if flags.words:
            print(words_text(), end="")
            return 0
        text = page()
        flags.out.write_text(text, encoding="utf-8")
    except (OSError, SetBlockDecodingError) as error:
        print(f"python -m ui.learn.export: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(text.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
