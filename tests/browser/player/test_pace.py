"""Long and quick runs: every pass is painted, in parts, and its tokens land in their order."""

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.run_lines import replay_lines
from sbd_core.solvers import EntropyBound, TopK
from tests.browser.conftest import go_to, painted, push, recorded, state, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

WORDS = ["In", " the", " old house", ",", " nobody", " knew", "\n", " a", "  word", ".", "\n\n"]
WORDS += ["It", " was unbelievably", " quiet", "é", " —", "ing", " x=1", "\t", "y"]
NUM_TOKENS = 420

PARTS = """(label) => [...document.querySelectorAll(`[aria-label="${label}"] .sbd-part-of-text`)]
  .map((part) => part.childElementCount)"""
COPIED = """(label) => {
  const lane = document.querySelector(`[aria-label="${label}"]`);
  getSelection().selectAllChildren(lane);
  const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true,
    cancelable: true });
  lane.dispatchEvent(event);
  return event.clipboardData.getData('text/plain');
}"""
LANES = ("Text decoded so far", "Next-token text so far")


@pytest.fixture(scope="module")
def long_lines() -> str:
    pieces = [WORDS[(i * i + i // 7) % len(WORDS)] for i in range(NUM_TOKENS)]
    model = story_model(pieces, max_positions=1 << 12)
    sbd = DecodeConfig(solver=TopK(k=4), max_new_tokens=NUM_TOKENS)
    ntp = DecodeConfig(strategy="ntp", solver=EntropyBound(), max_new_tokens=NUM_TOKENS)
    traces = {"sbd": generate(model, "p", sbd), "ntp": generate(model, "p", ntp)}
    return replay_lines("long", traces)


def seek(page, pass_index: int):
    page.evaluate(f"document.querySelector('.sbd-host').sbdPlayer.seek({pass_index}, true)")
    painted(page)


def test_a_long_text_is_laid_out_in_parts_that_read_as_one(replay, long_lines):
    push(replay, long_lines)
    seek(replay, state(replay)["main"]["steps"] - 1)
    for label in LANES:
        parts = replay.evaluate(PARTS, label)
        assert len(parts) >= 2
        assert max(parts) < NUM_TOKENS / 2
    assert replay.evaluate(COPIED, LANES[0]).startswith(state(replay)["main"]["text"])


PAINTED = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const paint = player.paint.bind(player);
  window.paintedPasses = [];
  player.paint = () => {
    paint();
    const pass = parseInt(document.querySelector('.sbd-place').textContent.replace(/\\D+/, ''));
    if (window.paintedPasses.at(-1) !== pass) window.paintedPasses.push(pass);
  };
}"""


def test_every_pass_of_a_run_that_is_less_than_a_second_ahead_is_painted_in_order(replay):
    lines = recorded(story_model(), "bursts", solver=TopK(k=1), max_new_tokens=30)
    rows = lines.replace('"is_recorded":true', '"is_recorded":false').split("\n")
    replay.evaluate(PAINTED)
    replay.get_by_label("Speed").select_option("4")
    for start in range(0, len(rows), 12):
        push(replay, "\n".join(rows[start : start + 12]))
    total = state(replay)["main"]["steps"]
    expect(replay.locator(".sbd-place")).to_have_text(f"forward pass {total} / {total}")
    shown = replay.evaluate("window.paintedPasses")
    # The first pass only read the prompt; a live run opens on the next.
    assert shown[shown.index(2) :] == list(range(2, total + 1))


REVEALS = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const step = player.run.main.steps[player.state.pass];
  const landing = document.getAnimations().filter((a) => a.effect.target.matches?.('.sbd-tile'))
    .filter((a) => a.constructor === Animation)
    .map((a) => [a.effect.getTiming().delay,
      Number(a.effect.target.querySelector('.sbd-tile-position').textContent)]);
  return { landing: landing.sort((a, b) => a[0] - b[0]).map((pair) => pair[1]),
    reveals: step.reveals.map((each) => each.position) };
}"""


def slowly(page):
    """Let every animation run at a thousandth of its speed, so that it can be looked at."""
    client = page.context.new_cdp_session(page)
    client.send("Animation.enable")
    client.send("Animation.setPlaybackRate", {"playbackRate": 0.001})


def test_tokens_of_a_pass_land_in_the_order_of_their_entropy(replay):
    slowly(replay)
    go_to(replay, 1)
    seen = replay.evaluate(REVEALS)
    assert len(seen["reveals"]) > 2
    assert seen["landing"] == seen["reveals"]


def test_nothing_lands_on_the_way_back_or_without_motion(open_page, replay_url):
    page = open_page(replay_url)
    slowly(page)
    go_to(page, 2)
    page.keyboard.press("ArrowLeft")
    painted(page)
    assert page.evaluate(REVEALS)["landing"] == []
    calm = open_page(replay_url, reduced_motion="reduce")
    slowly(calm)
    go_to(calm, 1)
    assert calm.evaluate(REVEALS)["landing"] == []
