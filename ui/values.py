"""The data with which the page's views start, as JSON, and the runs that play without decoding.

The views compute and draw in the browser. Recorded runs and traces that visitors bring become
lines that the player plays.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sbd_core.cost import ModelShape
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.roofline import LLAMA_8B_PUBLISHED, Calibrated, Device
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import examples
from ui.best_settings import best_for
from ui.decode.verdict import verdicts_of
from ui.examples import BUNDLED_MODEL
from ui.models import offer_of
from ui.trace_files import read_trace


def replay(
    run_id: str, lanes: Mapping[str, Trace], *, about: str = "", is_decoded_here: bool = True
) -> str:
    """Encode recorded lanes, with verdicts on their answers, as lines that the player plays.

    lanes: traces by lane. about: a sentence on the run. is_decoded_here: see verdict_of().
    """
    verdicts = verdicts_of(lanes, is_decoded_here=is_decoded_here)
    return replay_lines(run_id, lanes, verdicts=verdicts, about=about)


def lines_of_trace(text: object) -> str:
    """Encode a trace that a visitor brings as lines for the player.

    Raises ArgumentError or TraceError, see read_trace().
    """
    trace = read_trace(text)
    return replay(uuid.uuid4().hex[:8], {trace.strategy: trace}, is_decoded_here=False)


def opening(model: str = "") -> str:
    """Encode a model's opening run as lines for the player."""
    return replay("opening", examples.opening_traces(model))


def home() -> str:
    """Encode the run with which the home view opens as lines for the player."""
    return replay("home", examples.gallery_traces(examples.HOME_RUN))


def home_value() -> str:
    """The home view's JSON: a run of nano by Set Block Decoding, and one of SmolLM2 by verify."""
    lines = {BUNDLED_MODEL: home(), REAL_MODEL: opening(REAL_MODEL)}
    runs = [{"model": offer_of(name)["title"], "lines": text} for name, text in lines.items()]
    return wire_json({"runs": runs, "processor": examples.learn_runs().choices.processor})


def gallery_value() -> str:
    """The gallery's JSON: all its entries, and a text on how they were chosen."""
    names = ("name", "group", "title", "sentence", "passes")
    runs = [{name: getattr(item, name) for name in names} for item in examples.gallery()]
    return wire_json({"how": examples.HOW_CHOSEN, "runs": runs})


COMPARED_SOLVERS = ("ntp", "sbd:0.1", "entropy-bound-from-left:0.35", "confidence-threshold:0.9")
"""Lanes of the preset that compares the paper's solver with others, and next-token prediction."""


def compare_value(model: str = "", *, can_draft: bool) -> str:
    """The Compare view's JSON: presets of lanes, and the recorded run with which the view opens.

    of_model: for models whose first preset has the lanes of their recorded run, these lanes.
    """
    lanes = examples.compared_traces(model)
    presets = {"Strategies": list(lanes), "Solvers": COMPARED_SOLVERS}
    recorded = {name: examples.compared_traces(name) for name in (BUNDLED_MODEL, REAL_MODEL)}
    value = {
        "presets": presets if can_draft else {},
        "of_model": {name: list(own) for name, own in recorded.items()},
        "warnings": {REAL_MODEL: best_for(REAL_MODEL, can_draft=True, has_adapter=True).paper},
        "lines": replay("recorded", lanes),
    }
    return wire_json(value)


LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
LIBRARY_PATH = "vendor/plotly-cartesian.min.js"
SWEEP = ASSETS / "results" / "sweep.json"
MAX_MARKED = 12
"""Most runs of the reader in the chart of all solvers, the newest."""


def charts_value() -> str:
    """The JSON of the charts: the type Setting of ui/web/charts.

    sweep: accuracy and tokens per forward pass that `sbd evaluate --sweep` stored for every solver
    on held-out examples.
    """
    results: dict[str, Any] = json.loads(SWEEP.read_text(encoding="utf-8"))
    means = {name: row["mean"] for name, row in results["rows"].items()}
    sweep = {name: [each["accuracy"], each["tokens_per_forward"]] for name, each in means.items()}
    cards = json.loads((ASSETS / "charts.json").read_text(encoding="utf-8"))
    return wire_json(
        {
            "cards": cards,
            "sweep": sweep,
            "model": results["model"],
            "mostMarked": MAX_MARKED,
        }
    )


BENCH = ASSETS / "results" / "bench.json"


def roofline_value() -> str:
    """The Roofline view's JSON: the types Setting and CardWords of ui/web.

    The models of assets/roofline-models.json have their published configs. "measured", this machine
    as a device, is for the panel "Under the hood", too.
    """
    known = json.loads((ASSETS / "roofline-models.json").read_text("utf-8"))
    shapes = [ModelShape.of(model.pop("config"), bytes_per_value=2) for model in known]
    config = json.loads((DEFAULT_CHECKPOINT / "config.json").read_text("utf-8"))
    nano = ModelShape.of(config, bytes_per_value=4)  # float32, as in the benchmark
    known.append({"key": "bundled", "name": "nano, the bundled checkpoint"})
    models = [
        {**model, "shape": shape.as_json()}
        for model, shape in zip(known, [*shapes, nano], strict=True)
    ]
    # The paper counts its own model with another width of the feed-forward.
    models[0]["published"] = {"feed_forward_size": LLAMA_8B_PUBLISHED.feed_forward_size}
    times = Calibrated.read(BENCH)
    here = times.best_device(nano, "This machine as measured")
    facts = json.loads(BENCH.read_text("utf-8"))["circumstances"]
    source = f"{here.source} ({facts['processor']}, {facts['threads']} thread)"
    return wire_json(
        {
            "cards": json.loads((ASSETS / "roofline.json").read_text("utf-8")),
            "models": models,
            "measured": device_data(replace(here, source=source)),
            "times": times.seconds,
        }
    )


def device_data(device: Device) -> dict[str, Any]:
    """Describe a device in the form that the page's scripts read."""
    return {
        "name": device.name,
        "flops": device.linear_flops,
        "attentionFlops": device.attention_flops,
        "bandwidth": device.bandwidth,
        "valueBytes": device.bytes_per_value,
        "source": device.source,
        "memory": device.memory,
    }
