"""A chat model does what people expect: a system message, follow-up questions, a new start."""

import re

import pytest

from tests.browser.conftest import RUN, advanced, decode, decode_button, has_begun, sync_api
from tests.ui.doubles import story_model
from ui.models import LazyModel, Models, Offer

pytestmark = pytest.mark.browser

expect = sync_api.expect


@pytest.fixture(scope="module")
def chat_url(serve) -> str:
    """A page over a chat model beside another."""
    names = ("chat", "other")
    first, other = [Offer(lambda name=name: LazyModel.of(story_model(name=name))) for name in names]
    return serve(Models([first, other]))


def test_a_follow_up_holds_what_was_said_and_the_form_starts_anew(open_page, chat_url) -> None:
    page = open_page(chat_url)
    page.get_by_label("Prompt").fill("Tell a story")
    lanes = page.locator(".sbd-lanes")
    before = lanes.bounding_box()["height"]
    decode(page)
    page.wait_for_function(f"{RUN}.isComplete")
    assert lanes.bounding_box()["height"] == before
    answer = page.evaluate(f"{RUN}.main.text")
    question = page.get_by_label("A follow-up to this answer")
    question.fill("<b>And then?</b>")
    question.press("Enter")
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.turns.length === 2")
    assert page.evaluate(f"{RUN}.turns") == [["user", "Tell a story"], ["assistant", answer]]
    before = page.locator(".sbd-turns")
    expect(before.locator("summary")).to_contain_text(
        "Question 2 of this conversation: <b>And then?</b>"
    )
    before.locator("summary").click()
    expect(before).to_contain_text("You: Tell a story")
    assert "prompt=" not in page.url  # a link holds no conversation
    question.fill("Tell another")
    page.get_by_role("button", name="Start anew").click()
    expect(page.get_by_label("Prompt")).to_be_focused()
    expect(page.get_by_label("Prompt")).to_have_value("Tell another")
    decode_button(page).click()
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.turns.length === 0")
    assert page.evaluate(f"{RUN}.prompt") == "Tell another"


def test_a_system_message_is_said_first_and_stands_in_the_link(open_page, chat_url) -> None:
    page = open_page(chat_url)
    stale = page.locator(".sbd-stale:not([role])")
    advanced(page)
    page.get_by_label("System message").fill("Answer in <i>rhymes</i>")
    decode(page)
    page.wait_for_function(f"{RUN}.isComplete")
    assert page.evaluate(f"{RUN}.turns") == [["system", "Answer in <i>rhymes</i>"]]
    expect(page.locator(".sbd-turns summary")).to_have_text("Its system message")
    expect(stale).to_be_hidden()
    expect(page).to_have_url(re.compile("system=Answer"))
    page.reload()
    page.wait_for_selector(".sbd-tile", state="attached")
    has_begun(page)
    assert page.evaluate(f"{RUN}.turns") == [["system", "Answer in <i>rhymes</i>"]]
    advanced(page)
    box = page.get_by_label("System message")
    expect(box).to_have_value("Answer in <i>rhymes</i>")
    box.fill("Be brief")
    expect(stale).to_contain_text("another system message")


def test_nano_is_told_nothing(open_page, measured_url) -> None:
    page = open_page(measured_url)
    advanced(page)
    expect(page.get_by_label("Answer with blanks")).to_be_visible()
    expect(page.get_by_label("System message")).to_have_count(0)
    decode(page)
    page.wait_for_function(f"{RUN}.isComplete && {RUN}.turns.length === 0")


def test_the_lesson_ends_in_an_exact_decode_by_a_chat_model(open_page, chat_url) -> None:
    page = open_page(f"{chat_url}#learn/your-turn")
    examples = page.get_by_role("group", name="Examples").get_by_role("button")
    expect(examples.first).to_have_text("What is the capital of France?")
    page.get_by_label("Your prompt").fill("my own prompt")
    page.get_by_role("button", name="Decode it").click()
    page.wait_for_function(f"{RUN}.prompt === 'my own prompt' && {RUN}.isComplete")
    assert page.evaluate(f"{RUN}.strategy") == "verify"
