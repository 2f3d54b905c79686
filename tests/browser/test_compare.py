"""Compare: lanes run by clicks and keys, shown as they are decoded, by pass and by time."""

import csv
import json
import re

import pytest

from sbd_core.models.model_folder import REAL_MODEL
from tests.browser.conftest import (
    MOST_SHIFT,
    SHIFTS,
    painted,
    sync_api,
    turn_to,
)
from tests.browser.test_access import serious
from tests.ui.doubles import ANSWER, MASK, story_model
from ui import examples
from ui.decode.verdict import verdicts_of
from ui.examples import BUNDLED_MODEL
from ui.models import LazyModel, Models

pytestmark = pytest.mark.browser
expect = sync_api.expect

VIEW = "document.querySelector('.sbd-compare').sbdCompare"
LANES = f"{VIEW}.history.run"
CLOCK = f"{VIEW}.clock"
STATE = f"() => ({{ clock: {CLOCK}.value, isPlaying: {CLOCK}.isPlaying, finish: {CLOCK}.finish }})"


def hasty_model():
    """It is wrong about the end of a block of which it knows nothing yet."""
    model = story_model()
    block_logits = model.block_logits

    def hasty_logits(tokens, block):
        rows = block_logits(tokens, block)
        if set(block) == {MASK}:
            rows[-1][-1] = max(rows[-1]) + 1
        return rows

    model.block_logits = hasty_logits
    return model


def test_the_view_opens_on_the_recorded_run_and_leaves_watch_as_it_was(story):
    story.get_by_label("Prompt").fill("mine")
    enter(story)
    expect(story.locator(".sbd-compare-lane")).to_have_count(4)
    button(story, "Finish (End)").click()
    expect(story.locator(".sbd-compare-verdict .sbd-verdict")).to_have_count(4)
    lanes = verdicts_of(examples.compared_traces())
    num_right = sum(verdict["right"] for verdict in lanes.values())
    right = story.locator(".sbd-compare-verdict .sbd-verdict.is-right")
    expect(right).to_have_count(num_right)
    story.get_by_role("button", name="Explain the times").focus()
    for words in ("A recorded run", "timed once", "compared by the token"):
        expect(story.locator(".sbd-compare .sbd-term-note")).to_contain_text(words)
    button(story, "Exact (verify)").hover()
    expect(story.locator(".sbd-compare .sbd-term-note")).to_contain_text(
        "checks guesses before they count"
    )
    expect(story.locator("#sbd-player")).to_be_hidden()
    expect(story.get_by_label("Strategy")).to_be_hidden()
    expect(story.get_by_label("Prompt")).to_have_value("mine")
    turn_to(story, "Watch")
    expect(story.locator("#sbd-compare")).to_be_hidden()
    expect(story.locator(".sbd-tile").first).to_be_visible()
    expect(story.get_by_label("Prompt")).to_have_value("mine")


