"""A visitor's first minutes: the opening, its numbers, the form, recorded runs, the phone."""

import re

import pytest

from tests.browser.conftest import (
    advanced,
    click_card,
    decode,
    decode_button,
    has_begun,
    painted,
    push,
    state,
    sync_api,
    turn_to,
    unfold,
)
from tests.browser.conftest import recorded as run_lines
from tests.ui.doubles import story_model
from ui import examples

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_it_opens_at_the_end_of_its_run_and_form_and_run_agree(open_page, measured_url):
    page = open_page(measured_url, reduced_motion="reduce")
    main = next(iter(examples.opening_traces().values()))
    assert state(page)["pass"] == main.num_forwards - 1
    expect(page.locator(".sbd-headline-own")).to_have_text(str(main.num_forwards))
    expect(page.locator(".sbd-verdict-chip").first).to_be_visible()
    expect(page.locator("#sbd-player .sbd-stale")).to_be_hidden()
    expect(page.get_by_label("Prompt")).to_have_value(main.prompt)


def test_no_token_moves_when_another_lands(story):
    places = """() => [...document.querySelectorAll('[data-lane=sbd] .sbd-token')].map((token) => {
      const { left, top } = token.querySelector('.sbd-word').getBoundingClientRect();
      return [token.dataset.position, Math.round(left), Math.round(top)]; })"""
    push(story, run_lines(story_model(), "still"))
    seen: dict[str, tuple[int, int]] = {}
    end = state(story)["main"]["tokens"]
    for index in range(state(story)["main"]["steps"]):
        story.evaluate(f"document.querySelector('.sbd-host').sbdPlayer.seek({index}, true)")
        painted(story)
        for position, left, top in story.evaluate(places):
            if int(position) >= end - 1:
                continue  # the end itself is a mark of its own, behind all words
            known = seen.setdefault(position, (left, top))
            assert abs(known[0] - left) <= 1
            assert abs(known[1] - top) <= 1
    assert len(seen) > 40


def test_a_recorded_run_loads_its_settings_also_unusual_ones_and_they_run(story):
    name = "block-beyond-training"
    item = next(item for item in examples.gallery() if item.name == name)
    trace = examples.gallery_traces(name)["sbd"]
    click_card(story, name)
    expect(story.locator(".sbd-about")).to_have_text(item.sentence)
    expect(story.get_by_label("Prompt")).to_have_value(trace.prompt)
    advanced(story)
    expect(story.get_by_label("γ", exact=True)).to_have_value(f"{trace.config.solver.gamma:g}")
    size = str(trace.config.block_size)
    expect(story.get_by_label("Block size", exact=True)).to_have_value(size)
    expect(story.get_by_text("This is unusual, and runs as it is:")).to_be_visible()
    expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()
    decode(story)
    expect(story.get_by_role("alert")).to_have_count(0)
    assert str(story.evaluate(
        "document.querySelector('.sbd-host').sbdPlayer.run.blockSize")) == size  # fmt: skip


SAID = """() => {
  window.said = [];
  const line = document.querySelector('.sbd-status-line');
  new MutationObserver(() => window.said.push(line.textContent))
    .observe(line, { childList: true, characterData: true, subtree: true });
}"""
"""Remembers all that the status line says: one text may soon follow another."""


def test_a_preset_shows_its_recorded_run_at_once_and_another_prompt_marks_the_stage(story):
    line = story.locator(".sbd-status-line")
    said = "Recorded: the form now has repetition penalty 1."
    for words in (said, "This run is recorded, and the form has its settings."):
        old = state(story)["run"]
        story.get_by_role("button", name=re.compile("^Word problem")).click()
        has_begun(story, old)
        prompt = story.get_by_label("Prompt").input_value()
        expect(story.locator(".sbd-prompt")).to_have_text(prompt)
        expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()
        expect(line).to_contain_text(words)
    story.get_by_label("Prompt").fill("Something else.")
    expect(story.locator("#sbd-player .sbd-stale")).to_contain_text("another prompt")
    expect(line).to_be_empty()
    story.get_by_label("Prompt").fill("")
    story.keyboard.insert_text("x" * 2_001)  # as pasting does, held to the box's limit
    expect(line).to_have_text("The prompt has 2,001 characters; at most 2,000 can be decoded.")
    story.get_by_label("Prompt").fill("x")
    expect(line).to_be_empty()


TYPED_OVER = """(preset, prompt) => {
  preset.click();
  prompt.value = "Something else.";
  prompt.dispatchEvent(new Event("input", { bubbles: true }));
}"""
"""Chooses a preset, and types another prompt before the server can answer, on any machine."""


def test_a_prompt_typed_over_a_preset_is_not_told_what_the_recorded_run_changed(story):
    story.evaluate(SAID)
    prompt = story.get_by_label("Prompt")
    preset = story.get_by_role("button", name=re.compile("^Word problem"))
    preset.evaluate(TYPED_OVER, prompt.element_handle())
    has_begun(story)
    painted(story)
    expect(prompt).to_have_value("Something else.")
    assert story.evaluate("window.said") == []


def test_a_preset_whose_recorded_run_is_missing_says_so_and_goes_on(browser, story_url):
    page = browser.new_page(bypass_csp=True)  # not watched: the missing file is on its console
    page.set_default_timeout(60_000)
    page.route("**/gallery/*.json", lambda route: route.fulfill(status=404))
    page.goto(f"{story_url}#watch")
    page.get_by_role("button", name=re.compile("^JSON")).click()
    expect(page.get_by_role("alert")).to_have_text("This recorded run cannot be reached.")
    assert state(page)["run"] == "opening"
    decode(page)
    page.close()


def test_on_a_phone_form_and_views_fold_and_the_stage_is_in_view_after_decode(open_page, story_url):
    page = open_page(story_url, 390, 844, has_touch=True, reduced_motion="reduce")
    expect(decode_button(page)).to_be_hidden()
    expect(page.locator(".sbd-promise")).to_be_visible()
    unfold(page)
    expect(decode_button(page)).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(3)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    decode(page)
    expect(decode_button(page)).to_be_hidden()
    expect(page.locator(".sbd-transport")).to_be_in_viewport()
    menu, views = page.get_by_role("button", name="Views"), page.locator(".sbd-view")
    expect(views.first).to_be_hidden()
    menu.click()
    expect(views).to_have_text(["Learn", "Watch", "Compare", "Roofline"])
    page.keyboard.press("Escape")
    expect(views.first).to_be_hidden()
    turn_to(page, "Compare")
    expect(page.locator(".sbd-compare-lane").first).to_be_visible()
    expect(views.first).to_be_hidden()


def test_few_settings_stand_there_at_first_and_one_that_differs_marks_the_stage(story):
    for label in ("Solver", "Block size", "Answer with blanks"):
        expect(story.get_by_label(label, exact=True)).to_be_hidden()
    expect(story.get_by_role("radio")).to_have_count(3)
    story.get_by_label("Safer to bolder").fill("8")
    advanced(story)
    expect(story.get_by_label("γ", exact=True)).to_have_value("1")
    expect(story.get_by_label("Solver", exact=True)).to_be_visible()
    decode(story)
    stale = story.locator("#sbd-player .sbd-stale").first
    longest = story.get_by_label("Longest answer", exact=True)
    before = longest.input_value()
    longest.fill("64")
    expect(stale).to_contain_text(f"at most 64 tokens instead of {before}")
    longest.fill(before)
    expect(stale).to_be_hidden()
