"""Right or wrong on the page: a verdict for each lane, and hindsight marked without blame."""

import re

import pytest

from tests.browser.conftest import click_card, decode, painted, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def open_card(page, name: str):
    """Show a run of the gallery, at its last pass."""
    click_card(page, name)
    page.get_by_role("button", name="Last forward pass").click()
    painted(page)


def test_each_lane_of_a_recorded_run_says_whether_it_is_right(story):
    open_card(story, "gamma-too-high")
    chips = story.locator(".sbd-verdict-chip:visible")
    expect(chips).to_have_text(
        [re.compile("^✗ Wrong, [0-9]+ tokens differ$"), "✓ Right at its end"]
    )
    story.get_by_role("button", name="First forward pass").click()
    expect(chips).to_have_count(0)


def test_a_decode_is_judged_from_its_prompt_and_a_prompt_nothing_can_check_is_not(open_page, serve):
    page = open_page(serve(story_model(["The answer is 43."])))
    page.get_by_label("Prompt").fill("What is 12 + 30?")
    decode(page)
    chips = page.locator(".sbd-verdict-chip:visible")
    expect(chips).to_have_text(["✗ Wrong, identical", "✗ Wrong"])
    chips.first.hover()
    reason = page.locator(".sbd-term-note:visible")
    expect(reason).to_contain_text("Wrong: the answer is 42, not 43.")
    expect(reason).to_contain_text("Token for token next-token prediction’s.")
    page.get_by_label("Prompt").fill("Say something.")
    decode(page)
    expect(chips).to_have_text(["Identical"])
    chips.focus()
    expect(reason).to_contain_text("Not judged: no check fits this prompt.")
