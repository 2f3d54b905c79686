"""Photograph the page for the documents: python -m scripts.take_pictures [--only NAME ...]

Writes assets/pictures/NAME-1440-light.png. What is seen is the recorded opening run of the bundled
checkpoint, but for the race and the pictures of a decode. --out, --width and --scheme take others
to look at.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sbd_core
from sbd_core.models.threads import choose_threads
from scripts.static_site import write_site
from tests.browser.conftest import (
    CHROMIUM,
    FLAGS,
    PAPER,
    advanced,
    choose_strategy,
    decode,
    go_to,
    on_watch,
    painted,
    turn_to,
)
from tests.browser.site.conftest import DECODE, address, serving
from ui import page as page_module
from ui.components.assets import ASSETS
from ui.gallery import recorded
from ui.learn import export

FOLDER = ASSETS / "pictures"
SHOWN_PART = 0.35
LEARN, STATIC_SITE = "learn", "static-site"
SCENES = ("the-bound", "the-cache")
"""Of the Learn view, those that the documents show."""
SITE_PROMPT = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
SCROLL_MS = 1_000
LANDING_MS = 1_000
"""By then what a forward pass reveals has landed."""
BLANKS_PROMPT = (
    "Mina and Hilda had 4 points in a game and dropped 2 points. They won 3 rounds of 8 points "
    "each. A lucky card made the score 2 times as large. In the afternoon, Bianca took 6 points "
    "from them. How many points did they have now?"
)
BLANKS = "4 - 2 =___2\n3 * 8 =___3\n___ + 24 =___3\n26 * 2 =___3\n52 - 6 =___3\nThe answer is___3."
PLAYER = "document.querySelector('.sbd-host').sbdPlayer"
RACE = "document.querySelector('.sbd-race').sbdRace"
SEEK = """(part) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.seek(0, true);  // a jump stands still at once, a step lands
  player.seek(Math.round(player.run.main.lastPass * part), true);
  document.activeElement?.blur();
}"""
# The pass next to a part of the run at whose end a position of the answer is masked and in doubt.
DOUBT = """(part) => {
  const { main } = document.querySelector('.sbd-host').sbdPlayer.run;
  const places = main.steps.flatMap((step, pass) => [...step.masked.values()]
    .filter(({ position, top }) => top.length > 1 && position < main.end
      && !main.fixedAt(position, pass))
    .map(({ position }) => ({ pass, position, distance: Math.abs(pass / main.lastPass - part) })));
  return places.sort((a, b) => a.distance - b.distance)[0] ?? null;
}"""
TO_RIDING = f"""() => {{
  const isRiding = ({{ kind, causal }}) => kind !== 'prefill' && causal;
  {PLAYER}.seek(Math.max({PLAYER}.run.main.steps.findIndex(isRiding), 0), true);
}}"""


def as_it_is(page: Any) -> None:
    """Nothing more."""


def in_race(page: Any) -> None:
    """All lanes of a race that was just run, some of them home."""
    page.get_by_role("button", name="Word problem").click()
    turn_to(page, "Race")
    page.locator(".sbd-race-go").click()
    # The recorded race of another prompt is on show until all lanes of this one are home.
    prompt = page.get_by_label("Prompt").input_value()
    page.wait_for_function(f"(prompt) => {RACE}.board?.prompt === prompt", arg=prompt)
    page.evaluate(f"{RACE}.seek(Math.round({RACE}.finish * 0.22), true)")
    page.evaluate("document.activeElement?.blur()")
    page.locator(".sbd-race-card").evaluate("(card) => innerWidth < 640 && card.scrollIntoView()")


def under_the_hood(page: Any) -> None:
    """The panel open at a forward pass in which a finished block rides along."""
    page.evaluate(TO_RIDING)
    page.get_by_role("button", name="Under the hood").click()
    page.wait_for_selector(".sbd-hood-table")
    page.wait_for_timeout(SCROLL_MS)
    page.locator(".sbd-hood").evaluate("node => node.scrollIntoView()")


def with_recording(page: Any, name: str, part: float) -> None:
    """A run of the gallery, standing at a part of it."""
    old = page.evaluate(f"{PLAYER}.run.id")
    place = [item.name for item in recorded.gallery()].index(name)
    page.locator(".sbd-gallery-card").nth(place).click()
    page.wait_for_function(f"(old) => {PLAYER}.run.id !== old", arg=old)
    page.evaluate(SEEK, part)


def with_sudoku(page: Any) -> None:
    """A recorded sudoku on its way: some cells filled, the givens marked."""
    with_recording(page, "sudoku-1", 0.34)
    page.locator(".sbd-risk-now", has_text="γ").wait_for()
    page.evaluate("scrollTo(0, 0)")


def with_blanks(page: Any) -> None:
    """An answer with blanks, decoded across blocks, half way."""
    page.get_by_label("Prompt").fill(BLANKS_PROMPT)
    advanced(page)
    page.get_by_label("Answer with blanks").fill(BLANKS)
    decode(page)
    page.evaluate(SEEK, 0.5)


def with_branches(page: Any) -> None:
    """A decode, a pin in it, and a branch of that, its ending compared."""
    choose_strategy(page, PAPER)
    decode(page)
    for key, part in (("p", 0.3), ("b", 0.6)):
        place = page.evaluate(DOUBT, part)
        if place is None:
            continue
        go_to(page, place["pass"])
        page.locator(f'.sbd-tile[title^="Position {place["position"]}:"]').click()
        page.locator(".sbd-top-row").nth(1).click()
        old = page.evaluate(f"{PLAYER}.run.id")
        page.keyboard.press(key)
        page.wait_for_function(f"(old) => {PLAYER}.run.id !== old", arg=old)
        page.wait_for_function(f"{PLAYER}.run.isComplete")
    page.keyboard.press("Escape")
    page.evaluate(SEEK, 1)
    page.locator(".sbd-tree").evaluate("node => node.scrollIntoView({ block: 'center' })")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: the height of the window in CSS pixels, and what is done on the page before."""

    height: int = 900
    act: Callable[[Any], None] = as_it_is


