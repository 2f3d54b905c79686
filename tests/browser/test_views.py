"""The views and their addresses: the browser's Back, a switch of the view and a reload agree."""

import re

import pytest

from tests.browser.conftest import sync_api
from tests.browser.learn.conftest import question
from ui.learn.lesson import scenes

pytestmark = pytest.mark.browser
expect = sync_api.expect
EARLY = """name => {
  const timer = setInterval(() => {
    const button = document.querySelector(`.sbd-view[data-view="${name}"]`);
    if (button?.getAttribute("aria-pressed") === "true") clearInterval(timer);
    else button?.click();
  }, 1);
}"""


def view(page, name: str):
    return page.locator(".sbd-view", has_text=name)


def test_back_shows_the_view_that_the_address_names_and_watch_clears_it(open_page, story_url):
    page = open_page(f"{story_url}#learn/1")
    expect(question(page)).to_have_text(scenes()[0]["question"])
    page.get_by_role("button", name="Show me").click()
    page.get_by_role("button", name="Next", exact=True).click()
    for name, address in (("Race", "#race"), ("Solvers", "#solvers"), ("Speed limits", "#limits")):
        view(page, name).click()
        expect(page).to_have_url(re.compile(address))
    page.go_back()
    expect(question(page)).to_be_visible()
    expect(question(page)).to_have_text(scenes()[0]["question"])
    expect(page).to_have_url(re.compile("#learn/1$"))
    page.go_forward()
    expect(view(page, "Speed limits")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("#limits"))
    page.go_back()
    view(page, "Watch").click()
    expect(page).not_to_have_url(re.compile("#"))
    page.go_forward()
    expect(view(page, "Speed limits")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(view(page, "Watch")).to_have_attribute("aria-pressed", "true")
    expect(page).not_to_have_url(re.compile("#"))
    page.reload()
    expect(page.locator("#sbd-player")).to_be_visible()
    expect(view(page, "Watch")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(
    ("name", "part"),
    [("race", ".sbd-race-go"), ("limits", ".sbd-limits-form"), ("learn", ".sbd-learn-question")],
)
def test_a_view_that_is_turned_to_before_it_is_mounted_is_there(contexts, story_url, name, part):
    page = contexts(has_touch=False).new_page()
    page.add_init_script(f"({EARLY})('{name}')")
    page.goto(story_url)
    expect(page.locator(part)).to_be_visible()
    page.close()
