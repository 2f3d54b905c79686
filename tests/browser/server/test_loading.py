"""The page before its model is there: it says so, keeps a Decode, and tells if loading fails."""

import pytest

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
