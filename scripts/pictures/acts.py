"""What is done on the page before a picture of it is taken."""

from typing import Any

from tests.browser.conftest import (
    advanced,
    begin,
    choose_strategy,
    decode,
    go_to,
    has_begun,
)
from ui.gallery import recorded

SCROLL_MS = 1_000
LANDING_MS = 1_000
"""By then what a forward pass reveals has landed."""
RUNNING_PASSES = 5
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
    choose_strategy(page, "Set Block Decoding")
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
