"""The address bar: what it holds after a decode or of lanes, and what opening it does."""

import re
from urllib.parse import parse_qs, urlencode, urlparse

import pytest

from sbd_core.trace import Trace
from tests.browser.conftest import (
    advanced,
    begin,
    decode,
    has_begun,
    painted,
    state,
    sync_api,
    turn_to,
)
from tests.browser.test_compare import button, enter, go
from tests.browser.test_share import open_sheet, saved, timeless

pytestmark = pytest.mark.browser
expect = sync_api.expect

IS_COMPLETE = "document.querySelector('.sbd-host').sbdPlayer.run.isComplete"


def saved_trace(page) -> Trace:
    open_sheet(page)
    return timeless(Trace.from_json(saved(page, "Save JSON")[1].decode()))


@pytest.fixture
def elsewhere(browser):
    """Open an address in a browser profile of its own."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    context.set_default_timeout(60_000)

    def open_it(url: str):
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector(".sbd-tile", state="attached")
        return page

    yield open_it
    context.close()


def test_a_link_replays_the_same_run_in_another_browser(story, elsewhere):
    story.get_by_label("Prompt").fill("Æ & <b>?\n2+2=4")
    advanced(story)
    story.get_by_label("Solver", exact=True).select_option("random")
    story.get_by_label("Seed").fill("7")
    story.get_by_label("Seed").press("Tab")
    decode(story)
    trace = saved_trace(story)
    assert (trace.config.seed, trace.prompt) == (7, "Æ & <b>?\n2+2=4")
    other = elsewhere(story.url)
    has_begun(other)
    other.wait_for_function(IS_COMPLETE)
    assert saved_trace(other) == trace
    assert other.url == story.url
    other.keyboard.press("Escape")
    expect(other.get_by_label("Prompt")).to_have_value("Æ & <b>?\n2+2=4")
    expect(other.get_by_label("Solver", exact=True)).to_have_value("random")
    expect(other.get_by_label("Seed")).to_have_value("7")


def result_of(page) -> list[list[str]]:
    """Title, text, passes, tokens and differences of every lane."""
    button(page, "Finish (End)").click()
    expect(page.locator(".sbd-compare-table tr.is-open")).to_have_count(0)
    painted(page)
    lanes = page.locator(".sbd-compare-lane").all()
    titles = [lane.locator(".sbd-compare-name").inner_text() for lane in lanes]
    texts = [lane.locator(".sbd-compare-text").inner_text() for lane in lanes]
    rows = page.locator(".sbd-compare-table tbody tr").all()
    figures = [row.locator("td").all_inner_texts() for row in rows]
    return [
        [title, text, passes, tokens, differs]
        for title, text, (passes, tokens, _, _, _, differs) in zip(
            titles, texts, figures, strict=True
        )
    ]


def test_a_link_compares_again_in_another_browser(story, elsewhere):
    enter(story)
    story.get_by_label("Prompt").fill("Æ & <b>?\n2+2=4")
    story.get_by_label("Way 1", exact=True).select_option("")
    story.get_by_label("γ of way 3").fill("50")
    go(story).click()
    expect(story).to_have_url(re.compile("lanes=sbd%3A0.1%2Csbd%3A50%2Cverify"))
    result = result_of(story)
    names = ["Set Block Decoding, γ 0.1", "Set Block Decoding, γ 50", "Exact (verify)"]
    assert [row[0] for row in result] == names
    other = elsewhere(story.url)
    expect(other.locator(".sbd-compare-name")).to_have_text([row[0] for row in result])
    expect(go(other)).to_be_enabled()
    assert result_of(other) == result
    assert other.url == story.url
    expect(other.get_by_label("Prompt")).to_have_value("Æ & <b>?\n2+2=4")
    expect(other.get_by_label("Way 1", exact=True)).to_have_value("sbd")
    expect(other.get_by_label("Way 4", exact=True)).to_have_value("")
    expect(other.get_by_label("γ of way 2")).to_have_value("50")


def test_the_address_names_everything_and_pins_too(open_page, story_url):
    query = {"prompt": "p", "gamma": "0.5", "block": "8", "tokens": "32", "pins": "2:5,4:6"}
    page = open_page(f"{story_url}?{urlencode(query)}&__theme=light")
    has_begun(page)
    page.wait_for_function(IS_COMPLETE)
    held = {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}
    assert held == {
        **query, "strategy": "sbd", "solver": "entropy-bound", "seed": "0", "penalty": "1",
        "__theme": "light",
    }  # fmt: skip
    config = saved_trace(page).config
    assert (config.block_size, config.max_new_tokens, dict(config.pinned)) == (8, 32, {2: 5, 4: 6})


def test_a_bad_link_is_answered_by_a_sentence(open_page, story_url):
    page = open_page(f"{story_url}?prompt=mine&solver=%3Cscript%3E")
    line = page.locator(".sbd-status-line.is-error")
    expect(line).to_contain_text("Solver must be one of")
    expect(page.get_by_label("Prompt")).to_have_value("mine")
    assert state(page)["run"] == "opening"


def test_a_prompt_that_is_rewritten_outlives_a_reload(story):
    story.get_by_label("Prompt").fill("first")
    begin(story)
    story.wait_for_url("**prompt=first**")
    story.get_by_label("Prompt").fill("second")
    story.wait_for_url(lambda address: "prompt=" not in address)
    story.reload()
    expect(story.locator(".sbd-tile")).not_to_have_count(0)
    expect(story.get_by_label("Prompt")).to_have_value("second")


def test_a_view_that_the_hash_names_stays_in_front_of_a_decode(open_page, story_url):
    shown = "#roofline?device=rtx4090-bf16&batch=128"
    page = open_page(f"{story_url}?prompt=p{shown}")
    assert page.url.endswith(shown)
    expect(page.get_by_label("Texts at once (batch)", exact=True)).to_have_value("128")
    turn_to(page, "Watch")
    assert state(page)["run"] == "opening"
    decode(page)
    assert page.url.endswith("#watch")
    for hash_ in (shown, "#learn/the-cache", "#compare"):
        page.evaluate("(hash) => { location.hash = hash }", hash_)
        page.reload()
        page.wait_for_function(IS_COMPLETE)
        page.wait_for_selector("[data-sbd-ready]")
        assert page.url.endswith(hash_)
        assert state(page)["run"] != "opening"
    go(page).click()
    page.wait_for_url("**lanes=**")
    expect(go(page)).to_be_enabled()
    address = page.url
    page.reload()
    expect(page.locator(".sbd-compare-prompt")).to_have_text("p")
    expect(go(page)).to_be_enabled()
    assert page.url == address
