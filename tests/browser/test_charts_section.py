"""The charts under the player: closed they load nothing, open they follow the run shown."""

import json
import re

import pytest
from PIL import Image

from sbd_core.files import ASSETS
from sbd_core.plots.theme import DARK, LIGHT
from tests.browser.conftest import begin, decode, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect

NUM_CHARTS = len(json.loads((ASSETS / "charts.json").read_text("utf-8")))
BARS = """() => [...document.querySelectorAll('.sbd-charts .js-plotly-plot')]
  .map((plot) => plot._fullData).filter((data) => data?.[0]?.type === 'bar')
  .map((data) => data[0]._input.y.length)"""

PAPERS = """() => [...document.querySelectorAll('.sbd-charts .js-plotly-plot')]
  .map((plot) => plot._fullLayout.paper_bgcolor)"""


def toggle(page):
    return page.get_by_role("button", name="Charts", exact=True)


def plots(page):
    return page.locator(".sbd-charts .js-plotly-plot")


def are_drawn(page):
    """Look at every chart once those in sight are of the run shown; wait until all are."""
    expect(page.locator(".sbd-charts")).not_to_have_attribute("data-is-old", "")
    for stage in page.locator(".sbd-chart-stage").all():
        stage.scroll_into_view_if_needed()
        expect(stage).to_have_class(re.compile("js-plotly-plot"))
    expect(plots(page)).to_have_count(NUM_CHARTS)


def test_open_charts_follow_the_run_and_the_theme_and_close_again(open_page, story_url):
    page = open_page(story_url)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    expect(toggle(page)).to_have_attribute("aria-expanded", "false")
    expect(plots(page)).to_have_count(0)
    toggle(page).click()
    are_drawn(page)
    page.wait_for_function(f"({BARS})()[0] === {state(page)['main']['steps']}")
    decode(page)
    are_drawn(page)
    page.wait_for_function(f"({BARS})()[0] === {state(page)['main']['steps']}")
    for is_dark, theme in ((True, DARK), (False, LIGHT)):
        page.evaluate("(isDark) => document.body.classList.toggle('dark', isDark)", is_dark)
        are_drawn(page)
        page.wait_for_function(f"({PAPERS})().every((paper) => paper === '{theme.card}')")
    assert [url for url in asked if "/ask/" in url and "/ask/models" not in url] == []
    toggle(page).click()
    expect(page.locator(".sbd-charts-cards")).to_be_hidden()


def test_a_chart_is_saved_by_a_click_and_nothing_sends_it_away(story):
    decode(story)
    toggle(story).click()
    are_drawn(story)
    first = story.locator(".sbd-chart").first
    names = first.locator(".modebar-btn").evaluate_all("all => all.map(n => n.dataset.title)")
    assert not [name for name in names if "share" in name.lower() or "cloud" in name.lower()]
    first.hover()
    with story.expect_download() as download:
        first.locator(".modebar-btn").first.click()
    assert download.value.suggested_filename.startswith("sbd-")
    picture = Image.open(download.value.path())
    assert picture.height == 2 * 440


def test_charts_of_a_running_decode_wait_for_its_end(open_page, slow_url):
    page = open_page(slow_url)
    begin(page)
    toggle(page).click()
    status = page.locator(".sbd-charts-status")
    expect(status).to_have_text("The charts are drawn when this run is complete.")
    page.get_by_role("button", name="Stop", exact=True).click()
    are_drawn(page)
