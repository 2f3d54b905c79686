"""Keys, focus, the help sheet, lecture mode and the phone's sheet; no Gradio needed."""

import re

import pytest

from tests.browser.conftest import go_to, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

FOCUSED = ".sbd-tile:focus"


def kicker(page):
    return page.locator(".sbd-inspector-kicker")


def test_up_and_down_move_between_tiles_of_which_one_is_a_tab_stop_in_every_pass(replay):
    go_to(replay, 1)
    expect(replay.locator(".sbd-tile[tabindex='0']")).to_have_count(1)
    replay.locator(".sbd-tile[tabindex='0']").focus()
    replay.keyboard.press("ArrowUp")
    for _ in range(20):
        replay.keyboard.press("ArrowUp")
    expect(replay.locator(".sbd-tile").first).to_be_focused()
    expect(kicker(replay)).to_have_text("Position 0")
    replay.keyboard.press("ArrowDown")
    expect(replay.locator(".sbd-tile").nth(1)).to_be_focused()
    expect(replay.locator(FOCUSED)).to_have_attribute("tabindex", "0")
    expect(replay.locator(".sbd-tile[tabindex='0']")).to_have_count(1)
    expect(kicker(replay)).to_have_text("Position 1")
    for key, count in (("Enter", 1), ("Escape", 0)):
        replay.keyboard.press(key)
        expect(replay.locator(".sbd-tile.is-held")).to_have_count(count)
    replay.keyboard.press("End")  # of another block
    position = replay.locator(FOCUSED + " .sbd-tile-position")
    expect(position).not_to_have_text(re.compile(r"^\d$"))
    expect(kicker(replay)).to_have_text("Position " + position.inner_text())


@pytest.mark.parametrize("place", [".sbd-stairs-stage", ".sbd-lane .sbd-text"])
def test_the_text_and_the_staircase_have_a_cursor_of_their_own(replay, place):
    go_to(replay, 4)
    replay.locator(place).first.focus()
    for _ in range(40):
        replay.keyboard.press("ArrowUp")
    replay.keyboard.press("ArrowDown")
    expect(kicker(replay)).to_have_text("Position 1")
    expect(replay.locator(".sbd-live")).to_contain_text("Position 1: revealed in forward pass")
    replay.keyboard.press("Enter")
    expect(kicker(replay)).to_have_text("Position 1 · held")
    replay.keyboard.press("ArrowRight")
    assert state(replay)["pass"] == 5
    replay.keyboard.press("Escape")
    replay.locator(place).first.blur()
    expect(kicker(replay)).to_contain_text("least sure of these tiles")


def test_space_presses_a_button_reached_by_keys_and_not_the_one_clicked_last(replay):
    go_to(replay, 0)
    ahead = replay.get_by_role("button", name="Ahead one forward pass")
    ahead.press("Tab")
    replay.keyboard.press("Shift+Tab")
    replay.keyboard.press(" ")
    assert state(replay)["pass"] == 1
    assert not state(replay)["isPlaying"]
    ahead.click()
    assert state(replay)["pass"] == 2
    slow = "document.querySelector('.sbd-host').sbdPlayer.set({ speed: 0.01 })"
    replay.evaluate(slow)  # the next forward pass is not due while this looks
    replay.keyboard.press(" ")
    expect(replay.get_by_role("button", name="Pause")).to_be_visible()
    assert state(replay)["pass"] == 2
    replay.keyboard.press(" ")
    expect(replay.get_by_role("button", name="Play (space)")).to_be_visible()
    replay.locator(".sbd-stairs-stage").focus()
    replay.keyboard.press(" ")
    expect(replay.get_by_role("button", name="Pause")).to_be_visible()


def test_the_help_sheet_keeps_the_keys_and_gives_the_focus_back(replay):
    go_to(replay, 1)
    button = replay.get_by_role("button", name="Help (?)")
    button.click()
    sheet = replay.get_by_role("dialog", name="What you see")
    expect(sheet).to_be_visible()
    expect(sheet.locator(".sbd-key-pins")).to_have_count(0)  # a file decodes nothing
    replay.keyboard.press("ArrowRight")
    replay.keyboard.press("l")
    assert state(replay)["pass"] == 1
    expect(replay.locator(".sbd-player")).not_to_have_class(re.compile("is-lecture"))
    replay.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(button).to_be_focused()
    for is_open in (True, False):
        replay.keyboard.press("?")
        expect(sheet).to_be_visible(visible=is_open)
    replay.keyboard.press("?")
    sheet.get_by_role("button", name="Close help").click()
    expect(sheet).to_be_hidden()


