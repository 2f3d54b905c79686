"""The race beside the Watch view: run by clicks and keys, shown by pass and by engine time."""

import re

import pytest

from tests.browser.conftest import HOSTILE_PROMPT, painted, sync_api, turn_to
from tests.browser.test_access import serious
from tests.ui.doubles import ANSWER, MASK, story_model
from ui import recordings
from ui.decode.verdict import verdicts_of

pytestmark = pytest.mark.browser
expect = sync_api.expect

RACE = "document.querySelector('.sbd-race').sbdRace"
STATE = f"() => ({{ ...{RACE}.state, finish: {RACE}.finish }})"


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
    expect(story.locator(".sbd-race-lane")).to_have_count(4)
    button(story, "Finish (End)").click()
    expect(story.locator(".sbd-race-verdict .sbd-verdict")).to_have_count(4)
    num_right = sum(verdict["right"] for verdict in verdicts_of(recordings.race_traces()).values())
    expect(story.locator(".sbd-race-verdict .sbd-verdict.is-right")).to_have_count(num_right)
    story.get_by_role("button", name="Explain how the lanes were timed").focus()
    for words in (
        "A recorded run:",
        "each is a single timing",
        "compared by their time for a token",
    ):
        expect(story.locator(".sbd-race .sbd-term-note")).to_contain_text(words)
    story.locator(".sbd-race-table").get_by_role("button", name="Verify", exact=True).hover()
    expect(story.locator(".sbd-race .sbd-term-note")).to_contain_text(
        "checks guesses before they count"
    )
    heads = story.locator(".sbd-race-table thead th")
    expect(heads.nth(4)).to_have_text("Speed per token")
    expect(story.locator("#sbd-player")).to_be_hidden()
    expect(story.get_by_label("Strategy")).to_be_hidden()
    expect(story.get_by_label("Prompt")).to_have_value("mine")
    turn_to(story, "Watch")
    expect(story.locator("#sbd-race")).to_be_hidden()
    expect(story.locator(".sbd-tile").first).to_be_visible()
    expect(story.get_by_label("Prompt")).to_have_value("mine")


def test_a_chip_gives_the_race_its_prompt_and_a_ticked_lane_is_said_to_be_missing(story):
    enter(story)
    stale = story.locator(".sbd-race-card .sbd-stale")
    old = story.get_by_label("Prompt").input_value()
    story.get_by_label("Verify, predrafting").check()
    expect(stale).to_contain_text("the lane “Verify, predrafting” too")
    story.get_by_role("button", name=re.compile("^JSON")).click()
    expect(stale).to_contain_text("another prompt")
    expect(story.get_by_label("Prompt")).not_to_have_value(old)
    expect(story.locator("#sbd-race")).to_be_visible()
    expect(story.locator(".sbd-status-line")).to_be_empty()


def test_the_table_fills_in_as_lanes_finish_and_says_what_differs(open_page, serve):
    raced = open_page(serve(hasty_model()))
    enter(raced)
    run(raced)
    seek(raced, 0)
    expect(cells(raced, "verify").first).to_have_text("…")
    finish = raced.evaluate(f"() => {RACE}.finish")
    seek(raced, finish - 1)  # next-token prediction, the longest, is not home
    expect(cells(raced, "verify").first).not_to_have_text("…")
    for column in (3, 4):
        expect(cells(raced, "verify").nth(column)).to_have_text("…")
    button(raced, "Finish (End)").click()
    expect(cells(raced, "ntp").last).to_have_text("the measure")
    expect(cells(raced, "verify").last).to_have_text("identical, as promised")
    expect(cells(raced, "verify").nth(3)).to_have_text(re.compile(r"faster|slower|as fast"))
    assert ANSWER.split("\n")[0] in raced.locator(".sbd-race-verify .sbd-race-text").inner_text()
    marked = raced.locator(".sbd-race-sbd-high mark").count()
    assert marked > 0
    expect(cells(raced, "sbd-high").last).to_contain_text(re.compile(rf"^{marked} tokens? of"))
    expect(raced.locator(".sbd-race-verify mark")).to_have_count(0)
    raced.get_by_role("button", name="Explain how the lanes were timed").focus()
    expect(raced.locator(".sbd-race .sbd-term-note")).to_contain_text("Drawing is not in the times")


def test_a_race_plays_to_its_end_and_the_keys_move_it(raced):
    raced.wait_for_function(f"!{RACE}.state.isPlaying && {RACE}.state.clock === {RACE}.finish")
    go(raced).evaluate("(node) => node.blur()")
    raced.keyboard.press("Home")
    assert raced.evaluate(STATE)["clock"] == 0
    raced.keyboard.press("ArrowRight")
    raced.keyboard.press("ArrowRight")
    raced.keyboard.press("ArrowLeft")
    assert raced.evaluate(STATE)["clock"] == 1
    raced.keyboard.press(" ")
    assert raced.evaluate(STATE)["isPlaying"]
    raced.keyboard.press(" ")
    raced.keyboard.press("End")
    assert raced.evaluate(STATE)["clock"] == raced.evaluate(STATE)["finish"]
    raced.keyboard.press("l")
    expect(raced.locator(".sbd-race-form")).to_be_hidden()
    raced.keyboard.press("Escape")
    expect(raced.locator(".sbd-race-form")).to_be_visible()


