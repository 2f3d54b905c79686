"""What the Watch view says is true of the moment shown: an answer's end, hindsight, the card."""

import re

import pytest

from sbd_core.plots.theme import DARK, LIGHT
from sbd_core.replay import wire_format
from tests.browser.conftest import details, go_to, painted, push, recorded, state, sync_api
from tests.ui.doubles import story_model
from ui.gallery.recorded import gallery_traces

pytestmark = pytest.mark.browser
expect = sync_api.expect

PLAYER = "document.querySelector('.sbd-host').sbdPlayer"


def gallery_run(page, name: str):
    """Show a run of the gallery."""
    push(page, wire_format.replay(name, gallery_traces(name)))
    page.get_by_role("button", name="Last forward pass").click()
    painted(page)


def test_after_an_end_of_sequence_tiles_are_ghosts(replay):
    replay.get_by_role("button", name="Last forward pass").click()
    painted(replay)
    end = state(replay)["main"]["tokens"]
    beyond = replay.locator(".sbd-tile.is-beyond")
    expect(beyond).not_to_have_count(0)
    first = replay.evaluate(f"{PLAYER}.parts.tiles.window.start")
    expect(beyond).to_have_count(first + 16 - end)
    looks = "n => [getComputedStyle(n.querySelector('.sbd-tile-token')).fontWeight, n.className]"
    for index in range(beyond.count()):
        weight, name = beyond.nth(index).evaluate(looks)
        assert int(weight) == 400
        assert "is-new" not in name
    expect(beyond.first).to_have_attribute("title", re.compile("after the end of the answer"))
    expect(replay.locator(".sbd-tile.is-new")).to_have_count(
        replay.evaluate(f"{PLAYER}.run.main.steps.at(-1).reveals"
                        f".filter((r) => r.position < {end}).length")
    )  # fmt: skip


def test_an_answer_cut_by_the_limit_says_so_at_its_end(replay):
    push(replay, recorded(story_model(), "cut", max_new_tokens=20))
    cut = replay.locator(".sbd-lane-cut").first
    go_to(replay, 2)
    expect(cut).to_be_hidden()
    replay.keyboard.press("End")
    expect(cut).to_have_text("cut off: the limit is 20 tokens")
    push(replay, recorded(story_model(), "whole"))
    replay.keyboard.press("End")
    expect(cut).to_be_hidden()


def test_hindsight_is_counted_in_the_lane_and_marked_in_the_text(replay):
    gallery_run(replay, "names-mixed-up")
    trace = gallery_traces("names-mixed-up")["sbd"]
    seen = [item for event in trace.events for item in event.hindsight]
    wanted = sorted(item.position for item in seen if item.argmax_id != item.token_id)
    toggle = replay.get_by_role("button", name=f"hindsight disagrees with {len(wanted)}")
    marked = replay.locator(".sbd-token.is-doubted")
    expect(marked).to_have_count(0)
    details(replay)
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    places = marked.evaluate_all("all => all.map((n) => Number(n.dataset.position))")
    assert sorted(places) == wanted
    assert wanted
    expect(marked.first).to_have_attribute("title", re.compile("would have said “"))
    replay.keyboard.press("Escape")
    go_to(replay, 1)
    details(replay)
    expect(replay.get_by_role("button", name=re.compile("^hindsight"))).to_be_disabled()
    expect(marked).to_have_count(0)


def test_of_the_last_block_only_what_was_masked_is_said_never_to_be_read_again(replay):
    only_masked = re.compile("the last block, where it had masks, never is$")
    expect(replay.locator(".sbd-lane-doubts")).to_have_attribute("title", only_masked)


def test_to_differ_is_not_red(replay):
    """Red is for wrong."""
    red = replay.evaluate(
        "getComputedStyle(document.querySelector('.sbd-player')).getPropertyValue('--sbd-bad')"
    )
    gallery_run(replay, "names-mixed-up")
    details(replay)
    replay.locator(".sbd-lane-doubts").click()
    replay.locator(".sbd-token.is-doubted").first.click()
    words = replay.locator(".sbd-hindsight.is-differs")
    expect(words).to_be_visible()
    channels = [int(red.strip()[i : i + 2], 16) for i in (1, 3, 5)]
    colour = f"rgb({', '.join(map(str, channels))})"
    assert words.evaluate("n => getComputedStyle(n).color") != colour


