"""Decoding goes on beside another tab, without storage, after a sleep, with another model."""

import re
import time

import pytest

from tests.browser.conftest import RUN, decode_button, on_watch, sync_api
from tests.browser.site.conftest import (
    Counting,
    Stalling,
    address,
    before_engine,
    decode_here,
    fill,
    is_complete,
    kept_here,
    serving,
    until,
    visiting,
)

pytestmark = pytest.mark.browser
expect = sync_api.expect
WORDS = ".sbd-engine-choice-words"
STATUS = ".sbd-status-line"
PROMPT = "What is 12 + 30?"


def test_two_tabs_fetch_each_file_once_and_both_decode(context, site) -> None:
    Counting.asked.clear()
    with serving(site, Counting) as server:
        pages = [context.new_page() for _ in range(2)]
        for page in pages:
            page.goto(on_watch(address(server)), wait_until="commit")
        for page in pages:
            kept_here(page)  # until when the service worker may load it anew
        answers = [decode_here(page, PROMPT)["main"]["text"] for page in pages]
        context.close()
    assert answers[0] == answers[1] != ""
    files = [path for path in Counting.asked if "/models/" in path and "manifest" not in path]
    assert len(files) == len(set(files)) > 3


REFUSED = """if (isSecureContext) {
  const error = () => new DOMException('no', 'SecurityError');
  Object.defineProperty(globalThis, 'caches', { get: () => { throw error(); } });
  navigator.storage.persist = () => Promise.reject(error());
  navigator.locks.request = () => Promise.reject(error());
}"""
"""Refuse storage, as some browsers do in private windows and in frames of other sites."""


def test_a_browser_that_refuses_its_storage_decodes(context, changed) -> None:
    wrongs: list[str] = []
    context.on("weberror", lambda error: wrongs.append(str(error.error)))
    context.add_init_script(REFUSED)
    with visiting(context, changed(before_engine(REFUSED))) as page:
        expect(page.locator(WORDS)).to_contain_text("has no room to keep the model for later.")
        assert decode_here(page, PROMPT)["main"]["text"].endswith("42.")
    assert wrongs == []


def test_a_page_put_to_sleep_in_mid_run_goes_on_when_it_wakes(context, changed) -> None:
    # A tab in the background has next to no timers.
    with visiting(context, changed(before_engine("globalThis.setTimeout = () => 0;"))) as page:
        tools = context.new_cdp_session(page)
        fill(page, "block-size", 2)
        page.get_by_label("Prompt").fill("Write a story about a fox and a hare.")
        decode_button(page).click()
        until(page, f"{RUN}.id !== 'opening' && {RUN}.main.numCommitted > 2")
        tools.send("Page.setWebLifecycleState", {"state": "frozen"})
        time.sleep(1)
        tools.send("Page.setWebLifecycleState", {"state": "active"})
        is_complete(page, "opening")
        assert page.evaluate(f"{RUN}.isStopped") is False


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        ("WebAssembly.validate = () => false;", "WebAssembly has no 128-bit SIMD"),
        ("delete globalThis.DecompressionStream;", "This browser has no DecompressionStream"),
    ],
    ids=["SIMD", "DecompressionStream"],
)
def test_an_old_browser_is_told_what_it_lacks(context, changed, lack, words) -> None:
    with visiting(context, changed(before_engine(lack))) as page:
        expect(page.locator(STATUS)).to_contain_text(words)


def test_another_model_may_be_chosen_while_one_is_fetched(context, site) -> None:
    Stalling.goes_on.clear()
    with visiting(context, site, handler=Stalling) as page:
        expect(page.locator(WORDS)).to_have_text(re.compile(r"^Fetching the model: \d"))
        page.get_by_role("radio", name="adapted").check()
        is_here = "Decode runs in your browser, on your processor"
        expect(page.locator(WORDS)).to_have_text(is_here)
        fill(page, "max-new-tokens", 8)
        decode_here(page, "a b c")
        assert page.evaluate(f"{RUN}.model") == "adapted"
        Stalling.goes_on.set()
        page.get_by_role("radio", name="nano").check()
        fill(page, "max-new-tokens", 40)
        assert decode_here(page, PROMPT)["main"]["text"].endswith("42.")
        assert page.evaluate(f"{RUN}.model") == "sbd-nano"


def test_a_prompt_past_the_models_positions_is_told(context, site) -> None:
    link = "?model=models/adapted&tokens=250&prompt=" + "many+words+" * 150
    with visiting(context, site, link) as page:
        words = r'^Prompt must leave room: .* the reach of adapted; got "\d+ \+ 250"\.$'
        expect(page.locator(STATUS)).to_have_text(re.compile(words))
