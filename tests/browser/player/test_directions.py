"""Answers that are read from the right: lanes and tiles show them in reading order."""

import pytest

from sbd_core.replay import page_of
from tests.browser.conftest import painted, recorded, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

HEBREW = ["שלום", " עולם", ",", " זה", " ספר", " טוב"]
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


@pytest.mark.parametrize("pieces", [HEBREW, MIXED, ENGLISH], ids=["hebrew", "mixed", "english"])
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
