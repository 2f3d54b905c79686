"""Whatever a link or a trace file asks for, the page stays small enough to live."""

import json
from typing import Any

import pytest

from tests.browser.conftest import painted, push, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

MAX_ELEMENTS = 5_000
COUNT = "document.querySelectorAll('*').length"
WICKED = "\u200b a\n\t\u202e " * 10
TOKENS = [[0, WICKED], [1, " word"], [2, "\n    "], [3, "\\xC3"]]


def lines_of(steps: list[dict[str, Any]], **start: Any) -> str:
    """Wire lines of a run whose lanes both make these steps."""
    run = {"strategy": "sbd", "solver": {"name": "entropy-bound", "gamma": 0.1}, "block_size": 16}
    bodies: list[dict[str, Any]] = [
        {"type": "run", "tokens": TOKENS, "prompt": "p", "lanes": ["sbd", "ntp"], **run, **start}
    ]
    for lane in bodies[0]["lanes"]:
        bodies += [{"type": "step", "lane": lane, "context": [9, 1], "time": 9, **s} for s in steps]
        bodies.append({"type": "end", "lane": lane, "finish": "length", "text": ""})
    bodies = [{"run": "huge", "seq": seq, **body} for seq, body in enumerate(bodies)]
    return "\n".join(json.dumps(body) for body in bodies)


def masked(start: int, stop: int) -> list[list[int]]:
    return [[at, 9000, 0, 5000, 2, 3000, 3, 500] for at in range(start, stop)]


def one_block(size: int) -> list[dict[str, Any]]:
    """All of a block masked, then half of it, then none."""
    halves = [[at, 0] for at in range(0, size, 2)], [[at, 2] for at in range(1, size, 2)]
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
            "reveals": [[2 * at, 0], [2 * at + 1, 2]],
            "committed": [0, 2],
        }
        for at in range(count)
    ]


def plain(count: int) -> list[dict[str, Any]]:
    return [{"block": [0, 0], "committed": [at % 4]} for at in range(count)]


RUNS = {
    "one block of 1,000": lines_of(one_block(1000), block_size=1000),
    "a block of a billion": lines_of([{"kind": "prefill", "block": [0, 10**9]}], block_size=10**9),
    "600 blocks": lines_of(many_blocks(600)),
    "next-token, block 100,000": lines_of(
        plain(500), strategy="ntp", lanes=["ntp"], block_size=100_000
    ),
    "a block far away": lines_of([{"block": [10**9, 10**9]}]),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_run_makes_more_elements_than_a_page_can_hold(story, name):
    push(story, RUNS[name])
    assert state(story)["run"] == "huge"
    story.get_by_role("button", name="First forward pass").click()
    counts = []
    for _ in range(4):
        painted(story)
        counts.append(story.evaluate(COUNT))
        story.keyboard.press("ArrowRight")
    story.get_by_role("button", name="Last forward pass").click()
    painted(story)
    counts.append(story.evaluate(COUNT))
    assert max(counts) <= MAX_ELEMENTS


def test_a_long_text_is_whole_and_its_newest_tokens_can_be_pointed_at(story):
    tokens = [[at, f" w{at}"] for at in range(500)]
    steps = [{"block": [0, 0], "committed": [at]} for at in range(500)]
    push(story, lines_of(steps, tokens=tokens, strategy="ntp", lanes=["ntp"]))
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


def test_a_block_of_more_positions_than_are_shown_says_so(story):
    push(story, RUNS["one block of 1,000"])
    expect(story.locator(".sbd-tiles-more")).to_have_text(
        "the first 64 of 1000 positions of the block"
    )
    expect(story.locator(".sbd-tile")).to_have_count(64)


def test_a_link_with_a_huge_block_does_not_freeze_the_tab(open_page, story_url):
    page = open_page(f"{story_url}?prompt=x&strategy=ntp&block=100000")
    painted(page)
    assert page.evaluate(COUNT) <= MAX_ELEMENTS