def test_errors_are_said_and_lose_nothing(raced):
    raced.get_by_label("Prompt").fill(" ")
    go(raced).click()
    expect(raced.get_by_role("alert")).to_have_text("Prompt must not be empty.")
    expect(raced.locator(".sbd-race-name")).to_have_text(TITLES)
    raced.get_by_label("Prompt").fill("p")
    raced.get_by_label("γ of SBD, γ").fill("-1")
    go(raced).click()
    expect(raced.get_by_role("alert")).to_have_text("γ must be a finite number >= 0; got -1.")
    for box in raced.locator(".sbd-race-choice input[type=checkbox]").all():
        box.uncheck()
    go(raced).click()
    expect(raced.get_by_role("alert")).to_contain_text("The race must have one lane or more")
    expect(go(raced)).to_be_enabled()


def test_hostile_text_stays_text(open_page, hostile_url):
    page = open_page(hostile_url)
    enter(page)
    page.get_by_label("Prompt").fill(HOSTILE_PROMPT)
    run(page)
    button(page, "Finish (End)").click()
    expect(page.locator(".sbd-race-prompt")).to_have_text(HOSTILE_PROMPT)
    expect(page.locator(".sbd-race-text script, .sbd-race-text img")).to_have_count(0)
    expect(page.locator(".sbd-race-ntp .sbd-race-text")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None


def test_a_phone_needs_no_sideways_scrolling_and_axe_finds_nothing_serious(open_page, story_url):
    page = open_page(story_url, 390, 844, color_scheme="dark", reduced_motion="reduce")
    enter(page)
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []


def test_a_changed_example_ends_the_play_of_the_old_race_and_greys_it(story):
    enter(story)
    assert story.evaluate(STATE)["isPlaying"]
    lane = story.locator(".sbd-race-lane").first
    expect(lane).to_have_css("filter", "none")
    story.get_by_role("button", name=re.compile("^JSON")).click()
    story.wait_for_function(f"!{RACE}.state.isPlaying")
    expect(story.locator(".sbd-race .sbd-stale")).to_contain_text("another prompt")
    expect(lane).to_have_css("filter", "grayscale(1)")
    turn_to(story, "Watch")
    turn_to(story, "Race")
    assert not story.evaluate(STATE)["isPlaying"]
    run(story)
    expect(lane).to_have_css("filter", "none")


def test_the_keys_step_through_passes_and_lanes_and_say_where_one_pins(raced):
    raced.evaluate("document.activeElement?.blur()")
    seek(raced, 2)
    raced.keyboard.press("ArrowRight")
    expect(raced.locator(".sbd-race-clock")).to_have_text(re.compile("^forward pass 3 of"))
    raced.keyboard.press("ArrowDown")
    raced.keyboard.press("ArrowDown")
    expect(raced.locator(".sbd-race-sbd-low .sbd-race-text")).to_be_focused()
    raced.keyboard.press("ArrowUp")
    expect(raced.locator(".sbd-race-ntp .sbd-race-text")).to_be_focused()
    for key in ("p", "b"):
        raced.keyboard.press(key)
        expect(raced.get_by_text("Pin and branch work on one run at a time")).to_be_visible()
    raced.keyboard.press("?")
    expect(raced.locator(".sbd-race .sbd-help")).to_contain_text("move between lanes")


AHEAD = "Verify, 4 predrafts, threshold 0.3"


def test_the_lane_that_drafts_ahead_races_when_its_box_is_checked(story):
    enter(story)
    story.get_by_label("Verify, predrafting").check()
    story.get_by_label("γ of SBD, another γ").fill("50")
    go(story).click()
    expect(story.locator(".sbd-race-name")).to_have_text([*TITLES, AHEAD])
    button(story, "Finish (End)").click()
    expect(cells(story, "verify-predraft").last).to_have_text("identical, as promised")
    assert "verify-predraft" in story.url


TITLES = ["Next-token prediction", "SBD, γ 0.1", "SBD, γ 50", "Verify"]


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def go(page):
    return page.locator(".sbd-race-go")


def enter(page):
    """Turn to the race."""
    turn_to(page, "Race")
    expect(page.locator(".sbd-race-form")).to_be_visible()


def run(page):
    """Race all lanes, gammas 0.1 and 50, and wait for the board."""
    page.get_by_label("γ of SBD, another γ").fill("50")
    go(page).click()
    expect(page.locator(".sbd-race-name")).to_have_text(TITLES)
    expect(go(page)).to_be_enabled()


def seek(page, clock: int):
    page.evaluate(f"(clock) => {RACE}.seek(clock, true)", clock)
    painted(page)


def cells(page, lane: str):
    return page.locator(f".sbd-race-table .sbd-race-{lane} td")


@pytest.fixture
def raced(story):
    enter(story)
    run(story)
    return story
