"""The switch between two models in the head: the prompt stays, the examples change."""

import re

import pytest

from sbd_core.models.bases import SMOLLM2
from sbd_core.models.model_folder import REAL_MODEL
from tests.browser.conftest import RUN, advanced, decode_button, has_begun, sync_api
from tests.ui.doubles import FakeBase, story_model
from ui.examples import presets
from ui.models import LazyModel, Models

pytestmark = pytest.mark.browser

expect = sync_api.expect
REAL_PRESETS = "presets-english.json"
TEXT = "The sky scatters blue light."


@pytest.fixture
def base(monkeypatch) -> FakeBase:
    return FakeBase(monkeypatch)


def large() -> LazyModel:
    model = story_model(TEXT, name="large")
    offer = {"title": "Large 135M", "base": SMOLLM2, "presets": REAL_PRESETS}
    return LazyModel("large", can_draft=True, block_range=(2, 16), loader=lambda: model, **offer)


def pair() -> Models:
    first = LazyModel.of(story_model(name="small"), title="small 5M")
    return Models([first, large()])


def switch(page):
    return page.get_by_role("radiogroup", name="Model", include_hidden=True)


def choice(page, name: str):
    return switch(page).get_by_role("radio", name=name)


def test_switching_keeps_the_prompt_changes_the_examples_and_decodes(serve, open_page, base):
    base.is_there = True
    page = open_page(serve(pair()))
    prompt = page.get_by_label("Prompt")
    prompt.fill("Why is the sky blue?")
    choice(page, "Large 135M").check()
    expect(page.get_by_role("button", name="Rewriting")).to_be_visible()
    expect(prompt).to_have_value("Why is the sky blue?")
    decode_button(page).click()
    has_begun(page)
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.model === 'large'")
    assert page.evaluate(f"{RUN}.main.text") == TEXT
    expect(page).to_have_url(re.compile("with=large"))
    page.reload()
    expect(choice(page, "Large 135M")).to_be_checked()
    choice(page, "small 5M").check()
    expect(page.get_by_role("button", name="Rewriting")).to_have_count(0)
    expect(prompt).to_have_value("Why is the sky blue?")  # also once it was decoded
    decode_button(page).click()
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.model === 'small'")


def test_a_prompt_of_ones_own_goes_to_the_model_that_takes_any_if_it_is_here(
    serve, open_page, base
) -> None:
    for is_there, name in ((False, "nano 5M"), (True, "Large 135M")):
        base.is_there = is_there
        nano = LazyModel.of(story_model(name="sbd-nano"), title="nano 5M")
        page = open_page(serve(Models([nano, large()])))
        expect(choice(page, "nano 5M")).to_be_checked()
        page.get_by_role("link", name="Set Block Decoding").click()
        # What plays there names its own model.
        expect(page.locator(".sbd-home-why")).to_contain_text("the whole model, nano 5M;")
        expect(switch(page)).to_be_hidden()
        page.get_by_role("button", name="Try your own prompt").click()
        expect(page.get_by_label("Prompt")).to_be_focused()
        expect(choice(page, name)).to_be_checked()
        expect(switch(page)).to_be_visible()


def test_learn_ends_with_examples_for_the_model_that_decodes(serve, open_page, base) -> None:
    base.is_there = True
    nano = LazyModel.of(story_model(name="sbd-nano"), title="nano 5M")
    page = open_page(f"{serve(Models([nano, large()]))}#learn/your-turn")
    first = page.get_by_role("group", name="Examples").get_by_role("button").first
    expect(first).to_have_text(presets()[0].prompts[0])
    choice(page, "Large 135M").click()
    expect(choice(page, "Large 135M")).to_be_checked()
    for scene, decodes in (("checking", False), ("your-turn", True)):
        page.evaluate(f"location.hash = '#learn/{scene}'")
        expect(switch(page)).to_be_visible(visible=decodes)
    expect(first).to_have_text(presets(REAL_PRESETS)[0].prompts[0])


def test_a_model_that_is_not_here_is_named_with_its_command_and_taken_once_it_is(
    serve, open_page, base
) -> None:
    page = open_page(serve(pair()))
    line = page.locator(".sbd-models-line")
    choice(page, "Large 135M").click()
    expect(line).to_contain_text("Large 135M is not on this machine; the command “sbd fetch”")
    expect(line).to_contain_text("Until then small 5M decodes.")
    expect(choice(page, "small 5M")).to_be_checked()
    line.get_by_role("button", name="Not now").click()
    expect(line).to_be_hidden()
    choice(page, "Large 135M").click()
    base.is_there = True
    expect(choice(page, "Large 135M")).to_be_checked()
    expect(line).to_be_hidden()


def test_a_link_decodes_with_the_settings_of_the_model_that_it_names(serve, open_page) -> None:
    first, nano = (
        LazyModel.of(story_model(name=name), title=name) for name in (REAL_MODEL, "sbd-nano")
    )
    page = open_page(f"{serve(Models([first, nano]))}?prompt=one&strategy=sbd&with=sbd-nano")
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.model === 'sbd-nano'")
    advanced(page)
    size = page.get_by_label("Block size").input_value()
    assert size == str(page.evaluate(f"{RUN}.config.block_size"))
    expect(page.get_by_text("Not this run")).to_have_count(0)


def test_the_form_says_what_a_model_and_a_recording_changed_in_it(serve, open_page, base) -> None:
    base.is_there = True
    nano = LazyModel.of(story_model(name="sbd-nano"), title="nano 5M")
    page = open_page(serve(Models([nano, large()])))
    line = page.locator(".sbd-status-line")
    slider = page.locator(".sbd-ways")
    before = slider.bounding_box()
    advanced(page)
    page.get_by_label("Block size").fill("4")
    choice(page, "Large 135M").check()
    expect(line).to_contain_text("With Large 135M the form now has")
    expect(line).to_contain_text("blocks of 16")
    choice(page, "nano 5M").check()
    page.get_by_label("Longest answer", exact=True).fill("64")
    page.get_by_role("button", name="Word problem").click()
    expect(line).to_contain_text("Recorded: the form now has")
    expect(line).to_contain_text("at most 128 tokens")
    assert slider.bounding_box() == before
