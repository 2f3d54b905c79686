"""Pins and branches grow a tree of runs: kept, stepped through, their endings compared."""

import re

import pytest

from tests.browser.conftest import decode, go_to, painted, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

COMPLETE = """(old) => { const { run } = document.querySelector('.sbd-host').sbdPlayer;
  return run.id !== old && run.isComplete; }"""


def rows(page):
    return page.locator(".sbd-tree-row")


def intervene(page, key: str, tile: int = 1, passes: int = 1):
    """Choose the second candidate of a tile and press the key; wait for the run it makes."""
    go_to(page, passes)
    page.locator(".sbd-tile").nth(tile).click()
    page.locator(".sbd-top-row").nth(1).click()
    old = state(page)["run"]
    page.keyboard.press(key)
    page.wait_for_function(COMPLETE, arg=old)
    painted(page)


def test_no_tree_before_there_is_a_branch(story):
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()


def test_pins_and_branches_grow_a_tree_and_every_run_is_kept(story):
    decode(story)
    first = state(story)
    intervene(story, "p")
    expect(rows(story)).to_have_count(2)
    expect(rows(story).nth(0)).to_contain_text("first run")
    expect(rows(story).nth(1)).to_contain_text(re.compile(r"pin “.*” at 1"))
    expect(rows(story).nth(1)).to_have_attribute("aria-pressed", "true")
    pinned = state(story)["run"]

    rows(story).nth(0).click()
    expect(rows(story).nth(0)).to_have_attribute("aria-pressed", "true")
    assert state(story)["main"] == first["main"]
    assert state(story)["run"] == first["run"]
    intervene(story, "b", tile=2)
    expect(rows(story)).to_have_count(3)
    expect(rows(story).nth(2)).to_contain_text(re.compile(r"branch at pass 2, “.*” at 2"))

    story.keyboard.press("[")
    assert state(story)["run"] == pinned
    story.keyboard.press("[")
    story.keyboard.press("[")
    assert state(story)["run"] == first["run"]
    story.keyboard.press("]")
    assert state(story)["run"] == pinned


def test_a_branch_of_a_branch_stands_below_it_and_decode_starts_afresh(story):
    decode(story)
    intervene(story, "p")
    intervene(story, "b", tile=3)
    depths = rows(story).evaluate_all("all => all.map(n => n.style.getPropertyValue('--depth'))")
    assert depths == ["0", "1", "2"]
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()


def test_the_endings_are_compared_and_what_differs_is_marked(story):
    decode(story)
    intervene(story, "p")
    expect(rows(story).nth(1)).to_contain_text("differ")
    texts = story.locator(".sbd-ending-text")
    marked = texts.nth(1).locator(".sbd-differs")
    expect(marked).not_to_have_count(0)
    expect(texts.nth(0)).to_contain_text("The answer is 121.")
    story.keyboard.press("[")
    expect(story.locator(".sbd-endings")).to_be_hidden()