def test_lecture_mode_holds_the_stage_alone(open_page, replay_url):
    page = open_page(replay_url, 1280, 720)
    go_to(page, 5)
    page.keyboard.press("l")
    expect(page.locator(".sbd-player")).to_have_class(re.compile("is-lecture"))
    for part in (".sbd-headline", ".sbd-tiles", ".sbd-lane-ntp", ".sbd-button-play:visible"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    beside = page.locator(".sbd-stairs-stage")
    expect(beside).to_be_hidden()
    page.keyboard.press("ArrowRight")
    assert state(page)["pass"] == 6
    page.keyboard.press("l")
    expect(beside).to_be_visible()
    page.get_by_role("button", name="Lecture mode (L)").click()
    expect(beside).to_be_hidden()
    page.evaluate("document.exitFullscreen()")
    expect(beside).to_be_visible()


def test_lecture_mode_fills_the_window_where_full_screen_is_refused(replay):
    replay.evaluate(
        "() => { Element.prototype.requestFullscreen = () => Promise.reject(new Error()); }"
    )
    replay.keyboard.press("L")
    expect(replay.locator(".sbd-stairs-stage")).to_be_hidden()
    box = replay.locator(".sbd-player").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1440, 900)
    replay.keyboard.press("Escape")
    expect(replay.locator(".sbd-stairs-stage")).to_be_visible()


def test_on_a_phone_the_inspector_comes_up_when_a_tile_is_tapped(open_page, replay_url):
    page = open_page(replay_url, 390, 844, has_touch=True, reduced_motion="reduce")
    go_to(page, 1)
    expect(page.locator(".sbd-inspector")).to_be_hidden()
    tile = page.locator(".sbd-tile").nth(9)
    tile.tap()
    expect(page.locator(".sbd-inspector")).to_be_in_viewport()
    expect(kicker(page)).to_have_text("Position 9 · held")
    expect(tile).to_be_in_viewport()
    page.get_by_role("button", name="Release this position").tap()
    expect(page.locator(".sbd-inspector")).to_be_hidden()


def test_letting_a_position_go_gives_the_focus_back_to_its_tile(replay):
    go_to(replay, 1)
    tile = replay.locator(".sbd-tile").nth(3)
    tile.click()
    replay.mouse.move(0, 0)
    release = replay.get_by_role("button", name="Release this position")
    release.press("Enter")
    expect(release).to_be_hidden()
    expect(tile).to_be_focused()


PUSH_OUT = """() => {
  const below = document.createElement('div');
  below.innerHTML = '<button id="below">below</button>';
  below.style.height = '3000px';
  document.body.append(below);
  document.querySelector('#below').focus();
  window.scrollTo(0, 1e6);
}"""


def test_with_something_else_in_view_the_keys_are_the_browsers(replay):
    go_to(replay, 2)
    replay.evaluate(PUSH_OUT)
    bottom = replay.evaluate("window.scrollY")
    for key in ("ArrowRight", "ArrowDown", "End"):
        replay.keyboard.press(key)
    replay.evaluate("document.activeElement.blur()")
    for key in ("ArrowLeft", "p", "l"):
        replay.keyboard.press(key)
    assert state(replay)["pass"] == 2
    replay.keyboard.press("Home")
    replay.wait_for_function("(bottom) => window.scrollY < bottom", arg=bottom)
    assert state(replay)["pass"] == 2


def test_held_down_only_the_keys_that_step_repeat(replay):
    go_to(replay, 1)
    for _ in range(4):
        replay.keyboard.down("ArrowRight")
    replay.keyboard.up("ArrowRight")
    assert state(replay)["pass"] == 5
    for _ in range(4):
        replay.keyboard.down("?")
    replay.keyboard.up("?")
    expect(replay.get_by_role("dialog", name="What you see")).to_be_visible()


def test_keys_of_one_letter_can_be_switched_off(replay):
    go_to(replay, 1)
    replay.keyboard.press("?")
    switch = replay.get_by_label("Letter and sign keys work")
    switch.uncheck()
    replay.keyboard.press("Escape")
    for key in ("l", "?", "s"):
        replay.keyboard.press(key)
    expect(replay.get_by_role("dialog")).to_have_count(0)
    expect(replay.locator(".sbd-player")).not_to_have_class(re.compile("is-lecture"))
    replay.keyboard.press("ArrowRight")
    assert state(replay)["pass"] == 2
    replay.get_by_role("button", name="Help (?)").click()
    switch.check()
    replay.keyboard.press("?")
    replay.keyboard.press("l")
    expect(replay.locator(".sbd-player")).to_have_class(re.compile("is-lecture"))
