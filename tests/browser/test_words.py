"""How many words each view shows before anything is asked for."""

import pytest

from tests.browser.conftest import on_watch

pytestmark = pytest.mark.browser

WORDS = """([root, isScreen]) => {
  const left = `a, button, label, legend, input, select, textarea, output, [role=slider],
    nav, header, footer, #sbd-controls, table, dl, canvas, svg, [aria-hidden=true], .sbd-live,
    .sbd-prompt, .sbd-race-prompt, .sbd-text, .sbd-race-text, .sbd-tiles`;
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const isSeen = node.parentElement.checkVisibility({ visibilityProperty: true });
    if (!node.data.trim() || !isSeen || node.parentElement.closest(left)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { top, height } = range.getBoundingClientRect();
    if (height && (!isScreen || (top >= 0 && top < innerHeight)))
      found.push(...node.data.split(/\\s+/).filter(Boolean));
  }
  return found;
}"""
"""Visible words outside of prompt, answer, controls and tables, on the screen or in a part."""


@pytest.mark.parametrize(
    ("view", "shown", "most"),
    [
        ("watch", ".sbd-tile", 60),
        ("race", ".sbd-race-card", 40),
        ("solvers", ".sbd-solver-comparison", 40),
        ("roofline", ".sbd-roofline dd", 40),
    ],
)
def test_a_view_shows_few_words_until_more_are_asked_for(open_page, story_url, view, shown, most):
    page = open_page(on_watch(story_url) if view == "watch" else f"{story_url}#{view}")
    page.wait_for_selector(shown)
    words = page.evaluate(WORDS, ["body", view == "watch"])
    assert 3 < len(words) <= most, (len(words), " ".join(words))


def test_under_the_hood_shows_few_words_until_more_are_asked_for(story):
    story.get_by_role("button", name="Under the hood").click()
    story.wait_for_selector(".sbd-hood-table")
    words = story.evaluate(WORDS, [".sbd-hood", False])
    assert 3 < len(words) <= 40, (len(words), " ".join(words))
