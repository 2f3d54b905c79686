"""The player alone, on a page without Gradio: replaying, stepping, previewing, hostile text."""

import re

import pytest

from sbd_core.config import (
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyThreshold,
)
from tests.browser.conftest import HOSTILE, painted, recorded, state, traces
from tests.ui.doubles import ANSWER, story_model
from ui import view_model

pytestmark = pytest.mark.browser


def tile_texts(page):
    return page.locator(".sbd-tile-token").all_inner_texts()


def test_numbers_are_those_of_the_traces(replay):
    main, ntp = traces(story_model())
    expected = view_model.summary(main, ntp)
    replay.get_by_role("button", name="Last pass").click()
    painted(replay)
    values = replay.locator(".sbd-number").all_inner_texts()
    assert values[:4] == [
        str(expected.num_forwards),
        str(expected.num_tokens),
        f"{expected.tokens_per_forward:.2f}",
        f"{expected.passes_saved:.1f}×",
    ]
    assert re.fullmatch(r"[\d.]+ (ms|s)", values[4])


def test_transport_and_keys_move_the_playhead(replay):
    replay.get_by_role("button", name="First pass").click()
    assert state(replay)["pass"] == 0
    for key, expected in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)]:
        replay.keyboard.press(key)
        assert state(replay)["pass"] == expected
    replay.keyboard.press("End")
    last = state(replay)
    assert last["pass"] == last["main"]["steps"] - 1
    replay.locator(".sbd-range").fill("3")
    assert state(replay)["pass"] == 2
    assert replay.locator(".sbd-place").inner_text() == f"pass 3 / {last['main']['steps']}"
    replay.locator(".sbd-range").blur()
    replay.keyboard.press(" ")
    assert state(replay)["isPlaying"]


def test_every_tile_state_can_be_replayed_backwards(replay):
    forward = []
    replay.get_by_role("button", name="First pass").click()
    for _ in range(state(replay)["main"]["steps"]):
        painted(replay)
        forward.append(tile_texts(replay))
        replay.keyboard.press("ArrowRight")
    for expected in reversed(forward):
        painted(replay)
        assert tile_texts(replay) == expected
        replay.keyboard.press("ArrowLeft")


def test_clicking_the_staircase_goes_to_its_pass_and_position(replay):
    stage = replay.locator(".sbd-stairs-stage")
    box = stage.bounding_box()
    replay.mouse.click(box["x"] + 10, box["y"] + 20)
    painted(replay)
    assert state(replay)["pass"] == 1
    assert "Position 0 · held" in replay.locator(".sbd-inspector-kicker").inner_text()


def test_dragging_gamma_lights_what_it_would_reveal_without_a_pass(replay):
    replay.get_by_role("button", name="First pass").click()
    replay.keyboard.press("ArrowRight")
    steps = state(replay)["main"]["steps"]
    box = replay.locator(".sbd-budget-track").bounding_box()
    replay.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 10)
    replay.mouse.down()
    replay.mouse.move(box["x"] + box["width"] - 1, box["y"] + 10, steps=5)
    replay.mouse.up()
    painted(replay)
    assert replay.locator(".sbd-tile.is-would").count() == 16
    assert "16 would be revealed" in replay.locator(".sbd-budget-note").inner_text()
    replay.mouse.click(box["x"] + 1, box["y"] + 10)
    painted(replay)
    assert replay.locator(".sbd-tile.is-would").count() == 1
    assert state(replay)["main"]["steps"] == steps


@pytest.mark.parametrize(
    "solver",
    [
        EntropyBound(0.4),
        EntropyBound(0.0),
        EntropyBoundByConfidence(0.4),
        EntropyBoundByMargin(0.4),
        EntropyThreshold(0.3),
    ],
)
def test_gamma_preview_at_the_recorded_gamma_is_what_was_revealed(replay, solver):
    lines = recorded(story_model(), "preview", solver=solver)
    wrong = replay.evaluate(
        """(lines) => {
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
    }""",
        lines,
    )
    assert wrong == []


