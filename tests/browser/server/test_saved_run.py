"""The last run of a tab over a reload, and a page whose server went away and came back."""

import pytest

from tests.browser.conftest import (
    RUN,
    advanced,
    begin,
    click_card,
    decode,
    decode_button,
    has_begun,
    state,
    sync_api,
)
from tests.ui.doubles import ANSWER, slowed, story_model, wait_for
from tests.workers import free_port
from ui import server

pytestmark = pytest.mark.browser
expect = sync_api.expect


SAVED = f"""() => {{
  const stored = sessionStorage.getItem(`sbd ${{location.pathname}} sbd-run`);
  return JSON.parse(stored ?? "{{}}").lines === {RUN}.lines.join("\\n");
}}"""


def is_saved(page):
    """Wait until the run on the page is in the tab's storage."""
    wait_for(lambda: page.evaluate(SAVED))


def test_a_reload_shows_the_last_run_again_and_decodes_nothing(story):
    story.get_by_label("Prompt").fill("mine")
    decode(story)
    before = state(story)
    is_saved(story)
    story.reload()
    expect(story.get_by_text("its last run was kept in your browser")).to_be_visible()
    after = state(story)
    assert (after["run"], after["main"]["text"]) == (before["run"], ANSWER)
    expect(story.get_by_label("Prompt")).to_have_value("mine")


def test_a_reload_keeps_the_timing_of_the_run(story):
    decode(story)
    timing = "{ run: player.run.id, seconds: Array(5).fill(2), ntpSeconds: Array(5).fill(4) }"
    stored = "sessionStorage.getItem(`sbd ${location.pathname} sbd-run`) ?? ''"
    story.evaluate(f"""() => {{
      const player = document.querySelector(".sbd-host").sbdPlayer;
      player.takeTiming({timing});
    }}""")
    wait_for(lambda: "ntpSeconds" in story.evaluate(stored))
    for _ in range(2):
        story.reload()
        expect(story.locator(".sbd-headline-label")).to_contain_text("median of 5")
    assert story.evaluate(f"{RUN}.lines.filter((line) => line.includes('timing')).length") == 1


def test_a_reload_gives_the_form_the_settings_of_a_recorded_run_again(story):
    click_card(story, "block-beyond-training")
    is_saved(story)
    story.reload()
    expect(story.get_by_text("its last run was kept in your browser")).to_be_visible()
    advanced(story)
    expect(story.get_by_label("Block size", exact=True)).to_have_value("32")


def test_a_server_that_goes_away_leaves_what_came_and_the_page_goes_on_with_the_next(contexts):
    port = free_port()
    first = server.build(slowed(story_model(), 0.3))
    url = server.serve(first, "127.0.0.1", port)
    page = contexts(False).new_page()  # errors of the network are the point here
    try:
        page.set_default_timeout(60_000)
        page.goto(f"{url}#watch")
        page.wait_for_selector("body[data-sbd-ready]")
        begin(page)
        page.wait_for_function(f"{RUN}.main.numCommitted > 2")
        server.stop(first)
        line = page.locator(".sbd-status-line.is-error")
        expect(line).to_contain_text("Decode again?")
        run = state(page)["run"]
        decode_button(page).click()
        expect(line).to_contain_text("The server does not answer")
        assert state(page)["run"] == run
        second = server.build(story_model())
        server.serve(second, "127.0.0.1", port)
        try:
            decode_button(page).click()
            has_begun(page, run)
            page.wait_for_function(f"{RUN}.isComplete")
            assert state(page)["main"]["text"] == ANSWER
        finally:
            server.stop(second)
    finally:
        page.close()
