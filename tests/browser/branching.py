"""Measure a pin and a branch: python -m tests.browser.branching

From the key to the first tile of the new run on the screen, in headless Chromium on the bundled
checkpoint, warm; times of the page's own clock. Prints the figures, then one line of JSON. Take
them on a quiet machine.
"""

import json
import statistics
from typing import Any

import sbd_core
from sbd_core.evaluation.report import circumstances
from sbd_core.models.threads import choose_threads
from tests.browser.conftest import CHROMIUM, FLAGS, decode, go_to
from ui import page as page_module

ROUNDS = 5
TARGET_MS = 400
KEYS = {"pin": "p", "branch": "b"}

FIRST_TILE = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const old = player.run.id;
  window.firstTile = new Promise((done) => {
    addEventListener('keydown', () => {
      const began = performance.now();
      const look = () => {
        const isShown = player.run.id !== old && player.staircase.shown.run === player.run;
        const isThere = isShown && document.querySelector('.sbd-tile.is-new');
        if (isThere) requestAnimationFrame(() => done(performance.now() - began));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  });
}"""
COMPLETE = "document.querySelector('.sbd-host').sbdPlayer.run.isComplete"


def first_tile_ms(page: Any, key: str) -> float:
    """Press the key at the hardest tile of the middle pass of a fresh run; milliseconds."""
    decode(page)
    steps = page.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.main.steps.length")
    go_to(page, max(1, steps // 2))
    page.locator(".sbd-tile.is-new, .sbd-tile.is-masked").first.click()
    page.evaluate(FIRST_TILE)
    page.keyboard.press(key)
    milliseconds = page.evaluate("window.firstTile")
    page.wait_for_function(COMPLETE)
    return float(milliseconds)


def main() -> None:
    """The command line."""
    from playwright.sync_api import sync_playwright

    model = sbd_core.load(device="cpu")
    choose_threads(model.num_parameters)
    demo = page_module.build(model)
    options = page_module.launch_options()
    _, url, _ = demo.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", quiet=True, **options
    )
    figures = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(url)
        page.wait_for_selector(".sbd-tile")
        for name, key in KEYS.items():
            first_tile_ms(page, key)
            times = [first_tile_ms(page, key) for _ in range(ROUNDS)]
            figures[name] = {
                "median_ms": round(statistics.median(times)),
                "max_ms": round(max(times)),
            }
            print(f"{name:8} {figures[name]['median_ms']:5} ms, target {TARGET_MS}")
        browser.close()
    demo.close()
    print(
        json.dumps(
            {
                "figures": figures,
                "target_ms": TARGET_MS,
                **circumstances(sbd_core.DEFAULT_CHECKPOINT),
            }
        )
    )


if __name__ == "__main__":
    main()
