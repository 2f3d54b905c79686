"""The visitor's browser decodes: on request, and by its address.

The server's model is a scripted one, the browser's is the bundled one: what a run holds says who
decoded it.
"""

import json
import re

import pytest

from tests.browser.conftest import decode_button, has_begun, on_watch, state, sync_api
from tests.ui.doubles import ANSWER, story_model
from ui.models import LazyModel

pytestmark = pytest.mark.browser
expect = sync_api.expect
HERE = "Decode runs in your browser"


@pytest.fixture(scope="module")
def two_models_url(serve):
    """The address of a page whose server and browser have different models."""
    from sbd_core.models.web_folder import keep_export
    from tests.conftest import checkpoint

    keep_export(checkpoint())
    story = story_model()
    lazy = LazyModel(
        "sbd-nano", can_draft=True, block_range=(2, 16), loader=lambda: story, folder=checkpoint()
    )
    lazy.load()
    return serve(lazy)


def complete(page) -> dict:
    """The run's content once both its lanes are complete."""
    has_begun(page)
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    return state(page)


def is_of_server(page) -> bool:
    return complete(page)["main"]["text"] == ANSWER


def test_the_button_has_the_browser_decode_and_the_server_again(open_page, two_models_url):
    page = open_page(two_models_url)
    model = page.locator(".sbd-model")
    of_server = model.text_content()
    expect(page.locator(".sbd-engine-choice-words")).to_have_text("Decode runs on the server")
    page.get_by_role("button", name="Use your browser").click()
    expect(page.get_by_text(HERE)).to_be_visible()
    assert "engine=browser" in page.url
    page.get_by_label("Prompt").fill("What is 12 + 30?")
    decode_button(page).click()
    assert not is_of_server(page)
    words = page.locator(".sbd-engine-choice-words")
    expect(words).to_have_text(re.compile(r"browser, on your processor, \d.* tokens a second$"))
    expect(model).to_have_text("sbd-nano · 5.3 M parameters · in your browser")
    assert page.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.prompt") == (
        "What is 12 + 30?"
    )
    expect(decode_button(page)).to_be_enabled()
    page.get_by_role("button", name="Use the server").click()
    assert "engine=" not in page.url
    expect(model).to_have_text(of_server)
    old = state(page)["run"]
    decode_button(page).click()
    has_begun(page, old)
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    assert state(page)["main"]["text"] == ANSWER
    expect(words).to_have_text(re.compile(r"^Decode runs on the server, \d.* tokens a second$"))


def test_a_run_of_the_browser_can_be_branched_and_taken_home(open_page, two_models_url):
    page = open_page(two_models_url + "?prompt=What+is+7+%2B+8%3F&tokens=24&engine=browser")
    complete(page)
    first = state(page)["run"]
    page.get_by_role("button", name="Charts").click()
    expect(page.locator(".sbd-charts-status")).to_contain_text("Drag to zoom")
    page.evaluate(
        "document.querySelector('.sbd-host').sbdPlayer.redoWith({gamma: 5}, {position: 0})"
    )
    has_begun(page, first)
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    # Keys act where the player is seen; opening the charts may have scrolled it away.
    page.evaluate("document.querySelector('.sbd-host').scrollIntoView()")
    page.keyboard.press("s")
    for name, kind in (("Save JSON", "json"), ("Save HTML", "html")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        text = saved.value.path().read_text(encoding="utf-8")
        if kind == "json":
            from sbd_core.trace import Trace

            assert Trace.from_json(text).prompt == "What is 7 + 8?"
        else:
            assert '"is_recorded":true' in text
            assert json.dumps(state(page)["run"]) in text


def test_a_link_of_lanes_for_the_browser_is_compared_there(open_page, two_models_url):
    link = "?prompt=What+is+7+%2B+8%3F&tokens=24&lanes=ntp,verify:5&engine=browser#compare"
    page = open_page(two_models_url + link)
    expect(page.get_by_text(HERE)).to_be_visible()
    expect(page.locator(".sbd-compare select").nth(1)).to_have_value("verify")
    expect(page.get_by_label("Prompt")).to_have_value("What is 7 + 8?")
    page.wait_for_function(
        "(({ isRecorded, isComplete }) => !isRecorded && isComplete)"
        "(document.querySelector('.sbd-compare').sbdCompare.history.run)"
    )
    lanes = "document.querySelector('.sbd-compare').sbdCompare.history.run"
    assert page.evaluate(f"[...{lanes}.lanes.keys()]") == ["ntp", "verify:5"]
    assert page.evaluate(f"{lanes}.isOfBrowser")


@pytest.mark.parametrize(
    ("lacks", "words"),
    [
        ("**/manifest.json*", r"has no manifest.json. A page open for long may need a reload\."),
        ("**/onnxruntime.wasm.gz*", r"^The engine’s code cannot be reached\. The recorded"),
    ],
)
def test_what_cannot_be_fetched_is_told_and_the_server_goes_on(
    contexts, two_models_url, lacks, words
):
    page = contexts(False).new_page()
    try:
        page.route(lacks, lambda route: route.fulfill(status=404))
        page.goto(on_watch(two_models_url + "?engine=browser"))
        expect(page.locator(".sbd-status-line")).to_have_text(re.compile(words))
        decode_button(page).click()
        assert is_of_server(page)
    finally:
        page.close()
