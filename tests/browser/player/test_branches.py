"""Pins, branches and blanks: the tree of runs, their endings compared, what was given counted."""

import re

import pytest

from tests.browser.conftest import advanced, decode, go_to, painted, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

COMPLETE = """(old) => { const { run } = document.querySelector('.sbd-host').sbdPlayer;
  return run.id !== old && run.isComplete; }"""
RUNS = """() => document.querySelector('.sbd-host').sbdPlayer.runTree.nodes
  .map(({ run }) => [run.id, run.main.text])"""


def rows(page):
    return page.locator(".sbd-tree-row")


def choose(page, tile: int, passes: int):
    """Choose the second candidate of a tile."""
    go_to(page, passes)
    page.locator(".sbd-tile").nth(tile).click()
    page.locator(".sbd-top-row").nth(1).click()


def redo(page, key: str):
    """Press a key that decodes again; wait for the run it makes."""
    old = state(page)["run"]
    page.keyboard.press(key)
    page.wait_for_function(COMPLETE, arg=old)
    painted(page)


def intervene(page, key: str, tile: int = 1, passes: int = 1):
    """Choose the second candidate of a tile and decode again by a key."""
    choose(page, tile, passes)
    redo(page, key)


def test_pins_and_branches_grow_a_tree_whose_endings_are_compared_and_decode_starts_afresh(story):
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()
    first = state(story)
    intervene(story, "p")
    expect(rows(story)).to_have_count(2)
    expect(rows(story).nth(0)).to_contain_text("first run")
    expect(rows(story).nth(1)).to_contain_text(re.compile(r"pin “.*” at 1"))
    expect(rows(story).nth(1)).to_have_attribute("aria-pressed", "true")
    expect(rows(story).nth(1)).to_contain_text("differ")
    texts = story.locator(".sbd-ending-text")
    expect(texts.nth(1).locator(".sbd-differs")).not_to_have_count(0)
    expect(texts.nth(0)).to_contain_text("The answer is 121.")
    pinned = state(story)["run"]

    rows(story).nth(0).click()
    expect(rows(story).nth(0)).to_have_attribute("aria-pressed", "true")
    assert state(story)["main"] == first["main"]
    assert state(story)["run"] == first["run"]
    assert "pins=" not in story.url
    intervene(story, "b", tile=2)
    expect(rows(story)).to_have_count(3)
    expect(rows(story).nth(2)).to_contain_text(re.compile(r"branch “.*” at 2, forward pass 2"))

    story.keyboard.press("[")
    assert state(story)["run"] == pinned
    expect(story).to_have_url(re.compile("pins=1%3A|pins=1:"))
    story.keyboard.press("[")
    story.keyboard.press("[")
    assert state(story)["run"] == first["run"]
    story.keyboard.press("]")
    assert state(story)["run"] == pinned
    intervene(story, "b", tile=3)
    depths = rows(story).evaluate_all("all => all.map(n => n.style.getPropertyValue('--depth'))")
    assert sorted(depths) == ["0", "1", "1", "2"]
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()


def test_hasty_and_held_keys_lose_no_run_of_the_tree(story):
    decode(story)
    intervene(story, "p")
    known = dict(story.evaluate(RUNS))
    for keys in ("pp", "bp", "b" * 12):
        rows(story).first.click()
        choose(story, tile=1, passes=1)
        old = state(story)["run"]
        for key in keys:
            story.keyboard.down(key)
        for key in set(keys):
            story.keyboard.up(key)
        story.wait_for_function(COMPLETE, arg=old)
        painted(story)
        runs = dict(story.evaluate(RUNS))
        assert runs.items() > known.items()
        expect(rows(story)).to_have_count(len(runs))
        known = runs


def test_where_nothing_can_be_chosen_the_inspector_says_why(story):
    decode(story)
    intervene(story, "p")
    story.locator(".sbd-stairs-stage").focus()
    go_to(story, 1)
    story.locator(".sbd-tile").nth(1).click()
    note = story.locator(".sbd-action-note")
    expect(note).to_have_text("This token was given; branch at another position.")
    before = state(story)["run"]
    story.keyboard.press("p")
    story.keyboard.press("b")
    assert state(story)["run"] == before


def test_its_key_opens_the_inspector_first_and_then_does_what_the_button_would(story):
    decode(story)
    go_to(story, 1)
    story.mouse.move(0, 0)
    kicker = story.locator(".sbd-inspector-kicker")
    expect(kicker).to_contain_text("least sure of these tiles")
    position = re.search(r"Position (\d+)", kicker.text_content())[1]
    old = state(story)["run"]
    story.keyboard.press("p")
    expect(kicker).to_be_visible()
    expect(kicker).to_have_text(f"Position {position} · held")
    assert state(story)["run"] == old
    token = story.locator(".sbd-action-pin .sbd-action-token").inner_text()
    redo(story, "p")
    expect(rows(story).nth(1)).to_contain_text(f"pin “{token.strip()}” at {position}")


def test_its_key_does_nothing_where_the_button_cannot_be_seen(story):
    decode(story)
    go_to(story, 1)
    story.mouse.move(0, 0)
    painted(story)
    story.evaluate("""() => { const player = document.querySelector('.sbd-host').sbdPlayer;
      window.asked = 0;
      player.host.decode = () => { window.asked += 1; }; }""")
    story.keyboard.press("l")
    for key in "ppl":
        story.keyboard.press(key)
    expect(story.locator(".sbd-action-pin")).to_be_hidden()
    assert story.evaluate("window.asked") == 0
    story.keyboard.press("p")
    story.keyboard.press("p")
    assert story.evaluate("window.asked") == 1


def test_blanks_are_filled_round_what_is_given(story):
    advanced(story)
    template = story.get_by_label("Answer with blanks")
    template.fill("1.___(3)2222.____.___15.1")
    decode(story)
    given = story.evaluate("""() => { const { run } = document.querySelector('.sbd-host').sbdPlayer;
      return [...run.pins].map(([position, token]) => [position, run.tokenText(token)]); }""")
    assert [text for _, text in given] == [*"1.2222...1", "<eos>"]
    fixed = dict(state(story)["main"]["fixed"])
    assert sorted(fixed) == list(range(given[-1][0] + 1))
    assert {position for position, _ in given} < set(fixed)
    expect(story.locator(".sbd-number-tokens .sbd-number-label")).to_have_text(
        f"tokens, {len(given)} of them given"
    )
    expect(story.locator(".sbd-number-perPass .sbd-number-label")).to_have_text(
        "decoded a forward pass"
    )
    expect(story.locator(".sbd-tile.is-pinned")).not_to_have_count(0)
    expect(story.get_by_role("heading", level=2)).to_contain_text(
        ["Set Block Decoding", "Next-token prediction, prompt alone"]
    )
