"""What measure_page measures of intervening in a run and of taking it home."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.decoding.api import generate
from sbd_core.models.protocol import SetBlockModel
from sbd_core.replay.page import replay_html
from sbd_core.trace import Trace
from scripts.measures.page import ROUNDS, spread
from tests.browser.conftest import choose_strategy, decode, go_to
from ui.gallery.examples import presets

NUM_TOKENS = 128
NUM_PASSES = 60
STORY = "Write a story about Mia, her dog Rex and a kite."
"""In a story every forward pass has tokens that the model weighed others against."""

FIRST_TILE = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const old = player.run.id;
  window.firstTile = new Promise((done) => {
    addEventListener('keydown', () => {
      const began = performance.now();
      const look = () => {
        const isShown = player.run.id !== old && player.parts.staircase.shown.run === player.run;
        const isThere = isShown && document.querySelector('.sbd-tile.is-new');
        if (isThere) requestAnimationFrame(() => done(performance.now() - began));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  });
}"""
COMPLETE = "document.querySelector('.sbd-host').sbdPlayer.run.isComplete"


def first_tile(page: Any, key: str) -> dict[str, Any]:
    """Milliseconds from the key of a pin or a branch to the new run's first painted tile, warm."""
    page.get_by_label("Prompt").fill(STORY)
    page.wait_for_timeout(1000)  # the form turns to what is best for a prompt of one's own
    choose_strategy(page, "Set Block Decoding")
    times = [first_tile_ms(page, key) for _ in range(ROUNDS + 1)][1:]
    return {"value": round(statistics.median(times)), "milliseconds": spread(times)}


def first_tile_ms(page: Any, key: str) -> float:
    """Press the key at a fresh run's middle forward pass, at its first tile with a candidate."""
    decode(page)
    steps = page.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.main.steps.length")
    go_to(page, max(1, steps // 2))
    for tile in page.locator(".sbd-tile.is-new, .sbd-tile.is-masked").all():
        tile.click()
        if page.locator(".sbd-action-pin").is_enabled():
            break
    assert page.locator(".sbd-action-pin").is_enabled(), "no tile here can be pinned"
    page.evaluate(FIRST_TILE)
    page.keyboard.press(key)
    milliseconds = page.evaluate("window.firstTile")
    page.wait_for_function(COMPLETE)
    return float(milliseconds)


CHARTS = """() => new Promise((done) => {
  const began = performance.now();
  document.querySelector('.sbd-charts .sbd-charts-toggle').click();
  document.querySelector('.sbd-charts').scrollIntoView();
  const look = () => {
    const isDrawn = !('isOld' in document.querySelector('.sbd-charts').dataset)
      && document.querySelector('.sbd-chart-stage .main-svg');
    if (isDrawn) requestAnimationFrame(() => done(performance.now() - began));
    else requestAnimationFrame(look);
  };
  look();
})"""


def charts(open_tab: Callable[[], Any]) -> dict[str, Any]:
    """Milliseconds from opening the charts of the opening run, in a tab that has none loaded, to
    those in sight painted."""
    times = []
    for _ in range(3):
        page = open_tab()
        page.get_by_role("button", name="Last forward pass").click()
        times.append(float(page.evaluate(CHARTS)))
        page.close()
    return {"value": round(statistics.median(times)), "milliseconds": spread(times)}


def long_traces(model: SetBlockModel, gamma: float) -> tuple[Trace, Trace]:
    """128 tokens of sbd and of ntp; the model's end-of-answer is taken from it for this."""
    prompt = presets()[0].prompts[0]
    ends, model.end_token_ids = model.end_token_ids, frozenset()
    try:
        main = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=NUM_TOKENS)
        plain = DecodeConfig(strategy="ntp", max_new_tokens=NUM_TOKENS)
        return generate(model, prompt, main), generate(model, prompt, plain)
    finally:
        model.end_token_ids = ends


def page_size(model: SetBlockModel) -> dict[str, Any]:
    """Kilobytes of a run of 128 tokens as one self-contained page."""
    main, ntp = long_traces(model, EntropyBound().gamma)
    size = len(replay_html(main, ntp).encode())
    return {"value": round(size / 1000), "tokens": main.num_tokens, "passes": main.num_forwards}


def animation(browser: Any, model: SetBlockModel, folder: Path) -> tuple[float, int]:
    """(seconds, bytes) from the click on Save GIF of 60 forward passes to the file."""
    main, ntp = long_traces(model, 0)
    few = replace(main, events=main.events[:NUM_PASSES], finish="stopped")
    path = folder / "animation.html"
    path.write_text(replay_html(few, ntp), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(path.as_uri())
    page.get_by_role("button", name="Take it home").click()
    began = time.monotonic()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save GIF").click()
    seconds = time.monotonic() - began
    size = download.value.path().stat().st_size
    page.close()  # a page that still plays would slow the next one
    return seconds, size


def animation_seconds(browser: Any, model: SetBlockModel, folder: Path) -> dict[str, Any]:
    """Seconds to make an animation of 60 forward passes, 1280 pixels wide."""
    times = [animation(browser, model, folder)[0] for _ in range(3)]
    return {"value": round(statistics.median(times), 2), "seconds": spread(times)}


def animation_size(browser: Any, model: SetBlockModel, folder: Path) -> dict[str, Any]:
    """Megabytes of the same animation."""
    return {"value": round(animation(browser, model, folder)[1] / 1e6, 2)}
