"""The command that puts the ten scenes into one HTML file: no server, no network, no model.

python -m ui.learn.export --out learn.html     the scenes
python -m ui.learn.export --words              their words alone, as plain text
python -m ui.learn.export --time               how long a calm reader takes, worked out
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sbd_core.errors import SetBlockDecodingError
from sbd_core.replay import STYLES
from ui.components.assets import ASSETS, DIST, markup
from ui.learn.lesson import (
    CALM_PACE,
    CAPTION_WORDS,
    DOING_SECONDS,
    lesson,
    minutes,
    num_words,
    scenes,
    words_text,
)


def page() -> str:
    """The file. Raises TraceError if the recorded runs are missing."""
    names = (*STYLES, "learn")
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in names)
    text = markup("learn-page").replace("/*STYLES*/", styles)
    text = text.replace("/*SCRIPTS*/", (DIST / "learn.js").read_text("utf-8"))
    return text.replace("<!--LESSON-->", lesson(has_model=False))


def time_text() -> str:
    """How long the scenes take, and what that is worked out from."""
    words = [num_words(scene) for scene in scenes()]
    quick, slow = (minutes(pace) for pace in CALM_PACE)
    return (
        f"{quick:.0f} to {slow:.0f} minutes: {sum(words)} words and {CAPTION_WORDS} in each of "
        f"{len(words)} pictures, at {CALM_PACE[0]} to {CALM_PACE[1]} words a minute, and "
        f"{sum(DOING_SECONDS.values()) / 60:.1f} minutes to try "
        "things out. Worked out, not measured."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 2 the runs cannot be read or the file not written."""
    parser = argparse.ArgumentParser(
        description="Put the ten scenes of the Learn view into one page that works offline.",
        prog="python -m ui.learn.export",
    )
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--out", type=Path, help="the HTML file to write")
    wanted.add_argument("--words", action="store_true", help="print the words of the scenes")
    wanted.add_argument("--time", action="store_true", help="print how long they take")
    flags = parser.parse_args(arguments)
    try:
        if flags.time:
            print(time_text())
            return 0
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
