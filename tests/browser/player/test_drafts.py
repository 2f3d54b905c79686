"""Verify in the player: what its tiles mean, and the predraft that was used under them."""

import re

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.replay import replay_html
from sbd_core.run_lines import replay_lines
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
from ui.decode.form import USUAL_ROWS

pytestmark = pytest.mark.browser
expect = sync_api.expect
SETTINGS = {"strategy": "verify", "max_rows": 41}


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


def pass_with_alternative(trace) -> int:
    """A forward pass that found an alternative right."""
    return next(
        event.index
        for event in trace.events
        if any(item.is_used and item.alternative is not None for item in event.predrafts)
    )


@pytest.fixture
def shown(replay, trace):
    push(replay, replay_lines("verify", {"verify": trace}))
    return replay


def test_the_alternative_that_was_right_hangs_behind_the_token_in_whose_place_it_came(shown, trace):
    index = pass_with_alternative(trace)
    go_to(shown, index)
    event = trace.events[index]
    [used] = [item for item in event.predrafts if item.is_used]
    expect(shown.locator(".sbd-branches-words")).to_contain_text("right")
    line = shown.locator(".sbd-branch")
    expect(line).to_have_count(1)
    place = used.block.start - 1
    places = [f'.sbd-tile[title^="Position {place + offset}:"]' for offset in (0, 1)]
    struck, tile = (shown.locator(each) for each in places)
    expect(line.locator(".sbd-branch-instead")).to_have_text(
        struck.locator(".sbd-tile-struck").inner_text()
    )
    expect(tile).to_have_class(re.compile("is-draft"))
    expect(line.locator(".sbd-branch-token").nth(1)).to_have_text(
        tile.locator(".sbd-tile-token").inner_text()
    )
    go_to(shown, 0)
    expect(line).to_have_count(0)


def test_every_tile_of_verify_has_the_look_of_an_entry_of_its_legend(shown, trace):
    kinds = set()
    go_to(shown, 0)
    for _ in range(trace.num_forwards):
        looks = shown.locator(".sbd-tile").evaluate_all("all => all.map((n) => n.className)")
        kinds |= {re.search(r"is-(\w+)", look)[1] for look in looks}
        shown.keyboard.press("ArrowRight")
        painted(shown)
    assert {"beyond", "draft", "accepted", "struck", "new"} <= kinds
    for kind in kinds - {"empty"}:
        assert shown.locator(f".sbd-verify .sbd-sample-{kind}").count() == 1, kind


def test_the_form_has_its_rows_only_for_verify_and_the_run_and_its_link_carry_them(story):
    advanced(story)
    rows = story.get_by_label("Rows at most")
    expect(rows).to_be_hidden()
    choose_strategy(story, EXACT)
    expect(story.get_by_label("Solver", exact=True)).to_be_hidden()
    expect(story.get_by_text("0 takes the default of this machine")).to_be_visible()
    decode(story)
    assert story.evaluate(f"{RUN}.config.max_rows") == USUAL_ROWS["CPU"]
    rows.fill("9")
    stale = story.locator("#sbd-player .sbd-stale")
    expect(stale).to_contain_text(f"at most 9 rows instead of {USUAL_ROWS['CPU']}")
    decode(story)
    config = story.evaluate(f"{RUN}.config")
    assert (config["strategy"], config["max_rows"]) == ("verify", 9)
    assert "max_rows=9" in story.url
    expect(stale).to_be_hidden()
    rows.fill("5")
    expect(stale).to_contain_text("at most 5 rows instead of 9")
    # Another strategy has no use for the number, and is not refused because of it.
    choose_strategy(story, PAPER)
    expect(rows).to_be_hidden()
    decode(story)
    expect(story.get_by_role("alert")).to_have_count(0)
    assert story.evaluate(f"{RUN}.strategy") == "sbd"


def test_on_a_phone_it_stays_inside_and_axe_finds_nothing(open_page, tmp_path, trace):
    path = tmp_path / "verify.html"
    path.write_text(replay_html(trace), encoding="utf-8")
    page = open_page(path.as_uri(), 390, 844, color_scheme="dark", reduced_motion="reduce")
    go_to(page, pass_with_alternative(trace))
    painted(page)
    assert state(page)["pass"] == pass_with_alternative(trace)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