def test_the_table_fills_in_as_lanes_finish_and_says_what_differs(open_page, serve):
    page = open_page(serve(hasty_model()))
    enter(page)
    run(page)
    seek(page, 0)
    expect(cells(page, "verify").first).to_have_text("…")
    finish = page.evaluate(f"() => {CLOCK}.finish")
    seek(page, finish - 1)  # next-token prediction, the longest, is not home
    expect(cells(page, "verify").first).not_to_have_text("…")
    for column in (4, 5):
        expect(cells(page, "verify").nth(column)).to_have_text("…")
    button(page, "Finish (End)").click()
    expect(cells(page, "ntp").last).to_have_text("–")
    expect(cells(page, "verify").last).to_have_text("identical, as promised")
    expect(cells(page, "verify").nth(4)).to_have_text("timed once")
    button(page, "run each 5 more times").click()
    expect(button(page, "run each 5 more times")).to_be_enabled()
    expect(cells(page, "verify").nth(4)).to_have_text(re.compile(r"faster|slower|as fast"))
    expect(cells(page, "verify").nth(3)).to_contain_text(" to ")
    for kind, read in (("JSON", lambda text: json.loads(text)["rows"]),
                       ("CSV", lambda text: [*csv.DictReader(text.splitlines())])):  # fmt: skip
        with page.expect_download() as saved:
            button(page, f"Save as {kind}").click()
        rows = {row["lane"]: row for row in read(saved.value.path().read_text("utf-8"))}
        assert rows.keys() == {"ntp", "sbd:0.1", "sbd:50", "verify"}, kind
        assert int(rows["verify"]["num_timings"]) == 6
        shown = cells(page, "verify").first.inner_text()
        assert str(rows["verify"]["forward_passes"]) == shown
    assert ANSWER.split("\n")[0] in lane(page, "verify").locator(".sbd-compare-text").inner_text()
    marked = lane(page, "sbd:50").locator(".is-other").count()
    assert marked > 0
    said = re.findall(r"(\d+) (?:differs?|added)", cells(page, "sbd:50").last.inner_text())
    assert sum(map(int, said)) == marked
    expect(lane(page, "verify").locator(".is-other")).to_have_count(0)
    page.get_by_role("button", name="Explain the times").focus()
    expect(page.locator(".sbd-compare .sbd-term-note")).to_contain_text("without drawing")


def test_lanes_show_the_new_prompt_at_once_and_nothing_moves_while_they_run(open_page, slow_url):
    page = open_page(slow_url, reduced_motion="reduce")
    enter(page)
    page.get_by_label("Prompt").fill("another one")
    expect(page.locator(".sbd-compare-card .sbd-stale")).to_be_visible()
    page.evaluate(SHIFTS)
    go(page).click()
    expect(page.locator(".sbd-compare-prompt")).to_have_text("another one")
    expect(page.locator(".sbd-compare-card .sbd-stale")).to_be_hidden()
    page.wait_for_function(f"[...{LANES}.lanes.values()].every((lane) => lane.steps.length > 3)")
    expect(lane(page, "verify").locator("b").first).to_have_text(re.compile("[1-9]"))
    assert not page.evaluate(f"{LANES}.isComplete")
    page.locator(".sbd-compare-stop").click()
    expect(go(page)).to_be_enabled()
    painted(page)
    assert sum(page.evaluate("window.shifts")) <= MOST_SHIFT
    expect(lane(page, "ntp").locator(".sbd-compare-cut")).to_have_text("stopped")


def test_what_stands_over_the_lanes_keeps_its_room_on_a_phone(open_page, slow_url):
    page = open_page(slow_url, 390, 844, reduced_motion="reduce")
    enter(page)
    page.get_by_label("Prompt").fill("short")
    expect(page.locator(".sbd-compare-card .sbd-stale")).to_be_visible()
    heights = [page.locator(".sbd-compare-head").bounding_box()["height"]]
    go(page).click()
    expect(page.locator(".sbd-compare-prompt")).to_have_text("short")
    heights.append(page.locator(".sbd-compare-head").bounding_box()["height"])
    assert heights[0] == heights[1]


def test_all_staircases_stand_on_one_scale(compared):
    extent = compared.evaluate(f"{VIEW}.extent")
    steps = compared.evaluate(f"{VIEW}.lanes.map((card) => card.lane.steps.length)")
    assert extent["passes"] == max(steps) > min(steps)
    labels = compared.locator(".sbd-compare-stairs").evaluate_all(
        "all => all.map(n => n.ariaLabel)"
    )
    assert [label.split()[-2] for label in labels] == [str(count) for count in steps]
    for stairs, label in zip(compared.locator(".sbd-compare-stairs").all(), labels, strict=True):
        ahead, shown = stairs.locator("path:not(.is-even)").all()
        cells = "".join(path.get_attribute("d") or "" for path in (ahead, shown))
        assert cells.count("M") == int(label.split()[1]) > 20
        assert shown.evaluate("(path) => getComputedStyle(path).stroke") != "none"
        box = shown.evaluate("(path) => path.getBBox()['height']")
        assert box > 0