SHOTS = {
    "watch": Shot(),
    "race": Shot(height=1080, act=in_race),
    "hood": Shot(act=under_the_hood),
    "sudoku": Shot(act=with_sudoku),
    "blanks": Shot(height=1080, act=with_blanks),
    "branches": Shot(act=with_branches),
}


def photograph(browser: Any, url: str, shot: Shot, path: Path, width: int, scheme: str) -> None:
    """One picture of the page in a tab of its own."""
    size = {"width": width, "height": shot.height}
    with browser.new_context(viewport=size, has_touch=width < 640) as context:
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.goto(on_watch(url))
        page.wait_for_selector(".sbd-tile")
        page.wait_for_selector("#sbd-strategy-field input", state="attached")
        page.evaluate(SEEK, SHOWN_PART)
        shot.act(page)
        page.wait_for_timeout(LANDING_MS)
        painted(page)
        page.screenshot(path=path, animations="disabled")


def photograph_learn(browser: Any, folder: Path, width: int, scheme: str) -> None:
    """Scenes of the exported lesson, their answers shown."""
    with tempfile.TemporaryDirectory() as held:
        lesson = Path(held) / "learn.html"
        lesson.write_text(export.page(), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for scene in SCENES:
            page.goto("about:blank")  # or only the hash would change
            page.goto(f"{lesson.as_uri()}#learn/{scene}")
            page.wait_for_selector(".sbd-learn-question")
            page.keyboard.press("ArrowRight")
            painted(page)
            path = folder / f"{scene}-{width}-{scheme}.png"
            page.screenshot(path=path, animations="disabled")
        page.close()


def photograph_site(browser: Any, path: Path, width: int, scheme: str) -> None:
    """The static site in the middle of a run that the browser decoded."""
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held) / "site"
        write_site(folder, sbd_core.DEFAULT_CHECKPOINT)
        with serving(folder) as server:
            context = browser.new_context(viewport={"width": width, "height": 900})
            page = context.new_page()
            page.emulate_media(color_scheme=scheme)
            page.goto(on_watch(address(server)))
            page.get_by_text("Decode runs in your browser").wait_for()
            page.evaluate(DECODE, SITE_PROMPT)
            page.evaluate(SEEK, SHOWN_PART)
            page.evaluate("window.scrollTo(0, 0)")
            page.wait_for_timeout(LANDING_MS)
            page.screenshot(path=path, animations="disabled")
            context.close()


def main() -> None:
    """Serve, visit, photograph."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.take_pictures")
    every = [*SHOTS, STATIC_SITE, LEARN]
    parser.add_argument("--only", choices=every, nargs="+", default=every)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder (assets/pictures)")
    parser.add_argument("--width", type=int, default=1440, help="of the window (1440)")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    flags = parser.parse_args()
    model = sbd_core.load(device="cpu")
    choose_threads(model.num_parameters)
    demo = page_module.build(model)
    options = page_module.launch_options()
    _, url, _ = demo.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", quiet=True, **options
    )
    (flags.out / LEARN).mkdir(parents=True, exist_ok=True)
    how = (flags.width, flags.scheme)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in flags.only:
            path = flags.out / f"{name}-{flags.width}-{flags.scheme}.png"
            if name == LEARN:
                photograph_learn(browser, flags.out / LEARN, *how)
            elif name == STATIC_SITE:
                photograph_site(browser, path, *how)
            else:
                photograph(browser, url, SHOTS[name], path, *how)
            print(f"took {name}")
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
