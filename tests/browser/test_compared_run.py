"""What a run is compared with, and what is said of it: passes, tokens, times."""

import re

import pytest

from tests.browser.conftest import details, go_to, state, sync_api, traces
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_moment_stands_apart_from_the_whole_run(replay):
    main, ntp = traces(story_model())
    moment, whole = replay.get_by_label("This moment"), replay.get_by_label("The whole run")
    saved = f"forward passes instead of {ntp.num_forwards}"
    ratio = f"{main.tokens_per_forward:.2f} tokens a pass"
    go_to(replay, 0)
    for pass_index in range(3):
        expect(moment.locator(".sbd-number").first).to_have_text(str(pass_index + 1))
        expect(whole.locator(".sbd-number").first).to_have_text(str(main.num_forwards))
        expect(whole).to_contain_text(saved)
        expect(replay.locator(".sbd-numbers")).not_to_contain_text("×")
        replay.keyboard.press("ArrowRight")
    replay.keyboard.press("End")
    expect(whole).to_contain_text(ratio)
    expect(moment).not_to_contain_text("×")


def test_running_it_five_times_gives_median_and_range(story):
    story.get_by_role("button", name="Last forward pass").click()
    clock = story.locator(".sbd-number-clock")
    expect(clock).to_contain_text("one timing")
    details(story)
    story.get_by_role("button", name="run it 5 times").click()
    expect(clock).to_contain_text(re.compile(r"median of 5 new runs, .+ to .+; next-token"))
    expect(story.get_by_role("button", name="run it 5 times")).to_be_enabled()
    assert state(story)["run"] == "opening"
