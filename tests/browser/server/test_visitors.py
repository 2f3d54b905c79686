"""Visitors of one model: each sees their own run, and whoever leaves or is late frees the model.

A run of the slow model takes half a minute, longer than any wait here: a second visitor whose
run begins was let in because the first one's had ended.
"""

import re

import pytest

from tests.browser.conftest import begin, decode, decode_button, has_begun, state, sync_api
from ui.decode import session as session_module
from ui.hosting.limits import Limits

pytestmark = pytest.mark.browser
expect = sync_api.expect

MAX_WAIT_MS = 10_000


@pytest.fixture
def waiting(open_page, slow_url):
    """(a visitor whose run goes on, one who waits in line)."""
    first, second = open_page(slow_url), open_page(slow_url)
    first.get_by_label("Prompt").fill("mine")
    begin(first)
    decode_button(second).click()
    expect(second.get_by_text("Another decode is running; yours is next.")).to_be_visible()
    second.set_default_timeout(MAX_WAIT_MS)
    return first, second


def test_stop_frees_the_model_and_keeps_what_was_typed(waiting):
    first, second = waiting
    first.get_by_role("button", name="Stop").click()
    has_begun(second)
    expect(first.get_by_text("Stopped.")).to_be_visible()
    expect(decode_button(first)).to_be_enabled()
    expect(first.get_by_label("Prompt")).to_have_value("mine")
    expect(first.locator(".sbd-place")).not_to_contain_text("…")


def test_closing_the_page_frees_the_model(waiting):
    first, second = waiting
    first.close()
    has_begun(second)


def test_reload_frees_the_model_and_decodes_the_prompt_again(waiting):
    first, second = waiting
    first.reload()
    expect(first.locator(".sbd-tile")).not_to_have_count(0)
    expect(first.get_by_label("Prompt")).to_have_value("mine")
    has_begun(second)
    second.get_by_role("button", name="Stop").click()
    expect(first.locator(".sbd-prompt")).to_have_text("mine")


def test_stop_while_waiting_leaves_the_line(waiting):
    first, second = waiting
    second.get_by_role("button", name="Stop").click()
    expect(second.get_by_text("Stopped.")).to_be_visible()
    expect(decode_button(second)).to_be_enabled()
    assert state(second)["run"] == "opening"
    assert state(first)["run"] != "opening"


def test_a_run_longer_than_the_limit_ends_and_says_so(open_page, slow_url, monkeypatch):
    monkeypatch.setattr(session_module, "USUAL", Limits(max_run_seconds=1.0))
    page = open_page(slow_url)
    page.get_by_label("Prompt").fill("mine")
    begin(page)
    expect(page.get_by_text("this page’s limit")).to_be_visible(timeout=MAX_WAIT_MS)
    expect(decode_button(page)).to_be_enabled()
    expect(page.get_by_label("Prompt")).to_have_value("mine")
    assert state(page)["main"]["finish"] == "stopped"
    begin(page)


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


def test_the_first_decode_takes_over_while_the_opening_run_plays(story):
    story.get_by_label("Speed").select_option(label="0.25×")
    story.get_by_role("button", name="First forward pass").click()
    story.get_by_role("button", name="Play (space)").click()
    expect(story.get_by_role("button", name=re.compile("Pause"))).to_be_visible()
    begin(story)
    expect(story.locator(".sbd-tile.is-new")).not_to_have_count(0)
    assert state(story)["run"] != "opening"
