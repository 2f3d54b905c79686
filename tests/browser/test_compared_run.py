"""A run compared with next-token prediction: passes, tokens, times."""

import re
from dataclasses import replace

import pytest

from tests.browser.conftest import details, go_to, state, sync_api, traces
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_moment_stands_apart_from_the_whole_run(replay):
    main, ntp = traces(story_model())
    moment, whole = replay.get_by_label("This moment"), replay.get_by_label("The whole run")
    saved = f"forward passes instead of {ntp.num_forwards}"
    rate = f"{main.tokens_per_forward:.2f} tokens a pass"
    go_to(replay, 0)
    for pass_index in range(3):
        expect(moment.locator(".sbd-number").first).to_have_text(str(pass_index + 1))
        expect(whole.locator(".sbd-number").first).to_have_text(str(main.num_forwards))
        expect(whole).to_contain_text(saved)
        expect(whole).not_to_contain_text("tokens a pass")
        replay.keyboard.press("ArrowRight")
    replay.keyboard.press("End")
    expect(whole).to_contain_text(rate)
    expect(moment).not_to_contain_text("tokens a pass")


def test_running_it_five_times_gives_median_and_range(story):
    story.get_by_role("button", name="Last forward pass").click()
    clock = story.locator(".sbd-number-clock")
    expect(clock).to_contain_text("one timing")
    details(story)
    story.get_by_role("button", name="run it 5 times").click()
    words = r"a token, median of 5 new runs, .+ to .+; next-token"
    expect(clock).to_contain_text(re.compile(words))
    expect(story.get_by_role("button", name="run it 5 times")).to_be_enabled()
    assert state(story)["run"] == "opening"


def cut(trace, count: int):
    """The first forward passes of a trace, as a run that was stopped there."""
    return replace(trace, events=trace.events[:count], finish="stopped")
