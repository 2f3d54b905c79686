"""Pins, branches and blanks: the tree of runs, their endings compared, what was given counted."""

import re

import pytest

from sbd_core.replay import wire_format
from tests.browser.conftest import (
    advanced,
    decode,
    decode_button,
    go_to,
    painted,
    push,
    recorded,
    state,
    sync_api,
    traces,
)
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

COMPLETE = """(old) => { const { run } = document.querySelector('.sbd-host').sbdPlayer;
  return run.id !== old && run.isComplete; }"""


def rows(page):
    return page.locator(".sbd-tree-row")


def intervene(page, key: str, tile: int = 1, passes: int = 1):
    """Choose the second candidate of a tile and press the key; wait for the run it makes."""
    go_to(page, passes)
    page.locator(".sbd-tile").nth(tile).click()
    page.locator(".sbd-top-row").nth(1).click()
    old = state(page)["run"]
    page.keyboard.press(key)
    page.wait_for_function(COMPLETE, arg=old)
    painted(page)


def test_six_runs_of_a_tree_are_seen_whole_and_a_seventh_is_scrolled_to(story):
    decode(story)
    for _ in range(5):
        intervene(story, "p")
        rows(story).nth(0).click()
    expect(rows(story)).to_have_count(6)
    for index in range(6):
        expect(rows(story).nth(index)).to_be_in_viewport(ratio=1)
    intervene(story, "p")
    for _ in range(6):
        story.keyboard.press("]")
    expect(rows(story).nth(6)).to_have_attribute("aria-pressed", "true")
    expect(rows(story).nth(6)).to_be_in_viewport(ratio=1)


def test_no_tree_before_there_is_a_branch(story):
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()


def test_pins_and_branches_grow_a_tree_and_every_run_is_kept(story):
    decode(story)
    first = state(story)
    intervene(story, "p")
    expect(rows(story)).to_have_count(2)
    expect(rows(story).nth(0)).to_contain_text("first run")
    expect(rows(story).nth(1)).to_contain_text(re.compile(r"pin “.*” at 1"))
    expect(rows(story).nth(1)).to_have_attribute("aria-pressed", "true")
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


def test_a_branch_of_a_branch_stands_below_it_and_decode_starts_afresh(story):
    decode(story)
    intervene(story, "p")
    intervene(story, "b", tile=3)
    depths = rows(story).evaluate_all("all => all.map(n => n.style.getPropertyValue('--depth'))")
    assert depths == ["0", "1", "2"]
    decode(story)
    expect(story.locator(".sbd-tree")).to_be_hidden()


def test_the_endings_are_compared_and_what_differs_is_marked(story):
    decode(story)
    intervene(story, "p")
    expect(rows(story).nth(1)).to_contain_text("differ")
    texts = story.locator(".sbd-ending-text")
    marked = texts.nth(1).locator(".sbd-differs")
    expect(marked).not_to_have_count(0)
    expect(texts.nth(0)).to_contain_text("The answer is 121.")
    story.keyboard.press("[")
    expect(story.locator(".sbd-endings")).to_be_hidden()


def test_a_branch_keeps_pins_that_its_pass_has_not_reached(story):
    decode(story)
    # The last forward pass that weighed more than one token, and a tile of which it did.
    last, weighed = story.evaluate("""() => {
      const { run } = document.querySelector('.sbd-host').sbdPlayer;
      return run.main.steps.flatMap((step, pass) => [...step.masked.values()]
        .filter((item) => item.top.length > 1 && item.position < run.main.end)
        .map(({ position }) => [pass, position - run.windowAt(pass).start])).at(-1);
    }""")
    intervene(story, "p", tile=weighed, passes=last)
    pins = "() => [...document.querySelector('.sbd-host').sbdPlayer.run.pins.keys()]"
    (late,) = story.evaluate(pins)
    assert late > 16
    intervene(story, "b", tile=2)
    assert {2, late} <= set(story.evaluate(pins))


def test_given_tokens_are_no_decoded_tokens(replay):
    main, ntp = traces(story_model(), pinned={1: 4, 2: 5, 40: 6})
    push(replay, wire_format.replay("given", {"sbd": main, "ntp": ntp}))
    replay.get_by_role("button", name="Last forward pass").click()
    num_decoded = main.num_tokens - 3
    number = replay.locator
    expect(number(".sbd-number-tokens .sbd-number")).to_have_text(str(main.num_tokens))
    expect(number(".sbd-number-tokens .sbd-number-label")).to_have_text("tokens, 3 of them given")
    per_pass = f"{num_decoded / main.num_forwards:.2f}"
    expect(number(".sbd-number-perPass .sbd-number")).to_have_text(per_pass)
    saved = re.compile(f"for {num_decoded} tokens? not given")
    expect(number(".sbd-number-saved .sbd-number-label")).to_have_text(saved)
    go_to(replay, 1)  # the run is whole: what it saved is known at every pass
    expect(number(".sbd-number-saved .sbd-number-label")).to_have_text(saved)


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


