"""The form as it is drawn: nothing runs into its neighbour, and a finger can press it."""

import pytest

from tests.browser.conftest import advanced, choose_strategy, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

LEAST = 24
"""CSS pixels, either way, of what a finger presses."""
ARROWS = """() => [...document.querySelectorAll('#sbd-controls .secondary-wrap')]
  .filter((wrap) => wrap.checkVisibility())
  .map((wrap) => [wrap.querySelector('input').getBoundingClientRect().right,
    wrap.querySelector('.icon-wrap').getBoundingClientRect().left])"""
HINTS = """() => [...document.querySelectorAll('#sbd-controls .head')]
  .filter((head) => head.checkVisibility() && head.querySelector('.info-text'))
  .map((head) => [head.querySelector('.tab-like-container input').getBoundingClientRect().bottom,
    head.querySelector('.info-text').getBoundingClientRect().top])"""
LOW = """(least) => [...document.querySelectorAll(
    '#sbd-controls :is(button, input, textarea, .sbd-term), .sbd-stale-use, .sbd-host .sbd-term')]
  .filter((item) => item.checkVisibility() && item.getBoundingClientRect().height < least - 0.01)
  .map((item) => `${item.className} ${item.textContent} ${item.getBoundingClientRect().height}`)"""


def test_no_list_of_the_form_runs_under_its_arrow_and_no_hint_into_its_number(story):
    advanced(story)
    choose_strategy(story, "Verify")
    expect(story.get_by_label("number input for Drafts ahead")).to_be_visible()
    arrows, hints = story.evaluate(ARROWS), story.evaluate(HINTS)
    assert arrows
    assert all(right <= left for right, left in arrows), arrows
    assert hints
    assert all(bottom <= top for bottom, top in hints), hints
    strategy = story.get_by_label("Strategy")
    assert strategy.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_on_a_phone_what_the_form_and_the_stage_offer_is_tall_enough_for_a_finger(
    open_page, story_url
):
    page = open_page(story_url, 390, 844, has_touch=True, reduced_motion="reduce")
    advanced(page)
    assert page.evaluate(LOW, LEAST) == []
