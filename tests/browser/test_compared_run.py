"""What a run is compared with, and what is said of it: passes, tokens, times."""

import dataclasses
import re

import pytest

from sbd_core.replay import replay_lines
from tests.browser.conftest import details, go_to, push, state, sync_api, traces
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_moment_stands_apart_from_the_whole_run(replay):
    main, ntp = traces(story_model())
    moment, whole = replay.get_by_label("This moment"), replay.get_by_label("The whole run")
    saved = f"forward passes instead of {ntp.num_forwards}"
    ratio = f"{main.tokens_per_forward:.2f}× fewer"
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


def test_the_two_numbers_are_true_at_every_moment_and_of_the_whole_run_at_its_end(replay):
    main, ntp = traces(story_model())
    own, plain = replay.locator(".sbd-headline-own"), replay.locator(".sbd-headline-plain")
    go_to(replay, 3)
    expect(own).to_have_text("4")
    expect(plain).to_have_text(str(sum(len(event.reveals) for event in main.events[:4])))
    expect(replay.locator(".sbd-headline-clock")).to_contain_text("so far")
    replay.keyboard.press("End")
    expect(own).to_have_text(str(main.num_forwards))
    expect(plain).to_have_text(str(ntp.num_forwards))
    expect(replay.locator(".sbd-headline-clock")).to_contain_text(re.compile("faster|slower"))


def with_seconds(trace, seconds: float):
    """The trace, each of its forward passes as long as this."""
    events = tuple(dataclasses.replace(event, seconds=seconds) for event in trace.events)
    return dataclasses.replace(trace, events=events)


def test_fewer_passes_that_were_not_faster_say_why(replay):
    main, ntp = traces(story_model())
    why = replay.locator(".sbd-numbers-why").first
    slow = {"sbd": with_seconds(main, 0.02), "ntp": with_seconds(ntp, 0.001)}
    push(replay, replay_lines("slow", slow))
    expect(why).to_have_text(
        "Fewer forward passes were not faster here: one over a block took 20.0 ms, "
        "one over a single token 1.0 ms; reading the prompt took 20.0 ms, "
        "in next-token prediction 1.0 ms."
    )
    expect(replay.locator(".sbd-number-clock")).to_contain_text("one timing")
    replay.keyboard.press("End")
    expect(replay.locator(".sbd-headline-clock")).to_contain_text("slower")
    expect(replay.locator(".sbd-headline-why")).to_have_text(
        "a pass over several tokens costs more"
    )
    replay.locator(".sbd-headline-label").hover()
    expect(replay.locator(".sbd-term-note")).to_contain_text("were not faster here")
    fast = {"sbd": with_seconds(main, 0.001), "ntp": with_seconds(ntp, 0.001)}
    push(replay, replay_lines("fast", fast))
    expect(why).to_be_hidden()
    replay.keyboard.press("End")
    expect(replay.locator(".sbd-headline-clock")).to_contain_text("faster")
    expect(replay.locator(".sbd-headline-why")).to_be_empty()


def test_running_it_five_times_gives_median_and_range(story):
    story.get_by_role("button", name="Last forward pass").click()
    clock = story.locator(".sbd-number-clock")
    expect(clock).to_contain_text("one timing")
    details(story)
    story.get_by_role("button", name="run it 5 times").click()
    expect(clock).to_contain_text(re.compile(r"median of 5 new runs, .+ to .+; next-token"))
    expect(story.get_by_role("button", name="run it 5 times")).to_be_enabled()
    assert state(story)["run"] == "opening"
