"""A trace in a notebook: the frame replays it on its own, shut off from the document around it."""

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.replay import Replay
from sbd_core.rules import EntropyBound
from tests.browser.conftest import HOSTILE, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_a_trace_replays_in_its_frame_and_touches_nothing_around_it(open_page, replay_url):
    trace = generate(story_model(HOSTILE * 2), "p", DecodeConfig(solver=EntropyBound(0.35)))
    page = open_page(replay_url)
    page.set_content(f"<!doctype html><title>notes</title>{Replay(trace)._repr_html_()}")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".sbd-host")).to_contain_text("forward passes")
    frame.get_by_role("button", name="Last forward pass").click()
    expect(frame.locator(".sbd-host")).to_contain_text(
        f"{trace.num_forwards} / {trace.num_forwards}"
    )
    assert page.evaluate("window.hacked") is None
    outer = "() => { try { return parent.document.title } catch { return 'shut off' } }"
    assert page.frames[1].evaluate(outer) == "shut off"
