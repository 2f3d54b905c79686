"""The Watch view in a real browser: decoding, presets, the form's rules, pinning, hostile text."""

import re

import pytest

from tests.browser.conftest import (
    HOSTILE,
    HOSTILE_PROMPT,
    MOST_SHIFT,
    ONE,
    RUN,
    SHIFTS,
    begin,
    choose_strategy,
    decode,
    decode_button,
    go_to,
    has_begun,
    painted,
    push,
    recorded,
    state,
    sync_api,
    traces,
    unfold,
)
from tests.ui.doubles import ANSWER, slowed, story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_opens_on_a_recorded_run_that_plays_by_itself(story):
    story.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.state.pass >= 2")
    assert state(story)["run"] == "opening"
    expect(story.locator(".sbd-token.is-new")).not_to_have_count(0)
    # Once, then it stays at its end.
    expect(story.get_by_role("button", name="Play (space)")).to_be_visible()
    last = state(story)
    assert last["pass"] == last["main"]["steps"] - 1


def test_decode_lands_tokens_out_of_order_and_both_lanes_end_on_the_text(story):
    decode(story)
    now = state(story)
    passes = dict(now["main"]["fixed"])
    assert any(passes[p] < passes[q] for p in passes for q in passes if p > q)
    assert now["main"]["text"] == now["ntp"]["text"] == ANSWER
    text = story.get_by_label("Text decoded so far").inner_text()
    assert text.removesuffix("end").strip() == ANSWER
    assert now["main"]["steps"] < now["ntp"]["steps"] == len(passes)


def test_next_token_prediction_can_be_played_to_its_own_end(replay):
    replay.emulate_media(reduced_motion="no-preference")
    replay.get_by_label("Advance").select_option("pass")
    replay.get_by_label("Speed").select_option("4")
    replay.get_by_role("button", name="Last forward pass").click()
    onward = replay.get_by_role("button", name="Play next-token prediction to its end")
    plain = replay.get_by_label("Next-token text so far")
    whole = state(replay)["ntp"]["text"]
    assert whole not in plain.inner_text()
    before = replay.locator(".sbd-lanes").bounding_box()
    onward.click()
    expect(onward).to_be_hidden()
    replay.wait_for_function(
        "(text) => document.querySelector('.sbd-lane-ntp .sbd-text').innerText.includes(text)",
        arg=whole,
    )
    assert replay.locator(".sbd-lanes").bounding_box() == before
    replay.get_by_role("button", name="Back one forward pass").click()
    expect(onward).to_be_hidden()
    expect(plain).not_to_contain_text(whole)


def test_a_mark_shows_where_the_texts_part_and_none_where_they_are_identical(replay):
    replay.get_by_label("Advance").select_option("pass")  # by time both might end together
    replay.get_by_role("button", name="Last forward pass").click()
    expect(replay.locator(".is-parting")).to_have_count(0)
    expect(replay.locator(".sbd-verdict-chip").first).to_contain_text("Identical")
    push(replay, recorded(story_model(), "short", max_new_tokens=16))
    replay.get_by_role("button", name="Last forward pass").click()
    main, ntp = traces(story_model(), max_new_tokens=16)
    at = min(main.num_tokens, ntp.num_tokens)
    assert main.num_tokens != ntp.num_tokens
    assert main.token_ids[:at] == ntp.token_ids[:at]
    replay.emulate_media(reduced_motion="reduce")
    replay.get_by_role("button", name="Play next-token prediction to its end").click()
    expect(replay.locator(".is-parting")).to_have_attribute("data-position", str(at))


