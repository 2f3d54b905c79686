"""Branch trees under hasty keys, reloads and restarts of the server, in a real browser."""

import random
import time
from collections.abc import Callable
from typing import Any

from tests.browser.conftest import (
    CHROMIUM,
    FLAGS,
    PAPER,
    choose_strategy,
    decode,
    go_to,
    on_watch,
    painted,
    state,
)
from tests.browser.player.test_branches import COMPLETE, intervene, rows
from tests.browser.server.test_saved_runs import is_saved
from tests.campaign.figure import Figure
from tests.campaign.parts.restarts import Restarted, restarted
from tests.campaign.server import served
from tests.ui.doubles import story_model

MOST_SECONDS_BETWEEN = 0.08
REPEATS = 12
BRANCHES_A_TREE = 6
PATIENCE_MS = 60_000  # a busy machine is slow, it has lost nothing

RUNS = """() => document.querySelector('.sbd-host').sbdPlayer.family.nodes
  .map(({ run }) => [run.id, run.main.text])"""
MARK = "() => { window.wasHereBefore = true; }"
IS_BACK = """() => !window.wasHereBefore && document.querySelector('.sbd-news')?.textContent
  && document.querySelector('.sbd-host')?.sbdPlayer?.run?.isComplete"""


class Tended:
    """A tree on a page, and what has become of it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.known: dict[str, str] = {}  # text of every run of the tree by its id
        self.lost: list[str] = []
        self.num_grown = 0

    def plant(self) -> None:
        """A tree of two runs, unless the one that is there is young and whole."""
        if 1 < len(self.known) <= BRANCHES_A_TREE:
            return
        decode(self.page)
        intervene(self.page, "p")
        self.known = dict(self.page.evaluate(RUNS))

    def choose(self, tile: int) -> None:
        """Choose the second candidate of a tile of the first run."""
        rows(self.page).first.click()
        go_to(self.page, 1)
        self.page.locator(".sbd-tile").nth(tile).click()
        self.page.locator(".sbd-top-row").nth(1).click()

    def try_to_lose(self, how: str, act: Callable[[], None]) -> None:
        """Do it to the tree, then look for every run that was there before."""
        try:
            self.plant()
            act()
            painted(self.page)
            runs = dict(self.page.evaluate(RUNS))
            is_there = runs.items() >= self.known.items() and rows(self.page).count() == len(runs)
        except Exception as error:  # a page that does not come to rest has lost it too
            runs, is_there, how = {}, False, f"{how}: {error}"
        self.num_grown += len(runs) > len(self.known)
        if not is_there:
            self.lost.append(how[:200])
        self.known = runs if is_there else {}

    def hasty_keys(self, keys: str, tile: int, seconds: float) -> None:
        """Two keys, one shortly after the other."""
        self.choose(tile)
        old = state(self.page)["run"]
        self.page.keyboard.press(keys[0])
        time.sleep(seconds)
        self.page.keyboard.press(keys[1])
        self.page.wait_for_function(COMPLETE, arg=old)

    def held_key(self, key: str, tile: int) -> None:
        """A key that repeats."""
        self.choose(tile)
        old = state(self.page)["run"]
        for _ in range(REPEATS):
            self.page.keyboard.down(key)
        self.page.keyboard.up(key)
        self.page.wait_for_function(COMPLETE, arg=old)

    def reload(self) -> None:
        """Load the page anew, then branch once more."""
        is_saved(self.page)
        self.page.evaluate(MARK)
        self.page.reload()
        self.page.wait_for_function(IS_BACK)
        self.grow()

    def restart(self, server: Restarted, *, and_reload: bool) -> None:
        """Kill the server and start it anew; branch once more on what the page still holds."""
        is_saved(self.page)
        server.restart()
        self.reload() if and_reload else self.grow()

    def grow(self) -> None:
        """One more branch of the first run."""
        rows(self.page).first.click()
        intervene(self.page, "b", tile=2)


def trees_lost(num_taps: int, num_repeats: int, num_reloads: int, num_restarts: int) -> Figure:
    """How often a branch tree, or a run of it, is gone after one of these."""
    from playwright.sync_api import sync_playwright

    rng = random.Random(17)
    # Without restarts no process is prepared for one.
    starts = [0.0] * (num_restarts + 1) if num_restarts else []
    with (
        restarted(starts) as server,
        served(story_model()) as here,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tree = Tended(opened(browser, here.url))
        for number in range(num_taps):
            keys, seconds = rng.choice(["pp", "bb", "pb", "bp"]), MOST_SECONDS_BETWEEN
            seconds *= 0 if number % 4 == 0 else rng.random()
            tile = rng.choice((1, 2))
            what = f"{keys} within {1_000 * seconds:.0f} ms"
            tree.try_to_lose(what, lambda k=keys, t=tile, s=seconds: tree.hasty_keys(k, t, s))
        for number in range(num_repeats):
            key = "pb"[number % 2]
            tree.try_to_lose(f"{key} held down", lambda k=key: tree.held_key(k, 1))
        for _ in range(num_reloads):
            tree.try_to_lose("reload", tree.reload)
        if num_restarts:
            tree.page.close()
            server.start()
            tree.page, tree.known = opened(browser, server.url), {}
        for number in range(num_restarts):
            and_reload = number % 2 == 0
            tree.try_to_lose("restart", lambda r=and_reload: tree.restart(server, and_reload=r))
        browser.close()
    return Figure(
        f"trees lost in {num_taps} double taps, {num_repeats} key repeats, {num_reloads} "
        f"reloads, {num_restarts} restarts",
        len(tree.lost),
        0,
        {"num_grown": tree.num_grown, "lost": tree.lost[:5]},
    )


def opened(browser: Any, url: str) -> Any:
    """A tab with the page, which decodes by the paper's rule: only that takes pins and branches."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(on_watch(url))
    page.wait_for_selector(".sbd-tile", state="attached")
    choose_strategy(page, PAPER)
    return page
