"""Photograph the page for the README: python -m tests.browser.pictures

Writes assets/pictures/watch-WIDTH-SCHEME.png. Uses the bundled checkpoint if it is there, else
a scripted model; what is seen is the recorded opening run, so the pictures do not change by
themselves.
"""

from pathlib import Path

import sbd_core
from sbd_core.models.base import SetBlockModel
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.ui.doubles import story_model
from ui import page as page_module
from ui.components.assets import ASSETS

SIZES = {1440: 900, 1920: 1080, 390: 844}
SCHEMES = ("light", "dark")
SHOWN_PART = 0.35
SEEK = """(part) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.seek(Math.round(player.run.main.lastPass * part), true);
  document.activeElement?.blur();
}"""


def model() -> SetBlockModel:
    """The bundled checkpoint, or a double with its name."""
    if (sbd_core.DEFAULT_CHECKPOINT / "config.json").exists():
        return sbd_core.load(device="cpu")
    return story_model(name="sbd-nano")


def main() -> None:
    """Serve, visit in every size and scheme, photograph."""
    from playwright.sync_api import sync_playwright

    folder = ASSETS / "pictures"
    folder.mkdir(exist_ok=True)
    demo = page_module.build(model())
    options = page_module.launch_options()
    _, url, _ = demo.launch(prevent_thread_lock=True, server_name="127.0.0.1", **options)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, height in SIZES.items():
            for scheme in SCHEMES:
                size = {"width": width, "height": height}
                page = browser.new_page(viewport=size, color_scheme=scheme)
                page.goto(url)
                page.wait_for_selector(".sbd-tile")
                page.evaluate(SEEK, SHOWN_PART)
                page.wait_for_timeout(800)
                path: Path = folder / f"watch-{width}-{scheme}.png"
                page.screenshot(path=path)
                print(f"wrote {path.name}")
                page.close()
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
