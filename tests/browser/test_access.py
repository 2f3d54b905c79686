"""Everyone can use it: no serious finding of axe-core, and every control is reached by Tab."""

import pytest

from tests.browser.conftest import go_to, painted, sync_api

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = pytest.mark.browser
expect = sync_api.expect

CONTROLS = """() => [...document.querySelectorAll(
    'button, input, select, textarea, summary, [tabindex]')]
  .filter((n) => n.checkVisibility({ visibilityProperty: true }) && !n.disabled && n.tabIndex >= 0
    && n.getBoundingClientRect().width > 0 && (n.type !== 'radio' || n.checked))
  .map((n, i) => { n.dataset.stop = i; return String(i); })"""
FOCUS = """() => {
  const n = document.activeElement;
  const rings = [n, n.firstElementChild, n.closest('.secondary-wrap')].filter(Boolean);
  return [n.dataset.stop ?? null, rings.some((r) => {
    const s = getComputedStyle(r);
    return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1;
  })];
}"""


def serious(page, part: str | None = None) -> list[str]:
    """Serious or critical faults that axe-core finds, on the page or in a part of it."""
    painted(page)
    found = axe.Axe().run(page, part).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page, story_url, scheme):
    page = open_page(story_url, color_scheme=scheme, reduced_motion="reduce")
    go_to(page, 3)
    assert serious(page) == []
    page.locator(".sbd-tile").nth(3).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious(page, "dialog[open]") == []
    page.keyboard.press("Escape")
    expect(page.locator(".sbd-inspector")).to_be_visible()
    assert serious(page, ".sbd-host") == []
    page.keyboard.press("l")
    expect(page.locator(".sbd-inspector")).to_be_hidden()
    assert serious(page) == []


def test_axe_finds_nothing_serious_on_a_phone(open_page, story_url):
    page = open_page(story_url, 390, 844, reduced_motion="reduce")
    go_to(page, 2)
    page.locator(".sbd-tile").nth(3).click()
    expect(page.locator(".sbd-inspector")).to_be_visible()
    assert serious(page) == []


def tab_reaches_all(page, part: str = "body"):
    """Every control in a part of the page is reached by Tab, and shows that it has the focus."""
    num_stops = len(page.evaluate(CONTROLS))
    wanted = page.locator(f"{part} [data-stop]").evaluate_all("all => all.map(n => n.dataset.stop)")
    page.evaluate("document.activeElement.blur()")
    seen = {}
    for _ in range(num_stops + 15):  # the links of head and foot are stops, too
        page.keyboard.press("Tab")
        stop, has_ring = page.evaluate(FOCUS)
        seen[stop] = has_ring
    assert wanted
    assert [stop for stop in wanted if not seen.get(stop)] == []


def test_tab_reaches_every_control(story):
    go_to(story, 1)
    tab_reaches_all(story)
