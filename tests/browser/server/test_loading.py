"""The page before its model is there: it says so, keeps a Decode, and tells if loading fails."""

import pytest

from sbd_core.errors import ModelError
from tests.browser.conftest import decode_button, has_begun, state, sync_api
from tests.ui.doubles import ANSWER, Coming, story_model
from ui.decode.session import LOADING_TEXT

pytestmark = pytest.mark.browser


def test_a_decode_pressed_while_the_model_is_loading_waits_and_then_runs(serve, open_page):
    coming = Coming(story_model)
    page = open_page(serve(coming.lazy))
    try:
        title = page.locator(".sbd-model")
        sync_api.expect(title).to_have_text("story · loading …")
        decode_button(page).click()
        sync_api.expect(page.locator(".sbd-status-line")).to_have_text(LOADING_TEXT)
    finally:
        coming.go_on.set()
    has_begun(page)
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    assert state(page)["main"]["text"] == ANSWER
    sync_api.expect(title).to_have_text("story · 4.6 M parameters · cpu")


def test_a_model_that_cannot_be_loaded_is_told_on_the_page(serve, open_page):
    def load():
        raise ModelError("model: 'story' lacks weights")

    coming = Coming(load)
    page = open_page(serve(coming.lazy))
    coming.go_on.set()
    coming.lazy.load()
    words = "story could not be loaded: model: 'story' lacks weights"
    sync_api.expect(page.locator(".sbd-model")).to_have_text(words)
    decode_button(page).click()
    sync_api.expect(page.locator(".sbd-status-line")).to_have_text("model: 'story' lacks weights")
