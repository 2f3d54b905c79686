"""The address bar: what it holds after a decode, and what opening it does."""

from urllib.parse import parse_qs, urlencode, urlparse

import pytest

from sbd_core.trace import Trace
from tests.browser.conftest import begin, decode, has_begun, state, sync_api
from tests.browser.test_share import open_sheet, saved, timeless

pytestmark = pytest.mark.browser
expect = sync_api.expect

IS_COMPLETE = "document.querySelector('.sbd-host').sbdPlayer.run.isComplete"


def choose(page, label: str, option: str):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def saved_trace(page) -> Trace:
    open_sheet(page)
    return timeless(Trace.from_json(saved(page, "Save JSON")[1].decode()))


def test_a_link_replays_the_same_run_in_another_browser(story, story_url, browser):
    story.get_by_label("Prompt").fill("Æ & <b>?\n2+2=4")
    choose(story, "Solver", "Random")
    story.get_by_label("Seed").fill("7")
    story.get_by_label("Seed").press("Tab")
    decode(story)
    trace = saved_trace(story)
    assert (trace.config.seed, trace.prompt) == (7, "Æ & <b>?\n2+2=4")
    other = browser.new_context().new_page()
    other.set_default_timeout(60_000)
    other.goto(story.url)
    other.wait_for_selector(".sbd-tile")
    has_begun(other)
    other.wait_for_function(IS_COMPLETE)
    assert saved_trace(other) == trace
    assert other.url == story.url
    other.keyboard.press("Escape")
    expect(other.get_by_label("Prompt")).to_have_value("Æ & <b>?\n2+2=4")
    expect(other.get_by_label("Solver", exact=True)).to_have_value("Random")
    expect(other.get_by_label("Seed")).to_have_value("7")
    other.context.close()


def test_the_address_names_everything_and_pins_too(open_page, story_url):
    query = {"prompt": "p", "gamma": "0.5", "block": "8", "tokens": "32", "pins": "2:5,4:6"}
    page = open_page(f"{story_url}?{urlencode(query)}&__theme=light")
    has_begun(page)
    page.wait_for_function(IS_COMPLETE)
    held = {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}
    assert held == {
        **query, "strategy": "sbd", "solver": "entropy-bound", "seed": "0", "__theme": "light",
    }  # fmt: skip
    config = saved_trace(page).config
    assert (config.block_size, config.max_new_tokens, dict(config.pinned)) == (8, 32, {2: 5, 4: 6})


BAD_LINKS = {
    "gamma=abc": "γ must be a finite number >= 0; got 'abc'.",
    "gamma=-1": "γ must be a finite number >= 0; got -1.",
    "gamma=nan": "γ must be a finite number",
    "block=99": "Block size must be from 2 to 16",
    "tokens=1e9": "Longest answer must be at most 256",
    "strategy=magic": "Strategy must be one of",
    "solver=%3Cscript%3E": "Solver must be one of",
    "seed=-3": "Seed must be a whole number",
    "pins=1:2;3": "pins must be offsets and token ids like 3:17,5:99",
    "pins=300:5": "A pin’s position must be a whole number",
    "pins=3:999999": "pinned[3] must hold token ids from 0 to",
}


@pytest.mark.parametrize("part", BAD_LINKS)
def test_a_bad_link_is_answered_by_a_sentence(open_page, story_url, part):
    page = open_page(f"{story_url}?prompt=mine&{part}")
    notice = page.locator(".sbd-notice.is-error")
    expect(notice).to_contain_text(f"This link cannot be decoded: {BAD_LINKS[part]}")
    expect(page.get_by_label("Prompt")).to_have_value("mine")
    assert state(page)["run"] == "opening"


def test_a_prompt_that_is_rewritten_outlives_a_reload(story):
    story.get_by_label("Prompt").fill("first")
    begin(story)
    story.wait_for_url("**prompt=first**")
    story.get_by_label("Prompt").fill("second")
    story.reload()
    expect(story.locator(".sbd-tile")).not_to_have_count(0)
    expect(story.get_by_label("Prompt")).to_have_value("second")