def test_a_preset_compares_solvers_and_their_chart_marks_the_runs(open_page, measured_url):
    page = open_page(measured_url, 390, 844, color_scheme="dark", reduced_motion="reduce")
    enter(page)
    chip = page.get_by_role("button", name="Solvers", exact=True)
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Way 2", exact=True).select_option("top-k")
    page.get_by_label("k of way 2").fill("3")
    expect(chip).to_have_attribute("aria-pressed", "false")
    page.get_by_label("Prompt").fill("p")
    go(page).click()
    titles = ["Top-k, k 3", "Entropy bound from the left, γ 0.35", "Confidence threshold, τ 0.9"]
    expect(page.locator(".sbd-compare-name")).to_have_text(["Next-token prediction", *titles])
    expect(go(page)).to_be_enabled()
    expect(cells(page, "top-k:3").nth(4)).to_have_text("timed once")
    page.locator("#sbd-charts").get_by_role("button", name="Charts").click()
    expect(page.locator(".sbd-chart:visible")).to_have_count(1)
    page.locator(".sbd-chart.is-solvers").scroll_into_view_if_needed()  # drawn where it is seen
    page.wait_for_function(MARKED, arg=4)
    assert serious(page, ".sbd-compare") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


MARKED = """count => document.querySelector('.sbd-chart.is-solvers .js-plotly-plot')
  ?.data?.find((line) => line.name === 'your runs')?.x.length === count"""


def test_errors_are_said_and_lose_nothing(compared):
    compared.get_by_label("Prompt").fill(" ")
    note = compared.locator(".sbd-compare-card .sbd-stale")
    expect(note).to_contain_text("the form asks for another prompt")
    go(compared).click()
    expect(compared.get_by_role("alert")).to_have_text("Prompt must not be empty.")
    expect(compared.locator(".sbd-compare-name")).to_have_text(TITLES)
    compared.get_by_label("Prompt").fill("p")
    expect(compared.locator(".sbd-compare-news")).to_be_empty()
    for place in (1, 2, 3, 4):
        compared.get_by_label(f"Way {place}", exact=True).select_option("")
    expect(note).to_contain_text("other ways to decode")
    go(compared).click()
    expect(compared.get_by_role("alert")).to_have_text("Ways to decode must be 1 to 4; choose one.")
    expect(go(compared)).to_be_enabled()


def test_what_is_asked_for_now_ends_the_play_of_the_old_lanes_and_greys_them(story):
    enter(story)
    assert story.evaluate(STATE)["isPlaying"]
    lane, stale = story.locator(".sbd-compare-lane").first, story.locator(".sbd-compare .sbd-stale")
    expect(lane).to_have_css("filter", "none")
    story.get_by_label("Way 1", exact=True).select_option("random")
    story.wait_for_function(f"!{CLOCK}.isPlaying")
    expect(stale).to_contain_text("other ways to decode")
    story.get_by_label("Way 1", exact=True).select_option("ntp")
    story.get_by_role("button", name=re.compile("^JSON")).click()
    expect(stale).to_contain_text("another prompt")
    expect(story.locator(".sbd-status-line")).to_be_empty()
    expect(lane).to_have_css("filter", "grayscale(1)")
    turn_to(story, "Watch")
    turn_to(story, "Compare")
    assert not story.evaluate(STATE)["isPlaying"]
    run(story)
    expect(lane).to_have_css("filter", "none")


