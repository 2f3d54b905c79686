"""Compare solvers: one prompt, up to four small staircases on one scale."""

import re
from itertools import pairwise

import pytest

from tests.browser.conftest import painted, sync_api, turn_to
from tests.browser.test_access import CONTROLS, FOCUS, serious

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
    assert len({tuple(box.items()) for box in [s.bounding_box() for s in stairs.all()]}) == 4
    page.get_by_label("Solver 4").select_option("")
    compare(page)
    expect(stairs).to_have_count(3)
    painted(page)
    assert serious(page, ".sbd-solver-comparison") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(CONTROLS)
    own = page.locator(".sbd-solver-comparison :is(button, select)").evaluate_all(
        "all => all.filter((n) => n.checkVisibility()).map((n) => n.dataset.stop)"
    )
    assert len(own) > 6, "the words that explain themselves too"
    toggle(page).focus()
    page.keyboard.press("Shift+Tab")
    seen = set()
    for _ in own:
        page.keyboard.press("Tab")
        stop, has_ring = page.evaluate(FOCUS)
        assert has_ring
        seen.add(stop)
    assert seen == set(own)


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
    width = 1440
    page = open_page(f"{story_url}#solvers", width, 900, reduced_motion="reduce")
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
    assert page.locator("#sbd-prompt-box").bounding_box()["width"] > width * 0.85
    tops = {view.bounding_box()["y"] for view in page.locator(".sbd-view").all()}
    assert len(tops) == 1, "the names stand on one line"


def test_a_phone_reads_the_name_of_every_line_of_the_chart(open_page, story_url):
    page = open_page(f"{story_url}#solvers", 390, 844, color_scheme="dark")
    page.locator(".sbd-chart.is-solvers").scroll_into_view_if_needed()
    names = page.locator(".sbd-chart.is-solvers .legendtext")
    expect(names.first).to_be_visible()
    lines = page.evaluate(
        "document.querySelector('.is-solvers .js-plotly-plot').data.map((line) => line.name)"
    )
    assert names.all_text_contents() == lines
    boxes = names.evaluate_all("""all => all.map((node) => node.getBoundingClientRect())
      .map(({ left, right, top, bottom }) => [left, right, top, bottom])""")
    assert all(left >= 0 and right <= 390 for left, right, _, _ in boxes)
    tops = sorted((top, bottom) for _, _, top, bottom in boxes)
    assert all(above[1] <= below[0] + 4 for above, below in pairwise(tops))
    expect(page.locator(".sbd-chart.is-solvers .annotation")).to_have_count(0)


def test_every_line_of_the_chart_is_named_beside_it_in_type_that_can_be_read(open_page, story_url):
    page = open_page(f"{story_url}#solvers")
    page.locator(".sbd-chart.is-solvers").scroll_into_view_if_needed()
    names = page.locator(".sbd-chart.is-solvers .annotation-text")
    expect(names.first).to_be_visible()
    found = names.evaluate_all("""all => all.map((node) => {
      const { top, bottom, left, right } = node.getBoundingClientRect();
      const opacities = [node, node.closest('.annotation')].map((n) => getComputedStyle(n).opacity);
      const size = parseFloat(getComputedStyle(node).fontSize);
      return { top, bottom, left, right, size, seen: Math.min(...opacities.map(Number)) };
    })""")
    assert min(each["size"] for each in found) >= 14
    assert min(each["seen"] for each in found) == 1
    for index, one in enumerate(found):
        for other in found[index + 1 :]:
            apart = one["bottom"] <= other["top"] + 3 or other["bottom"] <= one["top"] + 3
            assert apart or one["right"] <= other["left"] or other["right"] <= one["left"]