INSIDE = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const box = (n) => { const r = n.getBoundingClientRect();
    return [r.top - player.parts.inspector.root.getBoundingClientRect().top, r.height].join(); };
  const parts = document.querySelectorAll('.sbd-inspector section, .sbd-inspector-reveal');
  return { pass: player.state.pass, text: player.parts.inspector.root.innerText,
    boxes: [...parts].map(box).join(' ') };
}"""


def while_it_plays(page) -> list[dict]:
    """The inspector in a few passes of a run that plays."""
    page.evaluate(f"{PLAYER}.set({{ isPlaying: true, speed: 0.0001 }})")
    seen = []
    for pass_index in range(1, 7):
        page.evaluate(f"{PLAYER}.seek({pass_index}, false)")
        painted(page)
        seen.append(page.evaluate(INSIDE))
    assert len({each["pass"] for each in seen}) == 6
    return seen


def test_the_inspector_holds_still_while_the_run_plays(replay):
    go_to(replay, 1)
    replay.mouse.move(0, 0)
    assert len({each["text"] for each in while_it_plays(replay)}) == 1
    go_to(replay, 1)
    replay.locator(".sbd-tile").nth(3).click()
    replay.mouse.move(0, 0)
    held = while_it_plays(replay)
    assert len({each["boxes"] for each in held}) == 1
    assert "Position 3" in held[0]["text"]


def test_the_inspector_has_no_empty_rows(replay):
    gallery_run(replay, "sudoku-1")
    replay.locator(".sbd-tile").first.click()
    rows = replay.locator(".sbd-top-row:visible")
    assert rows.count() < 5
    for index in range(rows.count()):
        expect(rows.nth(index).locator(".sbd-top-value")).to_have_text(re.compile(r"^[\d.]+%$"))


SMALL = """() => [...document.querySelectorAll('.sbd-player *')]
  .filter((n) => [...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim())
    && n.checkVisibility({ visibilityProperty: true })
    && parseFloat(getComputedStyle(n).fontSize) < 13 && !n.closest('.sbd-text'))
  .map((n) => [n.className, n.textContent.slice(0, 20), getComputedStyle(n).fontSize].join(' '))"""


@pytest.mark.parametrize("width", [390, 1440])
def test_no_label_is_smaller_than_13_pixels(open_page, replay_url, width):
    page = open_page(replay_url, width, 900)
    go_to(page, 3)
    page.locator(".sbd-tile").nth(3).click()
    painted(page)
    assert page.evaluate(SMALL) == []
    page.keyboard.press("?")
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_strategies_have_hues_of_their_own(open_page, replay_url, scheme):
    page = open_page(replay_url, color_scheme=scheme)
    ink = LIGHT if scheme == "light" else DARK
    names = page.locator(".sbd-lane-name")
    seen = names.evaluate_all("all => all.map((n) => getComputedStyle(n).color)")
    assert seen == [rgb(ink.sbd), rgb(ink.ntp)]
    assert len({ink.sbd, ink.verify, ink.ntp, ink.accent, *ink.ramp.split()}) == 14


def rgb(colour: str) -> str:
    """#1f5fc0 as the browser says it."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def test_a_word_explains_itself_by_hover_key_and_tap(open_page, replay_url):
    page = open_page(replay_url, has_touch=True)
    go_to(page, 3)
    note = page.locator(".sbd-term-note")
    expect(note).to_be_hidden()
    page.locator(".sbd-budget .sbd-question").hover()
    expect(note).to_have_text(re.compile("all entropies but the largest sum to at most γ"))
    page.locator(".sbd-tile").nth(3).click()
    page.mouse.move(1, 1)
    expect(note).to_be_hidden()
    page.locator(".sbd-inspector .sbd-term", has_text="Hindsight").focus()
    expect(note).to_have_text(re.compile("To differ is not to be wrong"))
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    page.locator(".sbd-inspector .sbd-legend .sbd-term", has_text="nats").tap()
    expect(note).to_be_visible()
    box = note.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1440


def test_equation_8_leads_to_the_paper(replay):
    link = replay.locator(".sbd-budget").get_by_role("link", name="Eq. 8")
    expect(link).to_have_attribute("href", re.compile(r"^https://arxiv\.org/.*2509\.04185"))


def test_help_has_the_words_and_a_line_for_every_solver(replay):
    replay.keyboard.press("?")
    sheet = replay.get_by_role("dialog")
    for word in ("nats", "causal", "draft", "γ", "Factor", "Left to right"):
        expect(
            sheet.locator(".sbd-help-words dt", has_text=re.compile(f"^{word}$"))
        ).to_be_visible()