def test_the_lanes_stand_at_their_end_and_the_keys_move_them(compared):
    compared.wait_for_function(f"!{CLOCK}.isPlaying && {CLOCK}.value === {CLOCK}.finish")
    compared.evaluate("document.activeElement?.blur()")
    for key, clock in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        compared.keyboard.press(key)
        assert compared.evaluate(STATE)["clock"] == clock
    expect(compared.locator(".sbd-compare-clock")).to_have_text(re.compile("^forward pass 1 of"))
    compared.keyboard.press(" ")
    assert compared.evaluate(STATE)["isPlaying"]
    compared.keyboard.press("End")
    assert compared.evaluate(STATE)["clock"] == compared.evaluate(STATE)["finish"]
    for key, is_shown in (("l", False), ("Escape", True)):
        compared.keyboard.press(key)
        expect(compared.locator(".sbd-compare-form")).to_be_visible(visible=is_shown)
    compared.keyboard.press("ArrowDown")
    compared.keyboard.press("ArrowDown")
    expect(lane(compared, "sbd:0.1").locator(".sbd-compare-text")).to_be_focused()
    compared.keyboard.press("ArrowUp")
    expect(lane(compared, "ntp").locator(".sbd-compare-text")).to_be_focused()
    compared.keyboard.press("?")
    expect(compared.locator(".sbd-compare .sbd-help[open]")).to_contain_text("move between answers")


SBD = "Set Block Decoding, γ"
TITLES = ["Next-token prediction", f"{SBD} 0.1", f"{SBD} 50", "Exact (verify)"]


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def go(page):
    return page.locator(".sbd-compare-go")


def enter(page):
    """Turn to Compare."""
    turn_to(page, "Compare")
    expect(page.locator(".sbd-compare-form")).to_be_visible()


def run(page):
    """Run all lanes, gammas 0.1 and 50, to their end."""
    page.get_by_label("γ of way 3").fill("50")
    go(page).click()
    expect(page.locator(".sbd-compare-name")).to_have_text(TITLES)
    expect(go(page)).to_be_enabled()


def seek(page, clock: int):
    page.evaluate(f"(clock) => {VIEW}.actions.seek(clock)", clock)
    painted(page)


def lane(page, name: str):
    return page.locator(f".sbd-compare-lane[data-lane='{name}']")


def cells(page, name: str):
    return page.locator(f".sbd-compare-table [data-lane='{name}'] td")


@pytest.fixture
def compared(story):
    enter(story)
    run(story)
    return story


def test_each_model_has_the_lanes_that_mean_something_on_it(serve, open_page) -> None:
    nano, real = (story_model(name=name) for name in (BUNDLED_MODEL, REAL_MODEL))
    offers = [LazyModel.of(nano), LazyModel.of(real, title="Real")]
    page = open_page(serve(Models(offers)))
    enter(page)
    places = [page.get_by_label(f"Way {place}", exact=True) for place in (1, 2, 3, 4)]
    for place, kind in zip(places, ("ntp", "sbd", "sbd", "verify"), strict=True):
        expect(place).to_have_value(kind)
    page.get_by_role("radio", name="Real").check()
    turn_to(page, "Watch")
    enter(page)
    for place, kind in zip(places, ("ntp", "verify", "", ""), strict=True):
        expect(place).to_have_value(kind)
    warning = page.locator(".sbd-compare-warning")
    expect(warning).to_be_empty()
    places[3].select_option("sbd")
    expect(warning).to_contain_text("learned to draft")
    turn_to(page, "Watch")
    page.get_by_role("radio", name=BUNDLED_MODEL).check()
    enter(page)
    expect(places[3]).to_have_value("sbd")  # chosen by hand


CUT = """(selects) => {
  const context = document.createElement("canvas").getContext("2d");
  return selects.flatMap((select) => {
    const { font, paddingLeft, paddingRight } = getComputedStyle(select);
    context.font = font;
    const arrow = 18;
    const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
    const { text } = select.selectedOptions[0];
    return context.measureText(text).width > room ? [text] : [];
  });
}"""


def test_no_way_to_decode_is_cut_in_its_list(open_page, story_url):
    page = open_page(f"{story_url}#compare")
    kinds = ("verify", "sbd", "entropy-bound-by-confidence", "entropy-bound-from-left")
    for place, kind in enumerate(kinds, 1):
        page.get_by_label(f"Way {place}", exact=True).select_option(kind)
    for width in (390, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".sbd-compare-choice select").evaluate_all(CUT) == [], width
