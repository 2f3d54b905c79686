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
    """What axe-core finds wrong that is serious or critical, on the page or in a part of it."""
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


def test_every_control_is_reached_by_tab_and_shows_its_focus(story):
    go_to(story, 1)
    wanted = story.evaluate(CONTROLS)
    story.evaluate("document.activeElement.blur()")
    seen, invisible = set(), []
    for _ in range(len(wanted) + 15):  # the links of head and foot are stops, too
        story.keyboard.press("Tab")
        stop, has_ring = story.evaluate(FOCUS)
        seen.add(stop)
        if stop is not None and not has_ring:
            invisible.append(story.evaluate("document.activeElement.outerHTML.slice(0, 120)"))
    assert set(wanted) <= seen
    assert invisible == []
