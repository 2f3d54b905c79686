"""Verify in the player: what its tiles mean, and the predrafts as branches under them."""

import re

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.replay import replay_html, replay_lines
from tests.browser.conftest import (
    EXACT,
    PAPER,
    RUN,
    advanced,
    choose_strategy,
    decode,
    go_to,
    painted,
    push,
    state,
    sync_api,
)
from tests.browser.test_access import serious
from tests.ui.doubles import ANSWER, MASK, story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect
SETTINGS = {"strategy": "verify", "num_predrafts": 4, "draft_threshold": 0.1}


def mistaken_model(answer=ANSWER):
    """Its drafts are wrong at every fifth position."""
    model = story_model(answer)
    block_logits = model.block_logits

    def mistaken_logits(tokens, block):
        rows = block_logits(tokens, block)
        for index, row in enumerate(rows):
            if block[index] == MASK and (len(tokens) + index) % 5 == 0:
                best = row.index(max(row))
                row[3 + (best - 2) % (len(row) - 3)] = max(row) + 0.5
        return rows

    model.block_logits = mistaken_logits
    return model


@pytest.fixture(scope="module")
def trace():
    done = generate(mistaken_model(), "p", DecodeConfig(max_new_tokens=128, **SETTINGS))
    assert any(item.is_used for event in done.events for item in event.predrafts)
    return done


def passes_with(trace, is_used: bool) -> int:
    """A forward pass whose predrafts are of use, or of none."""
    return next(
        event.index
        for event in trace.events
        if event.predrafts and any(item.is_used for item in event.predrafts) is is_used
    )


@pytest.fixture
def shown(replay, trace):
    push(replay, replay_lines("verify", {"verify": trace}))
    return replay


def test_drafts_made_ahead_hang_behind_their_token_and_the_one_used_is_joined_on(shown, trace):
    index = passes_with(trace, is_used=True)
    go_to(shown, index)
    event = trace.events[index]
    branches = shown.locator(".sbd-branch")
    expect(branches).to_have_count(sum(bool(item.token_ids) for item in event.predrafts))
    (used,) = [item for item in event.predrafts if item.is_used]
    expect(shown.locator(".sbd-branch.is-used")).to_have_count(1)
    expect(shown.locator(".sbd-branches-words")).to_contain_text("that one is the draft now")
    # It stands behind the token that it replaces; its first is the draft at the place after that.
    line = shown.locator(".sbd-branch.is-used")
    places = [f'.sbd-tile[title^="Position {used.block.start + offset}:"]' for offset in (0, 1)]
    struck, tile = (shown.locator(place) for place in places)
    expect(line.locator(".sbd-branch-instead")).to_have_text(
        struck.locator(".sbd-tile-struck").inner_text()
    )
    expect(tile).to_have_class(re.compile("is-draft"))
    expect(line.locator(".sbd-branch-token").first).to_have_text(
        tile.locator(".sbd-tile-token").inner_text()
    )


def test_every_tile_of_verify_has_the_look_of_an_entry_of_its_legend(shown, trace):
    kinds = set()
    go_to(shown, 0)
    for _ in range(trace.num_forwards):
        looks = shown.locator(".sbd-tile").evaluate_all("all => all.map((n) => n.className)")
        kinds |= {re.search(r"is-(\w+)", look)[1] for look in looks}
        shown.keyboard.press("ArrowRight")
        painted(shown)
    assert {"beyond", "masked", "draft", "accepted"} <= kinds
    for kind in kinds - {"empty"}:
        assert shown.locator(f".sbd-verify .sbd-sample-{kind}").count() == 1, kind


def test_the_form_has_its_settings_only_for_verify_and_the_run_and_its_link_carry_them(story):
    advanced(story)
    ahead = story.get_by_label("number input for Predrafts")
    expect(ahead).to_be_hidden()
    choose_strategy(story, EXACT)
    expect(story.get_by_label("Solver", exact=True)).to_be_hidden()
    expect(story.get_by_text("one for each drafted token")).to_be_visible()
    ahead.fill("3")
    story.get_by_label("number input for Draft threshold").fill("0.3")
    expect(story.locator("#sbd-player .sbd-stale")).to_contain_text("3 predrafts instead of 0")
    decode(story)
    config = story.evaluate(f"{RUN}.config")
    asked = ("strategy", "num_predrafts", "draft_threshold")
    assert [config[name] for name in asked] == ["verify", 3, 0.3]
    assert "predrafts=3&threshold=0.3" in story.url
    expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()
    ahead.fill("5")
    expect(story.locator("#sbd-player .sbd-stale")).to_contain_text("5 predrafts instead of 3")
    # Another strategy has no use for the number, and is not refused because of it.
    choose_strategy(story, PAPER)
    expect(ahead).to_be_hidden()
    decode(story)
    expect(story.get_by_role("alert")).to_have_count(0)
    assert story.evaluate(f"{RUN}.strategy") == "sbd"


def test_on_a_phone_it_stays_inside_and_axe_finds_nothing(open_page, tmp_path, trace):
    path = tmp_path / "verify.html"
    path.write_text(replay_html(trace), encoding="utf-8")
    page = open_page(path.as_uri(), 390, 844, color_scheme="dark", reduced_motion="reduce")
    go_to(page, passes_with(trace, is_used=True))
    painted(page)
    assert state(page)["pass"] == passes_with(trace, is_used=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
