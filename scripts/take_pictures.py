"""Take screenshots of the page for the documents: python -m scripts.take_pictures [--only NAME ...]

Writes assets/pictures/NAME-1440-light.png. Only `compare` and `static-site` show live decodes; the
others show recorded ones. `home` needs SmolLM2's base model (sbd fetch).
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sbd_core
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.models.runtime import choose_threads
from sbd_core.models.web_folder import keep_export
from scripts.static_site import write_site
from tests.browser.conftest import CHROMIUM, FLAGS, on_watch, painted, turn_to
from tests.browser.site.conftest import DECODE, address, serving
from tests.ui.served import served
from ui import examples
from ui.models import models_of
from ui.page import lesson_html

FOLDER = ASSETS / "pictures"
WIDTH = 1440
SHOWN_PART = 0.35
HOME, LEARN, STATIC_SITE = "home", "learn", "static-site"
HOME_PASSES = 3
SCENES = ("the-bound", "the-cache")
SITE_PROMPT = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
SCROLL_MS = 1_000
LANDING_MS = 1_000
PLAYER = "document.querySelector('.sbd-host').sbdPlayer"
LANES = "document.querySelector('.sbd-compare').sbdCompare"
SEEK = """(part) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.seek(0, true);  // a jump stands still at once, a step lands
  player.seek(Math.round(player.run.main.lastPass * part), true);
  document.activeElement?.blur();
}"""
TO_RIDING = f"""() => {{
  const isRiding = ({{ kind, causal }}) => kind !== 'prefill' && causal;
  {PLAYER}.seek(Math.max({PLAYER}.run.main.steps.findIndex(isRiding), 0), true);
}}"""


def in_compare(page: Any) -> None:
    """Decode a prompt in all lanes of Compare; show a moment when only some are finished."""
    page.get_by_role("button", name="Word problem").click()
    turn_to(page, "Compare")
    page.locator(".sbd-compare-go").click()
    run = f"{LANES}.history.run"
    page.wait_for_function(f"!{run}.isRecorded && {run}.isComplete")
    page.evaluate(f"{LANES}.actions.seek(Math.round({LANES}.clock.finish * 0.6))")
    page.evaluate("document.activeElement?.blur()")


def under_the_hood(page: Any) -> None:
    """Open "Under the hood" at a forward pass that also reads a finished block causally."""
    page.evaluate(TO_RIDING)
    page.get_by_role("button", name="Under the hood").click()
    page.wait_for_selector(".sbd-hood-table")
    page.wait_for_timeout(SCROLL_MS)
    page.locator(".sbd-hood").evaluate("node => node.scrollIntoView()")


def with_sudoku(page: Any) -> None:
    """Show a recorded sudoku at a moment at which only some of its cells are filled."""
    old = page.evaluate(f"{PLAYER}.run.id")
    place = [item.name for item in examples.gallery()].index("sudoku-1")
    page.locator(".sbd-gallery-card").nth(place).click()
    page.wait_for_function(f"(old) => {PLAYER}.run.id !== old", arg=old)
    page.evaluate(SEEK, 0.34)
    page.locator(".sbd-ways-now", has_text="γ").wait_for()
    page.evaluate("scrollTo(0, 0)")


ACTS: dict[str, tuple[int, Callable[[Any], object]]] = {
    "watch": (900, lambda page: None),
    "compare": (1080, in_compare),
    "hood": (900, under_the_hood),
    "sudoku": (900, with_sudoku),
}
"""Height of the window in CSS pixels, and a function that prepares the page for its picture."""


@contextmanager
def tab(browser: Any, height: int = 900, **media: str) -> Iterator[Any]:
    """Yield an empty page in a new window. media: options of Playwright's new_context()."""
    size = {"width": WIDTH, "height": height}
    with browser.new_context(
        viewport=size, color_scheme="light", bypass_csp=True, **media
    ) as context:
        yield context.new_page()


def shoot(page: Any, name: str) -> None:
    """Take the picture `name` after the animation of arriving tokens is over."""
    page.wait_for_timeout(LANDING_MS)
    painted(page)
    page.screenshot(path=FOLDER / f"{name}-{WIDTH}-light.png", animations="disabled")
    print(f"took {name}")


def photograph(browser: Any, url: str, name: str) -> None:
    """Take the picture `name` of the Watch view, after ACTS[name] has prepared the page."""
    height, act = ACTS[name]
    with tab(browser, height) as page:
        page.goto(on_watch(url))
        page.wait_for_selector(".sbd-tile")
        page.evaluate(SEEK, SHOWN_PART)
        act(page)
        shoot(page, name)


def photograph_home(browser: Any) -> None:
    """Take a picture of the Home view in the middle of a run, with SmolLM2 as the model."""
    models = models_of(None, "cpu")
    if models.first.name != REAL_MODEL:
        raise SystemExit("home: the real model's base is not here: python -m sbd_core fetch")
    with served(models) as found, tab(browser) as page:
        page.goto(found.url)
        page.wait_for_function(
            "(least) => Number(document.querySelector('.sbd-home-count b')?.textContent) >= least",
            arg=HOME_PASSES,
        )
        page.get_by_role("button", name="Pause").click()
        page.evaluate("document.activeElement?.blur()")
        page.mouse.move(0, 0)
        shoot(page, HOME)


def photograph_learn(browser: Any) -> None:
    """Take pictures of scenes of the exported lesson, with the answers to their questions shown."""
    with (
        tempfile.TemporaryDirectory() as held,
        tab(browser, reduced_motion="reduce") as page,
    ):
        lesson = Path(held) / "learn.html"
        lesson.write_text(lesson_html(), encoding="utf-8")
        for scene in SCENES:
            page.goto("about:blank")  # or only the hash would change
            page.goto(f"{lesson.as_uri()}#learn/{scene}")
            page.wait_for_selector(".sbd-learn-question")
            page.keyboard.press("ArrowRight")
            shoot(page, f"{LEARN}/{scene}")


def photograph_site(browser: Any) -> None:
    """Take a picture of the static site in the middle of a decode in the browser."""
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held) / "site"
        write_site(folder, [keep_export(sbd_core.DEFAULT_CHECKPOINT)])
        with serving(folder) as server, tab(browser) as page:
            page.goto(on_watch(address(server)))
            page.get_by_text("Decode runs in your browser").wait_for()
            page.evaluate(DECODE, SITE_PROMPT)
            page.evaluate(SEEK, SHOWN_PART)
            page.evaluate("window.scrollTo(0, 0)")
            shoot(page, STATIC_SITE)


OTHERS: dict[str, Callable[[Any], None]] = {
    HOME: photograph_home,
    STATIC_SITE: photograph_site,
    LEARN: photograph_learn,
}


def main() -> None:
    """Run the command."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.take_pictures")
    every = [*OTHERS, *ACTS]
    parser.add_argument("--only", choices=every, nargs="+", default=every)
    flags = parser.parse_args()
    model = sbd_core.load(device="cpu")
    choose_threads(model.num_parameters)
    with served(model) as found, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in flags.only:
            if name in ACTS:
                photograph(browser, found.url, name)
            else:
                OTHERS[name](browser)
        browser.close()


if __name__ == "__main__":
    main()
