"""Visitors of one model: each waits for it and sees their own run; whoever leaves frees the model.

A run of the slow model takes half a minute, longer than any wait here: a second visitor whose
run begins was let in because the first one's had ended.
"""

import pytest

from tests.browser.conftest import begin, decode, decode_button, has_begun, state, sync_api
from tests.ui.doubles import ANSWER, Coming, story_model
from ui.decode.session import LOADING_TEXT

pytestmark = pytest.mark.browser
expect = sync_api.expect


@pytest.fixture
def waiting(open_page, slow_url):
    """(a visitor whose run goes on, one who waits in line)."""
    first, second = open_page(slow_url), open_page(slow_url)
    first.get_by_label("Prompt").fill("mine")
    begin(first)
    decode_button(second).click()
    expect(second.get_by_text("Another decode is before yours")).to_be_visible()
    return first, second


def test_stop_leaves_the_line_frees_the_model_and_keeps_what_was_typed(waiting):
    first, second = waiting
    second.get_by_role("button", name="Stop", exact=True).click()
    expect(second.get_by_text("Stopped.")).to_be_visible()
    assert state(second)["run"] == "opening"
    assert state(first)["run"] != "opening"
    decode_button(second).click()
    expect(second.get_by_text("Another decode is before yours")).to_be_visible()
    first.get_by_role("button", name="Stop", exact=True).click()
    has_begun(second)
    expect(first.get_by_text("Stopped.")).to_be_visible()
    expect(decode_button(first)).to_be_enabled()
    expect(first.get_by_label("Prompt")).to_have_value("mine")
    expect(first.locator(".sbd-place")).not_to_contain_text("…")


def test_reload_frees_the_model_and_decodes_the_prompt_again(waiting):
    first, second = waiting
    first.reload()
    expect(first.locator(".sbd-tile")).not_to_have_count(0)
    expect(first.get_by_label("Prompt")).to_have_value("mine")
    has_begun(second)
    second.get_by_role("button", name="Stop", exact=True).click()
    expect(first.locator(".sbd-prompt")).to_have_text("mine")


def test_two_visitors_at_once_see_only_their_own_run(open_page, story_url):
    pages = [open_page(story_url) for _ in range(2)]
    for name, page in zip(("anna", "bert"), pages, strict=True):
        page.get_by_label("Prompt").fill(name)
    for page in pages:
        decode_button(page).click()
    runs = []
    for name, page in zip(("anna", "bert"), pages, strict=True):
        has_begun(page)
        expect(page.locator(".sbd-prompt")).to_have_text(name)
        expect(page.get_by_label("Prompt")).to_have_value(name)
        runs.append(state(page)["run"])
    assert len(set(runs)) == 2


def test_a_double_click_on_decode_starts_one_run(story):
    story.evaluate("""() => {
      const player = document.querySelector('.sbd-host').sbdPlayer;
      const push = player.push.bind(player);
      window.runs = new Set();
      player.push = (text) => { push(text); window.runs.add(player.run.id); };
    }""")
    decode_button(story).dblclick()
    has_begun(story)
    story.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    expect(decode_button(story)).to_be_enabled()
    expect(story.locator(".sbd-status-line")).to_have_text("")
    assert story.evaluate("window.runs.size") == 1
    decode(story)
    assert story.evaluate("window.runs.size") == 2


def test_a_decode_pressed_while_the_model_is_loading_waits_and_then_runs(serve, open_page):
    coming = Coming(story_model)
    page = open_page(serve(coming.lazy))
    try:
        title = page.locator(".sbd-model")
        expect(title).to_have_text("story · loading …")
        decode_button(page).click()
        expect(page.locator(".sbd-status-line")).to_have_text(LOADING_TEXT)
    finally:
        coming.go_on.set()
    has_begun(page)
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    assert state(page)["main"]["text"] == ANSWER
    expect(title).to_have_text("story · 4.6 M parameters · cpu")
