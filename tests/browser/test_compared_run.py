"""A run compared with next-token prediction: passes, tokens, times."""

import re
from dataclasses import replace

import pytest

from sbd_core.replay import replay_lines
from sbd_core.rules import EntropyBound
from tests.browser.conftest import details, go_to, push, state, sync_api, traces
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


def test_a_run_that_was_stopped_is_compared_over_its_own_tokens(replay):
    """Next-token prediction, in turn with it, had got half as far."""
    main, ntp = traces(story_model(), solver=EntropyBound(0.1))
    lanes = {"sbd": cut(main, 12), "ntp": cut(ntp, 12)}
    push(replay, replay_lines("stopped", lanes))
    replay.get_by_role("button", name="Last forward pass").click()
    written = state(replay)["main"]["fixed"]
    assert len(written) > 12
    expect(replay.locator(".sbd-headline-own")).to_have_text("12")
    expect(replay.locator(".sbd-headline-plain")).to_have_text(str(len(written)))
    details(replay)
    whole = replay.get_by_label("The whole run")
    expect(whole).to_contain_text(f"forward passes instead of {len(written)}")
    expect(whole).to_contain_text("time a token, one timing; next-token")
    expect(replay.locator(".sbd-numbers-why").first).to_contain_text("It was stopped.")


def test_an_answer_of_another_length_is_compared_by_the_token_in_the_headline(replay):
    main, ntp = traces(story_model(), max_new_tokens=32)
    push(replay, replay_lines("shorter", {"sbd": main, "ntp": ntp}))
    replay.get_by_role("button", name="Last forward pass").click()
    rate = f"{main.tokens_per_forward:.2f} tokens a pass"
    words = f"{main.num_tokens} tokens against {ntp.num_tokens}: {rate}"
    expect(replay.locator(".sbd-headline-why")).to_contain_text(words)
    expect(replay.locator(".sbd-headline-plain")).to_have_text(str(main.num_tokens))
