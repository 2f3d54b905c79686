"""The player alone, on a page without Gradio: replaying, stepping, previewing, hostile text."""

import re

import pytest

from sbd_core.rules import (
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyBoundFromLeft,
    EntropyThreshold,
)
from tests.browser.conftest import (
    go_to,
    recorded,
    state,
    sync_api,
    traces,
)
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_numbers_are_those_of_the_traces(replay):
    main, _ = traces(story_model())
    replay.get_by_role("button", name="Last forward pass").click()
    expect(replay.locator(".sbd-number")).to_have_text(
        [
            str(main.num_forwards),
            str(main.num_tokens),
            f"{main.tokens_per_forward:.2f}",
            str(main.num_forwards),
            re.compile(r"^[\d.]+ (ms|s)$"),
        ]
    )


def test_transport_and_keys_move_the_playhead(replay):
    replay.get_by_role("button", name="First forward pass").click()
    assert state(replay)["pass"] == 0
    for key, expected in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)]:
        replay.keyboard.press(key)
        assert state(replay)["pass"] == expected
    replay.keyboard.press("End")
    last = state(replay)
    assert last["pass"] == last["main"]["steps"] - 1
    replay.set_viewport_size({"width": 390, "height": 844})  # the staircase scrubs where it is wide
    replay.locator(".sbd-range").fill("3")
    assert state(replay)["pass"] == 2
    expect(replay.locator(".sbd-place")).to_have_text(f"forward pass 3 / {last['main']['steps']}")
    replay.locator(".sbd-range").blur()
    replay.keyboard.press(" ")
    assert state(replay)["isPlaying"]


def middle_of_cell(page, position: int, pass_index: int) -> tuple[float, float]:
    """Where on the screen the staircase draws a cell."""
    return page.evaluate(
        """([position, pass]) => {
      const { staircase } = document.querySelector('.sbd-host').sbdPlayer.parts;
      const { left, top } = staircase.stage.getBoundingClientRect();
      const { cellWidth, cellHeight } = staircase.geometry;
      return [left + staircase.margins.left + (position + 0.5) * cellWidth,
        top + staircase.margins.top + (pass + 0.5) * cellHeight];
    }""",
        [position, pass_index],
    )


def test_clicking_the_staircase_goes_to_its_pass_and_position(replay):
    replay.mouse.click(*middle_of_cell(replay, 0, 1))
    assert state(replay)["pass"] == 1
    expect(replay.locator(".sbd-inspector-kicker")).to_have_text("Position 0 · held")


def test_pointing_at_a_cell_of_the_staircase_reads_it_out(replay):
    go_to(replay, 1)
    box = replay.locator(".sbd-stairs-stage").bounding_box()
    replay.mouse.move(*middle_of_cell(replay, 0, 1))
    readout = replay.locator(".sbd-readout")
    expect(readout).to_contain_text("Position 0, forward pass 2")
    expect(readout).to_contain_text(re.compile(r"(revealed|best guess) “With” [\d.]+%"))
    expect(readout).to_contain_text(re.compile(r"entropy [\d.]+ nats"))
    replay.mouse.move(box["x"] + box["width"] - 9, box["y"] + 10)
    expect(readout).to_be_hidden()
    assert state(replay)["pass"] == 1


def test_dragging_gamma_lights_what_it_would_reveal_without_a_pass(replay):
    go_to(replay, 1)
    steps = state(replay)["main"]["steps"]
    box = replay.locator(".sbd-budget-track").bounding_box()
    replay.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 10)
    replay.mouse.down()
    replay.mouse.move(box["x"] + box["width"] - 1, box["y"] + 10, steps=5)
    replay.mouse.up()
    expect(replay.locator(".sbd-tile.is-would")).to_have_count(15)
    expect(replay.locator(".sbd-budget-note")).to_contain_text("15 would be revealed")
    replay.mouse.click(box["x"] + 1, box["y"] + 10)
    expect(replay.locator(".sbd-tile.is-would")).to_have_count(1)
    assert state(replay)["main"]["steps"] == steps


PREVIEWED = """(lines) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  player.push(lines);
  const wrong = [];
  player.run.main.steps.forEach((step, pass) => {
    if (!step.masked.size) return;
    player.state.pass = pass;
    player.state.gammaPreview = player.run.solver.gamma;
    const would = [...player.makeView().wouldReveal].sort((a, b) => a - b).join();
    const did = step.reveals.map((r) => r.position).sort((a, b) => a - b).join();
    if (would !== did) wrong.push([pass, would, did]);
  });
  return wrong;
}"""


def test_gamma_preview_at_the_recorded_gamma_is_what_was_revealed(replay):
    bounds = (EntropyBoundByConfidence, EntropyBoundByMargin, EntropyThreshold)
    solvers = [rule(gamma) for rule in (EntropyBound, EntropyBoundFromLeft) for gamma in (0.4, 0)]
    for number, solver in enumerate([*solvers, *(rule(0.4) for rule in bounds)]):
        lines = recorded(story_model(), f"preview {number}", solver=solver)
        assert replay.evaluate(PREVIEWED, lines) == [], solver


def test_reduced_motion_does_not_play_by_itself(open_page, replay_url):
    page = open_page(replay_url, reduced_motion="reduce")
    before = state(page)
    assert not before["isPlaying"]
    assert before["pass"] > 0
