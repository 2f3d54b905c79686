"""Whatever a link or a trace file asks for, the page stays small enough to live."""

import json
from typing import Any

import pytest

from sbd_core.config import DecodeConfig, StrategyName
from sbd_core.solvers import EntropyBound
from sbd_core.trace import config_to_data
from tests.browser.conftest import painted, push, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

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
    config = config_to_data(DecodeConfig(solver=EntropyBound(0.1)))
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