@pytest.mark.parametrize("width", [390, 1100, 1600])
def test_nothing_moves_while_tokens_stream_in(open_page, replay_url, width):
    replay = open_page(replay_url, width, 1000)
    boxes = """() => ['.sbd-tiles', '.sbd-budget', '.sbd-stairs-stage', '.sbd-transport']
        .map((s) => document.querySelector(s).getBoundingClientRect())
        .map((r) => [r.x, r.y, r.width, r.height].join())"""
    replay.get_by_role("button", name="First pass").click()
    seen = set()
    for _ in range(state(replay)["main"]["steps"]):
        painted(replay)
        seen.add(str(replay.evaluate(boxes)))
        replay.keyboard.press("ArrowRight")
    assert len(seen) == 1


def test_reduced_motion_does_not_play_by_itself(open_page, replay_url):
    page = open_page(replay_url, reduced_motion="reduce")
    before = state(page)
    assert not before["isPlaying"]
    assert before["pass"] > 0


def test_lands_tokens_out_of_order_and_ends_on_the_text(replay):
    passes = dict(state(replay)["main"]["fixed"])
    assert any(passes[p] < passes[q] for p in passes for q in passes if p > q)
    replay.get_by_role("button", name="Last pass").click()
    painted(replay)
    text = replay.get_by_label("Text decoded so far").inner_text()
    assert text.removesuffix("end").strip() == ANSWER


def test_lines_may_come_late_twice_or_from_an_old_run(replay):
    lines = recorded(story_model(), "late").split("\n")
    old = recorded(story_model(), "old").split("\n")
    push = "(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)"
    replay.evaluate(push, old[0])
    replay.evaluate(push, "\n".join(lines[:9]))
    replay.get_by_role("button", name="Last pass").click()
    seen = state(replay)
    assert seen["main"]["steps"] == 4
    replay.evaluate(push, "\n".join(lines[:9]))
    replay.evaluate(push, "\n".join(old[1:5]))
    assert state(replay) == seen
    replay.evaluate(push, "\n".join(lines))
    assert state(replay)["main"]["text"] == ANSWER
    assert state(replay)["pass"] == seen["pass"]


def test_hostile_tokens_are_shown_as_text_and_nothing_runs(replay):
    lines = recorded(story_model(HOSTILE * 2), "hostile", prompt="<b>${window.hacked=1}</b>")
    replay.evaluate("(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)", lines)
    replay.get_by_role("button", name="First pass").click()
    for _ in range(state(replay)["main"]["steps"]):
        replay.keyboard.press("ArrowRight")
        painted(replay)
    shown = replay.get_by_label("Text decoded so far").inner_text()
    for text in HOSTILE:
        if text.isprintable():
            assert text.strip() in shown
    for mark in ("U+202E", "U+0000", "U+001B"):
        assert mark in shown
    assert replay.locator(".sbd-prompt").inner_text() == "<b>${window.hacked=1}</b>"
    assert replay.evaluate("window.hacked") is None


def test_spaces_and_line_breaks_can_be_seen_on_tiles(replay):
    pieces = [" ", "\n", "  ", "\t", " word", "two words", "\n    return"]
    lines = recorded(story_model(pieces), "spaces")
    replay.evaluate("(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)", lines)
    replay.get_by_role("button", name="Last pass").click()
    painted(replay)
    assert tile_texts(replay)[:7] == ["·", "⏎", "··", "⇥", "·word", "two words", "⏎····return"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_without_sideways_scrolling(open_page, replay_url, scheme):
    page = open_page(replay_url, 390, 844, color_scheme=scheme)
    painted(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = page.locator(".sbd-tile").evaluate_all("all => all.map(n => n.offsetTop)")
    assert len(set(tops)) == 2
