"""Answers in Hebrew and Arabic: lane and tiles in reading order, numbers among the words."""

import json
from itertools import pairwise

import pytest

from tests.browser.conftest import go_to, painted, push, state, sync_api
from tests.browser.conftest import recorded as run_lines
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect
PLACES = """() => [...document.querySelectorAll('[data-lane=sbd] .sbd-token-token .sbd-word')]
  .map((word) => { const { left, top } = word.getBoundingClientRect(); return [left, top]; })"""


def lines_in(words: list[str]) -> str:
    """A run of a scripted model whose tokens are these words, in turns of their ids."""
    rows = [json.loads(line) for line in run_lines(story_model(), words[0]).splitlines()]
    for row in rows:
        for token, text in row.get("tokens", {}).items():
            if not text.startswith("<"):
                row["tokens"][token] = f" {words[int(token) % len(words)]}"
    return "\n".join(json.dumps(row) for row in rows)


def steps_within_lines(page) -> list[float]:
    """How far each word is to the right of the word before it on its line."""
    places = page.evaluate(PLACES)
    assert len(places) > 20
    pairs = pairwise(places)
    return [after[0] - before[0] for before, after in pairs if abs(after[1] - before[1]) < 4]


@pytest.mark.parametrize(
    "words",
    [["שלום", "עולם", "ספר"], ["مرحبا", "12", "كتاب", "٣"], ["שלום", "2025", "בית", "8"]],
    ids=["Hebrew", "Arabic with numbers", "Hebrew with numbers"],
)
def test_words_and_tiles_run_from_right_to_left(story, words):
    push(story, lines_in(words))
    last = state(story)["main"]["steps"] - 1
    story.get_by_role("button", name="Last forward pass").click()
    painted(story)
    steps = steps_within_lines(story)
    assert steps
    assert all(step < 0 for step in steps)
    go_to(story, last // 2)
    lefts = story.locator(".sbd-tile").evaluate_all(
        "all => all.slice(0, 4).map((tile) => tile.getBoundingClientRect().left)"
    )
    assert lefts == sorted(lefts, reverse=True)


def test_a_latin_answer_runs_from_left_to_right_and_so_do_its_tiles(story):
    push(story, lines_in(["hello", "12", "book"]))
    story.get_by_role("button", name="Last forward pass").click()
    painted(story)
    assert all(step > 0 for step in steps_within_lines(story))
    expect(story.locator(".sbd-tiles").first).to_have_attribute("dir", "ltr")
