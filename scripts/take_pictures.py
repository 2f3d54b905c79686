"""Photograph the page: python -m scripts.take_pictures [--only NAME ...]

Writes assets/pictures/NAME.png. Uses the bundled checkpoint if it is there, else a scripted
model; what is seen is the recorded opening run, so that only the pictures of a run in progress
and of a race change by themselves.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sbd_core
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from tests.browser.conftest import (
    CHROMIUM,
    FLAGS,
    advanced,
    begin,
    decode,
    go_to,
    has_begun,
    painted,
    returning,
    slowed,
)
from tests.ui.doubles import story_model
from ui import page as page_module
from ui.components.assets import ASSETS
from ui.gallery import recorded

FOLDER = ASSETS / "pictures"
SHOWN_PART = 0.35
SCROLL_MS = 1_000
RUNNING_PASSES = 5
SECONDS_A_PASS = 0.2  # while a run is photographed; else it is over too soon
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
CHARTS_ARE_DRAWN = """() => !('isOld' in document.querySelector('.sbd-charts').dataset)
  && [...document.querySelectorAll('.sbd-chart-stage')].every((stage) => {
    const { top, bottom } = stage.getBoundingClientRect();
    return bottom < 0 || top > innerHeight || stage.querySelector('.main-svg');
  })"""


def as_it_is(page: Any) -> None:
    """Nothing more."""


def in_lecture(page: Any) -> None:
    """The stage alone, large."""
    page.keyboard.press("l")


def with_inspector(page: Any) -> None:
    """A position that this forward pass revealed, held."""
    page.locator(".sbd-tile.is-new").last.click()
    page.mouse.move(0, 0)


def with_dragged_budget(page: Any) -> None:
    """Gamma dragged to the right: what it would reveal is lit."""
    box = page.locator(".sbd-budget-track").bounding_box()
    grip = page.locator(".sbd-gamma-grip").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.55, middle, steps=8)
    page.mouse.up()
    page.mouse.move(0, 0)


def with_help(page: Any) -> None:
    """The help sheet."""
    page.keyboard.press("?")


def in_race(page: Any) -> None:
    """All lanes of a race that was just run, some of them home."""
    page.get_by_role("button", name="Word problem").click()
    page.locator(".sbd-view", has_text="Race").click()
    page.locator(".sbd-race-go").click()
    # The recorded race of another prompt is on show until all lanes of this one are home.
    prompt = page.get_by_label("Prompt").input_value()
    page.wait_for_function(f"(prompt) => {RACE}.board?.prompt === prompt", arg=prompt)
    page.evaluate(f"{RACE}.seek(Math.round({RACE}.finish * 0.22), true)")
    page.evaluate("document.activeElement?.blur()")
    page.locator(".sbd-race-card").evaluate("(card) => innerWidth < 640 && card.scrollIntoView()")


def with_charts(page: Any) -> None:
    """The charts open and drawn, in view."""
    page.get_by_role("button", name="Charts", exact=True).click()
    page.locator(".sbd-charts").evaluate("node => node.scrollIntoView()")
    page.wait_for_function(CHARTS_ARE_DRAWN)


def under_the_hood(page: Any) -> None:
    """The panel open at a forward pass in which a finished block rides along."""
    page.evaluate(TO_RIDING)
    page.get_by_role("button", name="Under the hood").click()
    page.wait_for_selector(".sbd-hood-table")
    page.wait_for_timeout(SCROLL_MS)
    page.locator(".sbd-hood").evaluate("node => node.scrollIntoView()")


def at_speed_limits(page: Any) -> None:
    """The calculator, its first figures drawn."""
    page.locator(".sbd-view", has_text="Speed limits").click()
    page.wait_for_selector(".sbd-limits-facts strong")
    page.wait_for_selector(".sbd-limits .js-plotly-plot .main-svg")
    page.wait_for_timeout(SCROLL_MS)


def with_staircases(page: Any) -> None:
    """One prompt under four solvers, decoded and side by side."""
    page.get_by_role("button", name="Compare solvers").click()
    page.get_by_role("button", name="Decode all").click()
    page.wait_for_selector(".sbd-solver-comparison-stairs")
    page.locator(".sbd-solver-comparison").evaluate(
        "node => node.scrollIntoView({ block: 'center' })"
    )


def with_recording(page: Any, name: str, part: float) -> None:
    """A run of the gallery, standing at a part of it."""
    old = page.evaluate(f"{PLAYER}.run.id")
    place = [item.name for item in recorded.gallery()].index(name)
    page.locator(".sbd-gallery-card").nth(place).click()
    page.wait_for_function(f"(old) => {PLAYER}.run.id !== old", arg=old)
    page.evaluate(SEEK, part)


def with_cost(page: Any) -> None:
    """What parallelism cost, of the recorded story with two names mixed up."""
    with_recording(page, "names-mixed-up", 1)
    with_charts(page)
    to_chart(page, "What parallelism cost")


def with_solvers(page: Any) -> None:
    """Every solver on held-out examples."""
    with_charts(page)
    to_chart(page, "Every solver")


def to_chart(page: Any, title: str) -> None:
    """Bring the chart of this title into the middle, drawn."""
    chart = page.locator(".sbd-chart").filter(has_text=title).last
    chart.evaluate("node => node.scrollIntoView({ block: 'center' })")
    page.wait_for_function(CHARTS_ARE_DRAWN)


def with_sudoku(page: Any) -> None:
    """A recorded sudoku on its way: some cells filled, the givens marked."""
    with_recording(page, "sudoku-1", 0.34)
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


def with_share(page: Any) -> None:
    """The sheet to take a run home."""
    page.keyboard.press("s")


def mid_run(page: Any) -> None:
    """A live decode with forward passes still to come."""
    old = page.evaluate(f"{PLAYER}.run.id")
    page.locator(".sbd-chip", has_text="Story").click()
    has_begun(page, old)
    begin(page)
    page.wait_for_function(f"{PLAYER}.state.pass >= {RUNNING_PASSES} || {PLAYER}.run.isComplete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: the window in CSS pixels, and what is done on the page before."""

    width: int = 1440
    height: int = 900
    scheme: str = "light"
    act: Callable[[Any], None] = as_it_is
    is_live: bool = False


