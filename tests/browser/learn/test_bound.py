"""The scene of the entropy bound: gamma is dragged, and the tiles show what it keeps."""

import re

import pytest

from tests.browser.conftest import sync_api
from tests.browser.learn.conftest import answer, drag
from ui.learn.recorded import recorded

pytestmark = pytest.mark.browser
expect = sync_api.expect

LABEL_AND_END = """() => [
  document.querySelector('.sbd-budget-free').getBoundingClientRect().right,
  [...document.querySelectorAll('.sbd-budget-tick')].filter((tick, at, all) =>
    at === all.length - 1 && !tick.classList.contains('is-under'))[0]
    ?.getBoundingClientRect().left ?? null]"""


def num_kept(total) -> int:
    expect(total).to_contain_text("it keeps")
    return int(re.search(r"keeps (\d+) of", total.inner_text())[1])


def test_dragging_gamma_keeps_more_by_pointer_and_by_key(lesson):
    page = lesson("the-bound")
    total = page.locator(".sbd-learn-count")
    few = num_kept(total)
    assert few >= 1
    before = total.text_content()
    drag(page, page.locator(".sbd-budget-track"), 0.9)
    expect(answer(page)).not_to_be_empty()
    expect(total).not_to_have_text(before)
    many = num_kept(total)
    assert many > few
    expect(page.locator(".sbd-tile.is-new")).to_have_count(many)
    page.get_by_role("slider").focus()
    before = total.text_content()
    for _ in range(5):
        page.keyboard.press("PageDown")
    expect(total).not_to_have_text(before)


def test_the_axis_of_the_bound_is_named_at_once_and_its_end_never_lies_under_the_label(lesson):
    page = lesson("the-bound", 1920, 1080)
    expect(page.locator(".sbd-budget-tick:not(.is-under)").nth(2)).to_be_visible()
    page.keyboard.press("l")
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    expect(page.locator(".sbd-learn-count")).to_contain_text("16 of 16")
    ends = page.evaluate(LABEL_AND_END)
    assert ends[1] is None or ends[0] <= ends[1], ends


def test_the_tiles_of_the_bound_show_what_this_gamma_keeps_and_nothing_else(lesson):
    page = lesson("the-bound")
    total = page.locator(".sbd-learn-count")
    kept = page.locator(".sbd-learn-bound .sbd-tile.is-new")
    before = num_kept(total)
    expect(kept).to_have_count(before)
    text = total.text_content()
    page.keyboard.press("ArrowRight")
    expect(total).not_to_have_text(text)
    assert num_kept(total) > before
    expect(kept).to_have_count(num_kept(total))
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    expect(total).to_contain_text("keeps 16 of 16")
    expect(kept).to_have_count(16)
    named = "all => all.map(n => [n.title, n.querySelector('.sbd-tile-pass').textContent])"
    for title, call in kept.evaluate_all(named):
        assert "revealed in this forward pass" in title
        assert call == f"call {recorded().choices.bound_pass + 1}"
