"""The form as it is drawn: nothing runs into its neighbour."""

import pytest

from tests.browser.conftest import EXACT, advanced, choose_strategy, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

ARROWS = """() => [...document.querySelectorAll('#sbd-controls .secondary-wrap')]
  .filter((wrap) => wrap.checkVisibility())
  .map((wrap) => [wrap.querySelector('input').getBoundingClientRect().right,
    wrap.querySelector('.icon-wrap').getBoundingClientRect().left])"""
HINTS = """() => [...document.querySelectorAll('#sbd-controls .head')]
  .filter((head) => head.checkVisibility() && head.querySelector('.info-text'))
  .map((head) => [head.querySelector('.tab-like-container input').getBoundingClientRect().bottom,
    head.querySelector('.info-text').getBoundingClientRect().top])"""


def test_no_list_of_the_form_runs_under_its_arrow_and_no_hint_into_its_number(story):
    choose_strategy(story, EXACT)
    advanced(story)
    expect(story.get_by_label("number input for Predrafts")).to_be_visible()
    arrows, hints = story.evaluate(ARROWS), story.evaluate(HINTS)
    assert arrows
    assert all(right <= left for right, left in arrows), arrows
    assert hints
    assert all(bottom <= top for bottom, top in hints), hints
    rows = story.locator("#sbd-row-policy-field input")
    assert rows.evaluate("box => box.scrollWidth <= box.clientWidth")
