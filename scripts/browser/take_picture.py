"""Photographs the static site in the middle of a run that the browser decoded.

python -m scripts.browser.take_picture      writes assets/pictures/static-site-1440-light.png
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from scripts.browser.site_pages import DECODE, chromium, open_page, served
from scripts.static_site import PICTURE

PROMPT = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
SEEK = """() => new Promise((done) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.seek(0, true);
  player.seek(Math.round(player.run.main.lastPass * 0.4), true);
  document.activeElement?.blur();
  setTimeout(done, 1_000);  // by then what the forward pass reveals has landed
})"""


def main() -> None:
    """Serve the bundled checkpoint's site, decode, photograph."""
    with (
        TemporaryDirectory() as folder,
        served(Path(folder), DEFAULT_CHECKPOINT) as server,
        chromium() as browser,
    ):
        page = open_page(browser, server.address)
        page.evaluate(DECODE, PROMPT)
        page.evaluate(SEEK)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=PICTURE, animations="disabled")
    print(f"wrote {PICTURE.name}, {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