SHOTS = {
    "watch-1440-light": Shot(),
    "watch-1440-dark": Shot(scheme="dark"),
    "watch-1920-light": Shot(width=1920, height=1080),
    "watch-390-light": Shot(width=390, height=844),
    "watch-390-dark": Shot(width=390, height=844, scheme="dark"),
    "lecture-1920-light": Shot(width=1920, height=1080, act=in_lecture),
    "lecture-1920-dark": Shot(width=1920, height=1080, scheme="dark", act=in_lecture),
    "inspector-1440-dark": Shot(scheme="dark", act=with_inspector),
    "inspector-390-light": Shot(width=390, height=844, act=with_inspector),
    "budget-1440-light": Shot(act=with_dragged_budget),
    "help-1440-light": Shot(act=with_help),
    "race-1440-light": Shot(height=1080, act=in_race),
    "race-390-dark": Shot(width=390, height=844, scheme="dark", act=in_race),
    "hood-1440-light": Shot(act=under_the_hood),
    "hood-1440-dark": Shot(scheme="dark", act=under_the_hood),
    "hood-1920-light": Shot(width=1920, height=1080, act=under_the_hood),
    "hood-390-light": Shot(width=390, height=844, act=under_the_hood),
    "staircases-1440-light": Shot(act=with_staircases),
    "staircases-390-dark": Shot(width=390, height=844, scheme="dark", act=with_staircases),
    "limits-1440-light": Shot(act=at_speed_limits),
    "limits-1440-dark": Shot(scheme="dark", act=at_speed_limits),
    "limits-1920-light": Shot(width=1920, height=1080, act=at_speed_limits),
    "limits-390-light": Shot(width=390, height=844, act=at_speed_limits),
    "charts-1440-light": Shot(act=with_charts),
    "charts-1440-dark": Shot(scheme="dark", act=with_charts),
    "cost-1440-light": Shot(act=with_cost),
    "solvers-1440-light": Shot(act=with_solvers),
    "sudoku-1440-light": Shot(act=with_sudoku),
    "blanks-1440-light": Shot(height=1080, act=with_blanks),
    "branches-1440-light": Shot(act=with_branches),
    "share-1440-light": Shot(act=with_share),
    "run-1440-light": Shot(act=mid_run, is_live=True),
}


def model() -> SetBlockModel:
    """The bundled checkpoint, or a double with its name."""
    if (sbd_core.DEFAULT_CHECKPOINT / "config.json").exists():
        return sbd_core.load(device="cpu")
    return story_model(name="sbd-nano")


def photograph(browser: Any, url: str, shot: Shot, path: Path) -> None:
    """One picture of the page in a tab of its own."""
    size = {"width": shot.width, "height": shot.height}
    with browser.new_context(viewport=size, has_touch=shot.width < 640) as context:
        page = returning(context).new_page()
        page.emulate_media(color_scheme=shot.scheme)
        page.goto(url)
        page.wait_for_selector(".sbd-tile")
        page.evaluate(SEEK, SHOWN_PART)
        shot.act(page)
        painted(page)
        page.screenshot(path=path, animations="disabled")
        if shot.is_live and page.evaluate(f"{PLAYER}.run.main.finish") is not None:
            raise SystemExit(f"{path.stem}: the run was over before the picture was taken")


def main() -> None:
    """Serve, visit in every size and scheme, photograph."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.take_pictures")
    parser.add_argument("--only", choices=SHOTS, nargs="+", default=list(SHOTS))
    names = parser.parse_args().only
    FOLDER.mkdir(exist_ok=True)
    shown = model()
    choose_threads(shown.num_parameters)
    demo = page_module.build(shown)
    options = page_module.launch_options()
    _, url, _ = demo.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", quiet=True, **options
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names:
            path = FOLDER / f"{name}.png"
            if SHOTS[name].is_live:
                slowed(shown, SECONDS_A_PASS)
            photograph(browser, url, SHOTS[name], path)
            print(f"wrote {path.name}, {path.stat().st_size / 1000:.0f} kB")
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
