"""Answers that are read from the right: lanes and tiles show them in reading order."""

import json
from itertools import pairwise

import pytest

from sbd_core.replay import page_of
from tests.browser.conftest import painted, push, recorded, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

HEBREW = ["שלום", " עולם", ",", " זה", " ספר", " טוב"]
ARABIC = ["في", " عام", " 2025", " كتبت", " 3", " كتب"]
MIXED = ["הספר", " Set", " Block", " Decoding", " יצא", " ב", "2025"]
ENGLISH = ["Set", " Block", " Decoding", " הספר", " הטוב", " here"]
CENTRES = """(root) => [...root.querySelectorAll('.sbd-token, .sbd-compare-token')]
  .map((token) => [token.textContent.trim(), token.querySelector('.sbd-word') ?? token])
  .filter(([text, node]) => text && node.getClientRects().length)
  .map(([text, node]) => [text, node.getBoundingClientRect()])
  .sort(([, a], [, b]) => (a.left + a.right) - (b.left + b.right))
  .map(([text]) => text)"""
"""The words of a lane of one line as an eye meets them from the left."""


def seen(pieces: list[str]) -> list[str]:
    """What Unicode's bidirectional algorithm makes of a line, from the left."""
    words = [piece.strip() for piece in pieces]
    if pieces is ENGLISH:
        return ["Set", "Block", "Decoding", "הטוב", "הספר", "here"]
    if pieces is MIXED:
        return ["2025", "ב", "יצא", "Set", "Block", "Decoding", "הספר"]
    return words[::-1]


@pytest.mark.parametrize(
    "pieces", [HEBREW, ARABIC, MIXED, ENGLISH], ids=["hebrew", "arabic", "mixed", "english"]
)
def test_words_and_tiles_stand_in_reading_order(open_page, tmp_path, pieces) -> None:
    file = tmp_path / "replay.html"
    file.write_text(page_of(recorded(story_model(pieces), "run")), encoding="utf-8")
    page = open_page(file.as_uri())
    page.get_by_role("button", name="Last forward pass").click()
    painted(page)
    is_from_right = pieces is not ENGLISH
    expect(
        page.locator(f'.sbd-text-inner[dir="{"rtl" if is_from_right else "ltr"}"]')
    ).to_have_count(2)
    words = page.locator(".sbd-text-inner").first.evaluate(CENTRES)
    assert [word for word in words if word != "end"] == seen(pieces)
    first, second = (page.locator(".sbd-tile").nth(i).bounding_box()["x"] for i in (0, 1))
    assert (first > second) == is_from_right


def test_lanes_of_compare_are_read_from_the_right_too(serve, open_page) -> None:
    page = open_page(f"{serve(story_model(HEBREW))}#compare")
    page.get_by_role("button", name="Compare", exact=True).click()
    lane = page.locator(".sbd-compare-text").first
    page.get_by_role("button", name="Finish (End)").click()
    expect(lane).to_contain_text("end", timeout=60_000)
    expect(lane).to_have_attribute("dir", "rtl")
    words = [word for word in lane.evaluate(CENTRES) if word != "end"]
    assert words == seen(HEBREW)


PLACES = """() => [...document.querySelectorAll('[data-lane=sbd] .sbd-token-token .sbd-word')]
  .map((word) => { const { left, top } = word.getBoundingClientRect(); return [left, top]; })"""


def lines_in(words: list[str]) -> str:
    """A run of a scripted model whose tokens are these words, in turns of their ids."""
    rows = [json.loads(line) for line in recorded(story_model(), words[0]).splitlines()]
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
def test_words_of_several_lines_run_from_right_to_left(story, words):
    push(story, lines_in(words))
    story.get_by_role("button", name="Last forward pass").click()
    painted(story)
    steps = steps_within_lines(story)
    assert steps
    assert all(step < 0 for step in steps)
