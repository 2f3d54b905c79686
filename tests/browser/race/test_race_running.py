"""What a race runs: lanes chosen, stopped, beyond a limit, and of which prompt they are."""

from unittest import mock

import pytest

from tests.browser.conftest import decode_button, sync_api
from tests.browser.race.acts import TITLES, button, cells, enter, go, run, seek
from tests.ui.doubles import slowed, story_model
from ui.decode import session as session_module
from ui.hosting.limits import Limits

pytestmark = pytest.mark.browser
expect = sync_api.expect

AHEAD = "Verify, 4 drafts ahead, threshold 0.3"


def test_a_subset_of_lanes_runs_alone(story):
    enter(story)
    for label in ("Next-token prediction", "SBD, γ", "SBD, another γ"):
        story.locator(".sbd-race-choice").get_by_label(label, exact=True).uncheck()
    go(story).click()
    expect(story.locator(".sbd-race-name")).to_have_text(["Verify"])
    button(story, "Finish (End)").click()
    expect(cells(story, "verify").nth(3)).to_have_text("–")
    expect(story.locator(".sbd-race-board")).to_contain_text("another race gives others")
    expect(story.locator(".sbd-race-board")).not_to_contain_text("are compared")


def test_stop_ends_a_race_and_frees_the_model(open_page, slow_url):
    page, other = open_page(slow_url), open_page(slow_url)
    enter(page)
    go(page).click()
    expect(page.get_by_text("Running lane 1 of 4: Next-token prediction")).to_be_visible()
    decode_button(other).click()
    expect(other.get_by_text("Another decode is running; yours is next.")).to_be_visible()
    page.locator(".sbd-race-stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(go(page)).to_be_enabled()
    expect(other.get_by_text("Decoding …")).to_be_visible()
    expect(page.locator(".sbd-race-lane")).to_have_count(4)


def test_a_race_beyond_the_limit_says_what_to_change(open_page, slow_url):
    with mock.patch.object(session_module, "USUAL", Limits(max_run_seconds=0.5)):
        page = open_page(slow_url)
        enter(page)
        go(page).click()
        expect(page.get_by_role("alert")).to_contain_text("choose fewer lanes")


def test_a_lane_cut_by_the_limit_says_so_when_it_is_home(story):
    enter(story)
    story.get_by_label("number input for Longest answer").fill("16")
    run(story)
    cut = story.locator(".sbd-race-cut")
    seek(story, 1)
    expect(cut.first).to_be_hidden()
    button(story, "Finish (End)").click()
    expect(cut).to_have_text(["cut off: the limit is 16 tokens"] * 4)


def test_a_race_of_another_prompt_is_marked_until_the_new_one_is_there(open_page, serve):
    page = open_page(serve(slowed(story_model(), 0.05)), reduced_motion="reduce")
    enter(page)
    stale = page.locator(".sbd-race .sbd-stale")
    expect(stale).to_be_hidden()
    page.get_by_label("Prompt").fill("mine")
    expect(stale).to_contain_text("another prompt")
    go(page).click()
    expect(stale).to_contain_text("yours takes its place when all lanes are home")
    expect(page.locator(".sbd-race-prompt")).to_have_text("mine")
    expect(stale).to_be_hidden()


def test_the_lane_that_drafts_ahead_races_when_its_box_is_checked(story):
    enter(story)
    story.get_by_label("Verify, drafting ahead").check()
    story.get_by_label("γ of SBD, another γ").fill("50")
    go(story).click()
    expect(story.locator(".sbd-race-name")).to_have_text([*TITLES, AHEAD])
    button(story, "Finish (End)").click()
    expect(cells(story, "verify-ahead").last).to_have_text("identical, as promised")
    assert "verify-ahead" in story.url
