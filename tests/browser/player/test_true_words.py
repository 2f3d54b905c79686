"""The page's words are true of the moment shown: verdicts, hindsight, an answer's end, a sudoku."""

import re

import pytest

from sbd_core.run_lines import replay_lines
from tests.browser.conftest import decode, details, go_to, painted, push, recorded, sync_api
from tests.ui.doubles import story_model
from ui.examples import gallery_traces

pytestmark = pytest.mark.browser
expect = sync_api.expect

PLAYER = "document.querySelector('.sbd-host').sbdPlayer"


def test_hindsight_is_counted_in_the_lane_and_marked_in_the_text(replay):
    lanes = gallery_traces("name-garbled")
    push(replay, replay_lines("garbled", lanes))
    replay.get_by_role("button", name="Last forward pass").click()
    painted(replay)
    trace = lanes["sbd"]
    seen = [item for event in trace.events for item in event.hindsight]
    wanted = sorted(item.position for item in seen if item.argmax_id != item.token_id)
    toggle = replay.get_by_role("button", name=f"hindsight disagrees with {len(wanted)}")
    marked = replay.locator(".sbd-token.is-doubted")
    expect(marked).to_have_count(0)
    details(replay)
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    places = marked.evaluate_all("all => all.map((n) => Number(n.dataset.position))")
    assert sorted(places) == wanted
    assert wanted
    expect(marked.first).to_have_attribute("title", re.compile("would have said “"))
    replay.keyboard.press("Escape")
    go_to(replay, 1)
    details(replay)
    expect(replay.get_by_role("button", name=re.compile("^hindsight"))).to_be_disabled()
    expect(marked).to_have_count(0)


def test_the_inspector_holds_still_while_the_run_plays(replay):
    go_to(replay, 1)
    replay.mouse.move(0, 0)
    replay.evaluate(f"{PLAYER}.set({{ isPlaying: true, speed: 0.0001 }})")
    inspector, seen = replay.locator(".sbd-inspector"), set()
    for pass_index in range(1, 7):
        replay.evaluate(f"{PLAYER}.seek({pass_index}, false)")
        painted(replay)
        assert replay.evaluate(f"{PLAYER}.state.pass") == pass_index
        seen.add(inspector.inner_text())
    assert len(seen) == 1


def test_a_word_explains_itself_by_hover_key_and_tap(open_page, replay_url):
    page = open_page(replay_url, has_touch=True)
    go_to(page, 3)
    note = page.locator(".sbd-term-note")
    expect(note).to_be_hidden()
    page.locator(".sbd-budget .sbd-question").hover()
    expect(note).to_have_text(re.compile("the largest not counted, sum to at most γ"))
    page.locator(".sbd-tile").nth(3).click()
    page.mouse.move(1, 1)
    expect(note).to_be_hidden()
    page.locator(".sbd-inspector .sbd-term", has_text="Hindsight").focus()
    expect(note).to_have_text(re.compile("To differ is not to be wrong"))
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    page.locator(".sbd-inspector .sbd-legend .sbd-term", has_text="nats").tap()
    expect(note).to_be_visible()


def test_a_decode_is_judged_from_its_prompt_and_a_prompt_nothing_can_check_is_not(open_page, serve):
    page = open_page(serve(story_model(["The answer is 43."])))
    page.get_by_label("Prompt").fill("What is 12 + 30?")
    decode(page)
    page.get_by_label("Advance").select_option("pass")
    page.get_by_role("button", name="Last forward pass").click()
    chips = page.locator(".sbd-verdict-chip:visible")
    expect(chips).to_have_text(["✗ Wrong, identical", "✗ Wrong"])
    page.get_by_role("button", name="First forward pass").click()
    expect(chips).to_have_count(0)
    page.get_by_role("button", name="Last forward pass").click()
    chips.first.hover()
    reason = page.locator(".sbd-term-note:visible")
    expect(reason).to_contain_text("Wrong: the answer is 42, not 43.")
    expect(reason).to_contain_text("Token for token next-token prediction’s.")
    page.get_by_label("Prompt").fill("Say something.")
    decode(page)
    expect(chips).to_have_text(["Identical"])
    chips.focus()
    expect(reason).to_contain_text("Not judged: no check fits this prompt.")


SOLUTION = "1234341221434321"
PUZZLE = "1000041020400021"
SUDOKU = f"Solve this 4x4 sudoku: {PUZZLE}\n"  # the scripted model answers after its last sign


def cells(page):
    return page.locator(".sbd-sudoku-cell")


def test_givens_are_marked_and_a_right_answer_is_called_solved(replay):
    push(replay, recorded(story_model(SOLUTION), "solved", SUDOKU))
    replay.get_by_role("button", name="Last forward pass").click()
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(list(SOLUTION))
    expect(replay.locator(".sbd-sudoku-verdict")).to_have_text("Solved: no rule is broken.")
    go_to(replay, 0)
    givens = [digit.replace("0", "") for digit in PUZZLE]
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(givens)
    replay.get_by_role("button", name="Last forward pass").click()
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(list(SOLUTION))
    cells(replay).nth(5).click()
    expect(replay.locator(".sbd-inspector-kicker")).to_have_text("Position 5 · held")
    is_given = cells(replay).evaluate_all("all => all.map(n => n.classList.contains('is-given'))")
    assert is_given == [digit != "0" for digit in PUZZLE]
