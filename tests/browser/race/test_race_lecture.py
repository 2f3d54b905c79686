"""The race in a lecture: type and lanes that a hall can read, above the player's bar."""

import pytest

from tests.browser.conftest import painted, sync_api
from tests.browser.race.acts import RACE, button, enter, go, run

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_a_lecture_shows_type_from_28_pixels(open_page, story_url):
    page = open_page(story_url, 1920, 1080, reduced_motion="reduce")
    enter(page)
    run(page)
    button(page, "Lecture mode (L)").click()
    expect(page.locator(".sbd-race-form")).to_be_hidden()
    sizes = page.evaluate("""() => [...document.querySelectorAll('.sbd-race *')]
      .filter((n) => n.checkVisibility() && [...n.childNodes].some((c) => c.nodeType === 3
        && c.textContent.trim()) && !n.closest('.sbd-live, option'))
      .map((n) => [n.className, parseFloat(getComputedStyle(n).fontSize)])
      .filter(([, size]) => size < 28)""")
    assert sizes == []
    assert page.evaluate("document.querySelector('.sbd-race').scrollHeight") <= 1080


def test_a_lecture_shows_the_prompt_and_five_lanes_above_the_player_bar(open_page, story_url):
    page = open_page(story_url, 1920, 1080, reduced_motion="reduce")
    enter(page)
    page.get_by_label("Verify, drafting ahead").check()
    go(page).click()
    expect(page.locator(".sbd-race-lane")).to_have_count(5)
    button(page, "Lecture mode (L)").click()
    expect(page.locator(".sbd-race-prompt")).to_be_visible()
    painted(page)
    bottom, bar = page.evaluate("""() => ['.sbd-race-lane:last-child', '.sbd-race-transport']
      .map((name) => document.querySelector(name).getBoundingClientRect())
      .map(({ bottom, top }, at) => (at ? top : bottom))""")
    assert bottom <= bar
    assert page.evaluate("document.querySelector('.sbd-race').scrollHeight") <= 1080


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1440, 900)])
def test_a_lecture_keeps_the_grid_of_a_sudoku_and_no_lane_grows_for_it(
    open_page, story_url, width, height
):
    page = open_page(f"{story_url}#race", width, height, reduced_motion="reduce")
    expect(page.locator(".sbd-race-lane")).to_have_count(4)
    page.evaluate(f"""() => {{ const {{ lanes, ...board }} = {RACE}.board;
      {RACE}.open({{ ...board, lanes: [...lanes, {{ ...lanes.at(-1), name: 'verify-ahead' }}] }});
    }}""")
    button(page, "Lecture mode (L)").click()
    painted(page)
    for lane in page.locator(".sbd-race-lane").all():
        first, *_, last = lane.evaluate("""(lane) => [...lane.querySelectorAll('.sbd-race-token')]
          .slice(0, 16).map((node) => node.getBoundingClientRect().toJSON())""")
        assert last["right"] - first["left"] < 200
        grid, beside = lane.evaluate("""(lane) => ['.sbd-race-text', '.sbd-race-run']
          .map((name) => lane.querySelector(name).getBoundingClientRect().toJSON())""")
        assert grid["top"] <= first["top"]
        assert last["bottom"] <= grid["bottom"] <= beside["bottom"] + 1
    if width == 1920:
        assert page.evaluate("document.querySelector('.sbd-race').scrollHeight") <= height


def test_a_lecture_leaves_out_a_reason_that_would_take_the_screen(open_page, story_url):
    page = open_page(story_url, 1920, 1080, reduced_motion="reduce")
    enter(page)
    run(page)
    long = f"Right: {'the people, animals, things and places told, ' * 4}."
    page.evaluate(
        """(words) => {
      const player = document.querySelector('.sbd-race').sbdRace;
      for (const lane of player.board.lanes) lane.verdict = { right: true, words };
      player.open(player.board);
    }""",
        long,
    )
    verdict = page.locator(".sbd-race-lane .sbd-verdict").first
    expect(verdict).to_have_text(f"✓ {long}")
    button(page, "Lecture mode (L)").click()
    expect(verdict).to_have_text("✓ Right")
    page.keyboard.press("Escape")
    expect(verdict).to_have_text(f"✓ {long}")
