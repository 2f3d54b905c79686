"""Photograph the scenes of the Learn view, each with its answer shown.

    python -m scripts.record_learn.pictures                 the committed ones
    python -m scripts.record_learn.pictures --out FOLDER    every size and scheme, to be looked at

Needs no model and no server: it opens the exported lesson. Writes assets/pictures/learn/.
"""

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser.conftest import CHROMIUM, FLAGS, painted
from ui.components.assets import ASSETS
from ui.learn import export
from ui.learn.lesson import scenes

FOLDER = ASSETS / "pictures" / "learn"


@dataclass(frozen=True, slots=True)
class Size:
    """A window. is_lecture: whether in lecture form."""

    width: int
    height: int
    is_lecture: bool = False


COMMITTED = Size(1440, 900)
SIZES = (COMMITTED, Size(1920, 1080, is_lecture=True), Size(390, 844))


def photograph(browser: Any, url: str, size: Size, scheme: str, folder: Path) -> None:
    """Every scene in one size and scheme."""
    page = browser.new_page(viewport={"width": size.width, "height": size.height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for scene in scenes():
        page.goto("about:blank")  # or only the hash would change
        page.goto(f"{url}#learn/{scene['address']}")
        page.wait_for_selector(".sbd-learn-question")
        if size.is_lecture:
            page.keyboard.press("l")
        page.keyboard.press("ArrowRight")
        painted(page)
        path = folder / f"{scene['address']}-{size.width}-{scheme}.png"
        page.screenshot(path=path, animations="disabled", full_page=size.width < 640)
        print(f"wrote {path.name}, {path.stat().st_size / 1000:.0f} kB")
    page.close()


def main() -> None:
    """The command line."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, prog="python -m scripts.record_learn.pictures"
    )
    parser.add_argument("--out", type=Path, help="write every size and scheme there instead")
    out = parser.parse_args().out
    folder = out or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    sizes, schemes = (SIZES, ("light", "dark")) if out else ((COMMITTED,), ("light",))
    with tempfile.TemporaryDirectory() as held, sync_playwright() as playwright:
        lesson = Path(held) / "learn.html"
        lesson.write_text(export.page(), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for size in sizes:
            for scheme in schemes:
                photograph(browser, lesson.as_uri(), size, scheme, folder)
        browser.close()


if __name__ == "__main__":
    main()