@pytest.mark.parametrize("name", ["pin", "branch"])
def test_its_key_opens_the_inspector_first_and_then_does_what_the_button_would(story, name):
    decode(story)
    go_to(story, 1)
    story.mouse.move(0, 0)
    kicker = story.locator(".sbd-inspector-kicker")
    expect(kicker).to_contain_text("least sure in this forward pass")
    position = re.search(r"Position (\d+)", kicker.text_content())[1]
    old = state(story)["run"]
    story.keyboard.press(name[0])
    expect(kicker).to_be_visible()
    expect(kicker).to_have_text(f"Position {position} · held")
    assert state(story)["run"] == old
    token = story.locator(f".sbd-action-{name} .sbd-action-token").inner_text()
    story.keyboard.press(name[0])
    story.wait_for_function(COMPLETE, arg=old)
    expect(rows(story).nth(1)).to_contain_text(f"{name} “{token.strip()}” at {position}")


def test_its_key_does_nothing_where_the_button_cannot_be_seen(story):
    decode(story)
    go_to(story, 1)
    story.mouse.move(0, 0)
    painted(story)
    story.evaluate("""() => { const player = document.querySelector('.sbd-host').sbdPlayer;
      window.asked = 0;
      player.redo = () => { window.asked += 1; }; }""")
    story.keyboard.press("l")
    story.keyboard.press("p")
    story.keyboard.press("p")
    story.keyboard.press("l")
    expect(story.locator(".sbd-action-pin")).to_be_hidden()
    assert story.evaluate("window.asked") == 0
    story.keyboard.press("p")
    expect(story.locator(".sbd-action-pin")).to_be_visible()
    assert story.evaluate("window.asked") == 0
    story.keyboard.press("p")
    assert story.evaluate("window.asked") == 1


def test_where_the_model_weighed_one_token_alone_the_inspector_says_so(story):
    model = story_model()
    doubtful = model.block_logits
    model.block_logits = lambda tokens, block: [
        [50.0 * (logit == max(row)) for logit in row] for row in doubtful(tokens, block)
    ]
    push(story, recorded(model, "sure"))
    go_to(story, 1)
    story.locator(".sbd-tile").nth(1).click()
    expect(story.locator(".sbd-top-row:visible")).to_have_count(1)
    expect(story.locator(".sbd-action-note")).to_have_text(
        "The model weighed no other token here: choose another position."
    )
    expect(story.locator(".sbd-action-pin")).to_be_disabled()


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
        ["Set Block Decoding", "Next-token prediction, from the prompt alone"]
    )


def test_a_bad_template_is_refused_in_a_sentence_and_kept(story):
    advanced(story)
    story.get_by_label("Answer with blanks").fill("The answer.")
    decode_button(story).click()
    alert = story.get_by_role("alert").filter(has_text="Answer with blanks must hold a blank, ___")
    expect(alert).to_be_visible()
    expect(story.get_by_label("Answer with blanks")).to_have_value("The answer.")
    assert state(story)["run"] == "opening"


@pytest.mark.parametrize("keys", ["pp", "bp", "pb", "bb"])
def test_two_keys_at_once_make_one_branch_and_lose_no_tree(story, keys):
    decode(story)
    go_to(story, 1)
    story.locator(".sbd-tile").nth(1).click()
    story.locator(".sbd-top-row").nth(1).click()
    old = state(story)["run"]
    for key in keys:
        story.keyboard.press(key)
    story.wait_for_function(COMPLETE, arg=old)
    painted(story)
    expect(rows(story)).to_have_count(2)
    expect(rows(story).nth(0)).to_contain_text("first run")
    word = "pin" if keys[0] == "p" else "branch"
    expect(rows(story).nth(1)).to_contain_text(word)


def test_a_key_held_down_branches_once(story):
    decode(story)
    go_to(story, 1)
    story.locator(".sbd-tile").nth(1).click()
    story.locator(".sbd-top-row").nth(1).click()
    old = state(story)["run"]
    for _ in range(12):
        story.keyboard.down("p")
    story.keyboard.up("p")
    story.wait_for_function(COMPLETE, arg=old)
    painted(story)
    expect(rows(story)).to_have_count(2)
