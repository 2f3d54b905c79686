"""Compare solvers: one prompt, up to four small staircases on one scale."""

import re

import pytest

from tests.browser.conftest import painted, sync_api, turn_to
from tests.browser.test_access import serious, tab_reaches_all

pytestmark = pytest.mark.browser
expect = sync_api.expect


MARKED = """count => document.querySelector('.sbd-chart.is-solvers .js-plotly-plot')
  ?.data?.find((line) => line.name === 'your runs')?.x.length === count"""


def toggle(page):
    return page.get_by_role("button", name="Compare solvers")


def compare(page):
    page.get_by_role("button", name="Decode all").click()
    expect(page.get_by_role("button", name="Decode all")).to_be_enabled()


def test_four_solvers_stand_side_by_side(open_page, story_url):
    page = open_page(story_url, 390, 844, color_scheme="dark", reduced_motion="reduce")
    expect(page.locator(".sbd-solver-comparison-body")).to_be_hidden()
    toggle(page).click()
    page.get_by_label("Solver 2").select_option("top-k")
    compare(page)
    stairs = page.locator(".sbd-solver-comparison-stairs")
    expect(stairs).to_have_count(4)
    names = stairs.evaluate_all("all => all.map((n) => n.getAttribute('aria-label'))")
    assert names[1].startswith("Top-k, k ")
    assert all("forward passes" in name for name in names)
    page.get_by_label("Solver 4").select_option("")
    compare(page)
    expect(stairs).to_have_count(3)
    painted(page)
    assert serious(page, ".sbd-solver-comparison") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab_reaches_all(page, ".sbd-solver-comparison")


def test_staircases_of_another_prompt_say_so(story):
    toggle(story).click()
    own = story.get_by_label("Prompt").input_value()
    compare(story)
    note = story.locator(".sbd-solver-comparison .sbd-stale")
    expect(story.locator(".sbd-solver-comparison-lane")).to_have_count(4)
    expect(note).to_be_hidden()
    story.get_by_label("Prompt").fill("another one")
    expect(note).to_contain_text("Not these staircases: the form asks for another prompt")
    story.get_by_label("Prompt").fill(own)
    expect(note).to_be_hidden()
    story.get_by_label("Solver 1").select_option("random")
    expect(note).to_contain_text("the solver “Random” too and no solver “Entropy bound (Eq. 8)”")


def test_what_decode_all_refuses_is_not_offered_and_its_error_goes_with_the_next_input(story):
    toggle(story).click()
    compare(story)
    story.get_by_label("Prompt").fill(" ")
    note = story.locator(".sbd-solver-comparison .sbd-stale")
    expect(note).to_contain_text("which Decode all refuses: the prompt is empty")
    compare(story)
    status = story.locator(".sbd-solver-comparison-status")
    expect(status).to_contain_text("Prompt must not be empty")
    story.get_by_label("Prompt").fill("p")
    expect(status).not_to_contain_text("empty")
    expect(note).to_contain_text("press Decode all to run that")


def test_solvers_have_a_view_and_an_address_of_their_own(open_page, story_url):
    page = open_page(f"{story_url}#solvers", reduced_motion="reduce")
    go = page.get_by_role("button", name="Decode all")
    expect(go).to_be_visible()
    expect(page.locator("#sbd-player")).to_be_hidden()
    expect(page.get_by_label("Prompt")).to_be_visible()
    expect(page.locator(".sbd-chart:visible")).to_have_count(1)
    expect(page.locator(".sbd-chart.is-solvers .main-svg").first).to_be_visible()
    compare(page)
    about = page.locator(".sbd-solver-comparison-lane .sbd-question").first
    expect(about).to_have_attribute("data-words", re.compile("tokens a forward pass"))
    page.locator(".sbd-chart.is-solvers").get_by_role("button", name="Explain this chart").click()
    page.locator(".sbd-chart.is-solvers").scroll_into_view_if_needed()  # drawn where it is seen
    page.wait_for_function(MARKED, arg=4)
    for part, word, words in (
        (".sbd-solver-comparison-lanes", "Entropy bound", "all entropies but the largest"),
        (".sbd-chart.is-solvers", "solver", "The rule that picks"),
    ):
        page.locator(f"{part} .sbd-term", has_text=word).first.focus()
        expect(page.locator(".sbd-term-note:visible")).to_contain_text(words)
    painted(page)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    turn_to(page, "Watch")
    expect(page.locator("#sbd-player")).to_be_visible()
    expect(page.locator(".sbd-chart:visible")).to_have_count(0)
    assert page.url.endswith("#watch")
    turn_to(page, "Solvers")
    expect(go).to_be_visible()
    assert page.url.endswith("#solvers")
