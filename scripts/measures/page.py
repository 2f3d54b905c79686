"""What measure_page measures: one function a figure, each on a page that is already served.

Times are of the page's own clock (performance.now) unless they span processes.
"""

import json
import statistics
from pathlib import Path
from typing import Any

from sbd_core.config import DecodeConfig, EntropyBound, TopK
from sbd_core.decoding.api import generate
from sbd_core.models.protocol import SetBlockModel
from sbd_core.replay import wire_format
from tests.browser.conftest import (
    advanced,
    decode,
    decode_button,
    go_to,
    state,
)
from tests.ui.doubles import story_model
from ui.decode.form import Form
from ui.decode.session import Session
from ui.gallery.examples import presets

ROOT = Path(__file__).parents[2]
ROUNDS = 5
LONGEST = 256
PACED_STEPS = 1000
PACED_MS = 25
GRID_TOKENS = 256
SEEK_STEPS = 400
SEEKS = 60

FIRST_REVEAL = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const old = player.run.id;
  window.firstReveal = new Promise((done) => {
    document.querySelector('#sbd-go button').addEventListener('click', () => {
      const began = performance.now();
      const look = () => {
        const isPainted = player.run.id !== old && !player.frame;
        const isThere = isPainted && document.querySelector('.sbd-tile.is-new');
        if (isThere) done(performance.now() - began);
        else requestAnimationFrame(look);
      };
      look();
    }, { once: true, capture: true });
  });
}"""
PACED = """async ([lines, pace]) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const place = document.querySelector('.sbd-place');
  const seen = new Map();
  const rows = lines.split('\\n');
  const total = rows.filter((row) => row.includes('"lane":"sbd"') && row.includes('"step"')).length;
  player.push(rows.shift());
  const began = performance.now();
  let sent = 0;
  let streamed = null;
  return new Promise((done) => {
    const watch = () => {
      const due = Math.floor((performance.now() - began) / pace);
      const news = [];
      while (sent < due && rows.length) {
        news.push(rows.shift());
        if (!rows.length || rows[0].includes('"lane":"sbd"')) sent += 1;
      }
      if (news.length) player.push(news.join('\\n'));
      const pass = parseInt(place.textContent.replace(/\\D+/, ''));
      if (pass && !seen.has(pass)) seen.set(pass, performance.now());
      const seconds = (performance.now() - began) / 1000;
      if (!rows.length) streamed ??= { painted: seen.size, seconds };
      if (seen.size < total && performance.now() - began < total * pace * 4) {
        requestAnimationFrame(watch);
      } else {
        done({ streamed, painted: seen.size, total });
      }
    };
    requestAnimationFrame(watch);
  });
}"""
SEEK = """(passes) => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  return passes.map((pass) => {
    const began = performance.now();
    player.seek(pass, true);
    player.paint();
    document.body.offsetHeight;
    return performance.now() - began;
  });
}"""
ENGINE_SECONDS = """() => {
  const { run } = document.querySelector('.sbd-host').sbdPlayer;
  return [...run.lanes.values()].reduce((sum, lane) => sum + lane.secondsAt(lane.lastPass), 0);
}"""
SETTINGS = "document.querySelector('.sbd-host').sbdPlayer.run.settings()"


def spread(values: list[float]) -> dict[str, float]:
    """Median and extremes, in the unit of the values."""
    return {
        "median": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
    }


def streaming_cost(page: Any, model: SetBlockModel) -> dict[str, Any]:
    """Engine seconds of both lanes of a 256-token run: watched on the page, and not watched.

    Runs of both kinds take turns; the figure is the median of each turn's ratio. The
    end-of-answer token is taken from the model for this figure, so that the run is long.
    """
    advanced(page)
    page.get_by_label("number input for Longest answer").fill(str(LONGEST))
    ends, model.end_token_ids = model.end_token_ids, frozenset()
    watched, alone = [], []
    try:
        for _ in range(ROUNDS + 1):
            decode(page)
            watched.append(page.evaluate(ENGINE_SECONDS))
            # The very run that was watched: other settings make other forward passes.
            alone.append(engine_seconds(model, Form.of(page.evaluate(SETTINGS))))
    finally:
        model.end_token_ids = ends
    ratios = [a / b for a, b in zip(watched[1:], alone[1:], strict=True)]
    return {
        "value": round(statistics.median(ratios), 3),
        "tokens": {lane: state(page)[lane]["tokens"] for lane in ("main", "ntp")},
        "ratios": spread(ratios),
        "streaming_seconds": spread(watched[1:]),
        "alone_seconds": spread(alone[1:]),
    }


def engine_seconds(model: SetBlockModel, form: Form) -> float:
    """The same run through the same session, with nobody watching."""
    rows = [row for update in Session(model).decode(form) for row in update.wire.split("\n") if row]
    return sum(json.loads(row).get("time", 0) for row in rows) / 1e6


def wire_bytes(model: SetBlockModel) -> dict[str, Any]:
    """Bytes of every step line of one preset a kind, both lanes, block of 16, top 5."""
    sizes: dict[str, list[int]] = {"sbd": [], "ntp": []}
    for preset in presets():
        for update in Session(model).decode(Form(preset.prompts[0])):
            for row in filter(None, update.wire.split("\n")):
                if json.loads(row)["type"] == "step":
                    sizes[json.loads(row)["lane"]].append(len(row.encode()))
    main = sizes["sbd"]
    return {
        "value": round(statistics.mean(main)),
        "sbd_steps": {"count": len(main), "mean": round(statistics.mean(main)), "max": max(main)},
        "sbd_share_over_1500": round(sum(size > 1500 for size in main) / len(main), 3),
        "ntp_steps": {"mean": round(statistics.mean(sizes["ntp"])), "max": max(sizes["ntp"])},
    }


def first_reveal(page: Any) -> dict[str, Any]:
    """Milliseconds from the click on Decode to the first painted reveal, warm."""
    decode(page)
    times = []
    for _ in range(2 * ROUNDS):
        page.evaluate(FIRST_REVEAL)
        decode_button(page).click()
        times.append(page.evaluate("window.firstReveal"))
        page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.isComplete")
    return {"value": round(statistics.median(times)), "milliseconds": spread(times)}


def long_run(num_steps: int, run_id: str) -> str:
    """Wire lines of a run of one token a forward pass, two lanes, blocks of 16."""
    model = story_model([f" w{i % 97}" for i in range(num_steps)], max_positions=1 << 20)
    lanes = {
        "sbd": DecodeConfig(solver=TopK(k=1), max_new_tokens=num_steps - 1),
        "ntp": DecodeConfig(strategy="ntp", solver=EntropyBound(), max_new_tokens=num_steps - 1),
    }
    return wire_format.replay(run_id, {key: generate(model, "p", c) for key, c in lanes.items()})


def painted_steps(page: Any) -> dict[str, Any]:
    """Forward passes seen a second, from a source of two lanes paced quicker than the target.

    The rate is of the time the source takes; what is lost, of all that is ever painted.
    """
    lines = long_run(PACED_STEPS, "paced").replace('"is_recorded":true', '"is_recorded":false')
    seen = page.evaluate(PACED, [lines, PACED_MS])
    return {
        "value": round(seen["streamed"]["painted"] / seen["streamed"]["seconds"], 1),
        "lost": seen["total"] - seen["painted"],
        "steps": seen["total"],
        "source_per_second": 1000 / PACED_MS,
    }


def seeks(page: Any) -> dict[str, Any]:
    """Milliseconds of script, style and layout of one jump to any forward pass of a long trace."""
    lines = long_run(SEEK_STEPS, "seek")
    page.evaluate("(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)", lines)
    go_to(page, 0)
    steps = state(page)["main"]["steps"]
    times = page.evaluate(SEEK, [(i * 7919) % steps for i in range(SEEKS)])[ROUNDS:]
    return {"value": round(statistics.median(times), 1), "milliseconds": spread(times),
            "steps": steps}  # fmt: skip


def mask_grid(page: Any) -> dict[str, Any]:
    """Milliseconds of one jump in a trace of 256 tokens with the panel under the hood open."""
    lines = long_run(GRID_TOKENS + 1, "grid")
    page.evaluate("(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)", lines)
    go_to(page, 0)
    page.get_by_role("button", name="Under the hood").click()
    steps = state(page)["main"]["steps"]
    times = page.evaluate(SEEK, [(i * 7919) % steps for i in range(SEEKS)])[ROUNDS:]
    return {"value": round(statistics.median(times), 1), "milliseconds": spread(times),
            "steps": steps}  # fmt: skip
