"""The command that puts the scenes of the Learn view into one HTML file, which works offline.

python -m ui.share.lesson_page --out lesson.html
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.files import ASSETS
from sbd_core.replay import STYLES
from ui.page import DIST
from ui.share.replay_page import write_page
from ui.views.learn import lesson


def page() -> str:
    """Build the HTML page."""
    names = (*STYLES, "learn")
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in names)
    text = (ASSETS / "html" / "learn-page.html").read_text("utf-8").replace("/*STYLES*/", styles)
    text = text.replace("/*SCRIPTS*/", (DIST / "learn.js").read_text("utf-8"))
    return text.replace("<!--LESSON-->", lesson(has_model=False))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 if the file cannot be written."""
    parser = argparse.ArgumentParser(
        description="Put the ten scenes of the Learn view into one page that works offline.",
        prog="python -m ui.share.lesson_page",
    )
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write")
    flags = parser.parse_args(arguments)
    return write_page(parser.prog, flags.out, page)


if __name__ == "__main__":
    sys.exit(main())
