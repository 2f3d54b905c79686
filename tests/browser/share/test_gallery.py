"""The gallery: a run opens by a click, and what is not there is refused."""

import json

import pytest

from sbd_core.errors import ArgumentError
from tests.browser.conftest import has_begun, state, sync_api
from ui import recordings

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_a_name_that_is_not_in_the_gallery_is_refused():
    for name in ("../opening", "", None, ["x"]):
        with pytest.raises(ArgumentError, match="must be one of the gallery"):
            recordings.gallery_traces(name)


def test_a_damaged_index_is_an_empty_gallery(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "GALLERY_INDEX", tmp_path / "index.json")
    for text in ("", "{", "[1]", json.dumps([{"name": "x"}])):
        (tmp_path / "index.json").write_text(text)
        recordings.gallery.cache_clear()
        assert recordings.gallery() == ()
    recordings.gallery.cache_clear()


def test_a_card_opens_its_run_in_the_player(story):
    item = recordings.gallery()[-1]
    trace = recordings.gallery_traces(item.name)[item.lanes[0]]
    expect(story.locator(".sbd-gallery-how")).to_have_text(recordings.HOW_CHOSEN)
    card = story.get_by_role("button", name=item.sentence)
    expect(card.locator(".sbd-gallery-stairs path")).to_have_count(2)
    card.click()
    has_begun(story)
    expect(story.locator(".sbd-prompt")).to_have_text(trace.prompt)
    shown = state(story)
    assert shown["main"]["steps"] == trace.num_forwards
    assert shown["main"]["text"] == trace.text
    assert shown["ntp"]["finish"] is not None
