"""Runs of any size and pace: passes painted in order, text copied, a page that stays small."""

import json
from typing import Any

import pytest

from sbd_core.config import DecodeConfig, StrategyName
from sbd_core.solvers import EntropyBound, TopK
from sbd_core.trace import config_json
from tests.browser.conftest import go_to, painted, push, recorded, state, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

COPIED = """(label) => {
  const lane = document.querySelector(`[aria-label="${label}"]`);
  getSelection().selectAllChildren(lane);
  const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true,
    cancelable: true });
  lane.dispatchEvent(event);
  return event.clipboardData.getData('text/plain');
}"""


def test_a_copied_text_has_no_letter_of_its_gaps(replay):
    lines = recorded(story_model(), "copied", solver=TopK(k=4))
    push(replay, lines)
    go_to(replay, 2)
    copied = replay.evaluate(COPIED, "Text decoded so far")
    assert 0 < len(copied) < len(state(replay)["main"]["text"])
    replay.keyboard.press("End")
    painted(replay)
    text = state(replay)["main"]["text"]
    assert replay.evaluate(COPIED, "Text decoded so far").startswith(text)


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
    expect(replay.locator(".sbd-place")).to_have_text(f"pass {total} / {total}")
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


MAX_ELEMENTS = 5_000
COUNT = "document.querySelectorAll('*').length"
WICKED = "\u200b a\n\t\u202e " * 10
TOKENS = {0: WICKED, 1: " word", 2: "\n    ", 3: "\\xC3"}


def lines_of(
    steps: list[dict[str, Any]],
    lanes: tuple[StrategyName, ...] = ("sbd", "ntp"),
    block_size: int = 16,
    tokens: dict[int, str] = TOKENS,
) -> str:
    """Lines of a run whose lanes all make these steps; numbers that no engine would write."""
    config = config_json(DecodeConfig(solver=EntropyBound(0.1)))
    configs = [config | {"strategy": lane, "block_size": block_size} for lane in lanes]
    bodies: list[dict[str, Any]] = [
        {"type": "run", "tokens": tokens, "prompt": "p", "lanes": configs}
    ]
    always = {"type": "step", "kind": "decode", "context": [9, 1], "seconds": 0.009}
    for lane in lanes:
        bodies += [{**always, "lane": lane, **step} for step in steps]
        bodies.append({"type": "end", "lane": lane, "finish": "length", "text": ""})
    bodies = [{"run": "huge", "seq": seq, **body} for seq, body in enumerate(bodies)]
    return "\n".join(json.dumps(body) for body in bodies)


def masked(start: int, stop: int) -> list[list[Any]]:
    return [[at, 0.9, [0, 2, 3], [0.5, 0.3, 0.05]] for at in range(start, stop)]


def revealed(positions: range, token: int) -> list[list[Any]]:
    return [[at, token, rank, 0.5] for rank, at in enumerate(positions)]


def one_block(size: int) -> list[dict[str, Any]]:
    """All of a block masked, then half of it, then none."""
    halves = revealed(range(0, size, 2), 0), revealed(range(1, size, 2), 2)
    tokens = [[0, 2][at % 2] for at in range(size)]
    block = [0, size]
    return [
        {"kind": "prefill", "block": block},
        {"block": block, "masked": masked(0, size), "reveals": halves[0]},
        {"block": block, "masked": masked(0, size)[1::2], "reveals": halves[1]},
        {"block": [size, size], "committed": tokens},
    ]


def many_blocks(count: int) -> list[dict[str, Any]]:
    """A block of two positions a pass."""
    return [
        {
            "block": [2 * at, 2],
            "masked": masked(2 * at, 2 * at + 2),
            "reveals": revealed(range(2 * at, 2 * at + 2), 0),
            "committed": [0, 0],
        }
        for at in range(count)
    ]


def plain(count: int) -> list[dict[str, Any]]:
    return [{"block": [0, 0], "committed": [at % 4]} for at in range(count)]


RUNS = {
    "one block of 1,000": lines_of(one_block(1000), block_size=1000),
    "a block of a billion": lines_of([{"kind": "prefill", "block": [0, 10**9]}], block_size=10**9),
    "600 blocks": lines_of(many_blocks(600)),
    "next-token, block 100,000": lines_of(plain(500), ("ntp",), block_size=100_000),
    "a block far away": lines_of([{"block": [10**9, 10**9]}]),
}


def test_no_run_makes_more_elements_than_a_page_can_hold(story):
    for name, lines in RUNS.items():
        push(story, lines.replace("huge", name))
        assert state(story)["run"] == name
        counts = []
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "End"):
            story.keyboard.press(key)
            painted(story)
            counts.append(story.evaluate(COUNT))
            if (name, key) == ("one block of 1,000", "Home"):
                said = "the first 64 of 1000 positions of the block"
                expect(story.locator(".sbd-tiles-more")).to_have_text(said)
        assert max(counts) <= MAX_ELEMENTS, name


def test_a_long_text_is_whole_and_its_newest_tokens_can_be_pointed_at(story):
    tokens = {at: f" w{at}" for at in range(500)}
    steps = [{"block": [0, 0], "committed": [at]} for at in range(500)]
    push(story, lines_of(steps, ("ntp",), tokens=tokens))
    story.get_by_role("button", name="Last forward pass").click()
    painted(story)
    text = story.get_by_label("Text decoded so far")
    assert text.inner_text().split() == [f"w{at}" for at in range(500)]
    newest = text.locator(".sbd-token").last
    newest.hover()
    expect(story.locator(".sbd-inspector-kicker")).to_have_text("Position 499")
    story.get_by_role("button", name="First forward pass").click()
    painted(story)
    assert text.inner_text().split() == ["w0"]
