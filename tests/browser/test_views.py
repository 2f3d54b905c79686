"""The views and their addresses: a switch, the browser's Back and a reload agree; their foot."""

import re

import pytest

from tests.browser.conftest import painted, sync_api, turn_to
from tests.browser.test_access import serious
from tests.browser.test_learn import question
from ui.values import scenes

pytestmark = pytest.mark.browser
expect = sync_api.expect
EARLY = """name => {
  const timer = setInterval(() => {
    const link = document.querySelector(`.sbd-view[data-view="${name}"]`);
    if (link?.getAttribute("aria-current") === "page") clearInterval(timer);
    else link?.click();
  }, 1);
}"""


def in_front(page, name: str):
    """Wait until the head says that a view is in front, alone."""
    expect(page.locator(".sbd-view[aria-current=page]")).to_have_text(name)


def test_back_goes_to_the_view_before_and_not_away_from_the_page(open_page, story_url):
    page = open_page(story_url)
    for name in ("Compare", "Roofline", "Watch"):
        turn_to(page, name)
    for name, address in (("Roofline", "roofline"), ("Compare", "compare")):
        page.go_back()
        in_front(page, name)
        expect(page).to_have_url(re.compile(f"#{address}$"))
    expect(page.locator(".sbd-compare-lane").first).to_be_visible()
    page.go_back()
    in_front(page, "Watch")
    expect(page.locator("#sbd-player")).to_be_visible()
    page.go_forward()
    in_front(page, "Compare")


def test_back_goes_through_the_scenes_and_a_view_is_found_as_it_was_left(open_page, story_url):
    page = open_page(f"{story_url}#learn/1")
    page.get_by_role("button", name="Show me").click()
    page.get_by_role("button", name="Next", exact=True).click()
    turn_to(page, "Roofline")
    page.get_by_label("Block size").last.fill("8")
    expect(page).to_have_url(re.compile("#roofline.*block=8"))
    turn_to(page, "Learn")
    expect(question(page)).to_have_text(scenes()[1]["question"])
    turn_to(page, "Roofline")
    expect(page).to_have_url(re.compile("#roofline.*block=8"))
    for scene in (1, 1, 0):
        page.go_back()
        if scene == 1 and "roofline" in page.url:
            page.go_back()
        expect(question(page)).to_have_text(scenes()[scene]["question"])


def test_a_view_that_is_turned_to_before_it_is_mounted_is_there(contexts, story_url):
    page = contexts(has_touch=False).new_page()
    page.add_init_script(f"({EARLY})('compare')")
    page.goto(story_url)
    expect(page.locator(".sbd-compare-go")).to_be_visible()
    page.close()


def test_the_foot_of_a_view_names_the_paper_and_what_is_new(open_page, story_url):
    media = {"color_scheme": "dark", "reduced_motion": "reduce"}
    page = open_page(f"{story_url}#learn", 390, 844, **media)
    foot = page.get_by_role("contentinfo")
    expect(foot).to_be_visible()
    painted(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    paper = foot.get_by_role("link", name="Gat et al. 2025, arXiv 2509.04185")
    expect(paper).to_have_attribute("href", "https://arxiv.org/abs/2509.04185")
    note = foot.locator(".sbd-term-note")
    foot.get_by_role("button", name="what is added and reached").click()
    expect(note).to_contain_text("verify, which checks every draft")
    assert serious(page, ".sbd-footer") == []
    card = page.get_by_role("link", name="Model card").get_attribute("href")
    assert "<h1>sbd-nano</h1>" in page.request.get(card).text()
