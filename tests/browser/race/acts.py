"""What a visitor does in the race: turn to it, run it, read its lanes."""

from tests.browser.conftest import painted, sync_api

expect = sync_api.expect

RACE = "document.querySelector('.sbd-race').sbdRace"
TITLES = ["Next-token prediction", "SBD, γ 0.1", "SBD, γ 50", "Verify"]


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def go(page):
    return page.locator(".sbd-race-go")


def enter(page):
    """Turn to the race."""
    page.locator(".sbd-view", has_text="Race").click()
    expect(page.locator(".sbd-race-form")).to_be_visible()


def run(page):
    """Race all lanes, gammas 0.1 and 50, and wait for the board."""
    page.get_by_label("γ of SBD, another γ").fill("50")
    go(page).click()
    expect(page.locator(".sbd-race-name")).to_have_text(TITLES)
    expect(go(page)).to_be_enabled()


def seek(page, clock: int):
    page.evaluate(f"(clock) => {RACE}.seek(clock, true)", clock)
    painted(page)


def cells(page, lane: str):
    return page.locator(f".sbd-race-table .sbd-race-{lane} td")