def test_on_a_phone_both_lanes_are_seen_together(open_page, story_url):
    page = open_page(story_url, 390, 844, reduced_motion="reduce")
    boxes = [page.locator(f".sbd-lane:nth-child({n}) .sbd-text").bounding_box() for n in (1, 2)]
    assert boxes[0]["height"] == boxes[1]["height"] >= 100
    top = page.locator(".sbd-lane").first.bounding_box()["y"]
    bar = page.locator(".sbd-transport").bounding_box()["height"]
    assert boxes[1]["y"] + boxes[1]["height"] - top <= 844 - bar
    decode(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.fixture(scope="module")
def steady_url(serve) -> str:
    return serve(slowed(story_model(), 0.05))


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_nothing_moves_while_a_run_comes_in(open_page, steady_url, width, height):
    page = open_page(steady_url, width, height, reduced_motion="reduce")
    unfold(page)
    page.get_by_label("Prompt", exact=True).fill("another one")
    page.evaluate(SHIFTS)
    old = state(page)["run"]
    decode_button(page).click()
    if width < 900:
        expect(decode_button(page)).to_be_hidden(timeout=400)  # folded at the press
    has_begun(page, old)
    expect(page.locator("#sbd-stop")).to_be_disabled()
    painted(page)
    assert sum(page.evaluate("window.shifts")) <= MOST_SHIFT


def test_a_live_run_is_played_to_its_end_as_quickly_as_it_came(open_page, story_url):
    page = open_page(story_url)
    choose_strategy(page, ONE)
    decode_button(page).click()
    has_begun(page)
    last = f"{RUN}.main.lastPass"
    page.wait_for_function(f"{RUN}.isComplete")
    assert page.evaluate(last) > 40  # more than 13 seconds at the pace of a recording
    shown = "document.querySelector('.sbd-host').sbdPlayer.state.pass"
    page.wait_for_function(f"{shown} === {last}", timeout=8000)
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_timeout(1000)
    assert page.evaluate(f"{shown} < {last}")  # played again, it takes the pace of a recording


def test_history_can_be_stepped_while_the_run_goes_on(open_page, slow_url):
    page = open_page(slow_url)
    begin(page)
    page.wait_for_function(f"{RUN}.main.steps.length > 2")
    page.get_by_role("button", name="Back one forward pass").click()
    seen = state(page)
    assert not seen["isPlaying"]
    page.wait_for_function(f"(n) => {RUN}.main.steps.length > n", arg=seen["main"]["steps"])
    assert state(page)["pass"] == seen["pass"]


def test_keys_belong_to_the_prompt_while_it_has_the_focus(story):
    story.get_by_role("button", name="First forward pass").click()
    story.get_by_label("Prompt").click()
    story.keyboard.type("a b")
    story.keyboard.press("ArrowRight")
    story.keyboard.press("End")
    assert state(story)["pass"] == 0
    assert not state(story)["isPlaying"]


def test_bad_input_says_the_rule_and_keeps_prompt_and_trace(story):
    decode(story)
    before = state(story)["run"]
    story.get_by_label("Prompt").fill("   ")
    decode_button(story).click()
    alert = story.get_by_role("alert").filter(has_text="Prompt must not be empty.")
    expect(alert).to_be_visible()
    expect(story.get_by_label("Prompt")).to_have_value("   ")
    assert state(story)["run"] == before
    expect(decode_button(story)).to_be_enabled()
    story.get_by_label("Prompt").fill("fine")
    decode(story)
    expect(alert).to_have_count(0)


def test_hostile_text_from_everywhere_is_shown_as_text_and_nothing_runs(open_page, hostile_url):
    """The prompt, a preset, the address bar, the model's name and what it answers."""
    page = open_page(f"{hostile_url}?prompt={HOSTILE_PROMPT}&__proto__=x#{HOSTILE[1]}")
    expect(page.locator(".sbd-model")).to_contain_text(HOSTILE[1])
    box = page.get_by_label("Prompt")
    expect(box).to_have_value(HOSTILE_PROMPT)
    for text in (HOSTILE[0], HOSTILE_PROMPT):
        page.locator(".sbd-chip").click()
        expect(box).to_have_value(text)
    decode(page)
    go_to(page, 0)
    for _ in range(state(page)["main"]["steps"]):
        page.keyboard.press("ArrowRight")
        painted(page)
    lane = page.get_by_label("Text decoded so far")
    for text in ("<script>window.hacked=1</script>", "${window.hacked=1}", "{{value}}", "<m>"):
        expect(lane).to_contain_text(text)
    expect(lane).to_contain_text("U+202E")
    expect(page.locator(".sbd-prompt")).to_have_text(HOSTILE_PROMPT)
    expect(page.get_by_label("Prompt")).to_have_value(HOSTILE_PROMPT)
    assert page.evaluate("window.hacked") is None


def test_presets_fill_the_prompt_and_a_second_press_gives_another(story):
    chip = story.get_by_role("button", name=re.compile("^Python"))
    box = story.get_by_label("Prompt")
    seen = set()
    for number in (1, 2):
        chip.click()
        expect(chip).to_have_text(re.compile(rf"\b{number} of"))
        expect(chip).to_have_attribute("aria-pressed", "true")
        seen.add(box.input_value())
    assert len(seen) == 2
    expect(story.locator(".sbd-prompt")).to_have_text(box.input_value())
    box.fill(box.input_value() + " Please.")
    expect(chip).to_have_attribute("aria-pressed", "false")
    decode(story)
    expect(story.locator(".sbd-prompt")).to_contain_text("Please.")


def test_what_a_gamma_near_0_would_reveal_is_what_decoding_again_at_it_reveals(story):
    decode(story)
    go_to(story, 1)
    box = story.locator(".sbd-budget-track").bounding_box()
    story.mouse.click(box["x"] + box["width"] * 0.05, box["y"] + 10)
    note = story.locator(".sbd-budget-note")
    expect(note).to_contain_text("would be revealed")
    gamma, count = re.search(r"γ (\S+) · (\d+) would", note.inner_text()).groups()
    assert 0 < float(gamma) < 0.005
    expect(story.locator(".sbd-gamma")).to_have_attribute("aria-valuenow", gamma)
    old = state(story)["run"]
    story.get_by_role("button", name="Decode again at this γ").click()
    story.wait_for_function(f"(old) => {RUN}.id !== old && {RUN}.isComplete", arg=old)
    go_to(story, 1)
    assert story.evaluate(f"{RUN}.solver.gamma") == float(gamma)
    expect(note).to_contain_text(f"of γ {gamma} · {count} revealed")
