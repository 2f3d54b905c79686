"""Record what the page ships with: the presets and the opening run.

    python -m ui.record             presets and opening run, with the bundled checkpoint
    python -m ui.record --presets   the presets only; needs no model

Not imported by the page: the corpus and the model are needed here only.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from random import Random

import sbd_core
from sbd_core.config import EntropyBound
from sbd_core.models.base import SetBlockModel
from sbd_core.trace import Trace
from sbd_core.training.corpus import FAMILIES
from sbd_core.training.corpus.base import Example
from ui.components.assets import ASSETS
from ui.recorded import OPENING_LANES, TRACES
from ui.session import DEFAULT_GAMMA

LABELS = {"math": "Word problem", "json": "JSON", "code": "Python"}
OPENING_FAMILIES = ("math", "json", "code")
PROMPTS_PER_PRESET = 6
MIN_OPENING_TOKENS = 40
MAX_TRIES = 200
SEED = 20250904


def held_out(family: str) -> Iterator[Example]:
    """Test examples of a family, always the same ones."""
    random = Random(f"{SEED}/{family}")
    while True:
        yield FAMILIES[family].generate(random, "test")


def write_presets(opening: Example | None = None) -> None:
    """Held-out prompts of every family in assets/presets.json, the opening one first of its."""
    data = []
    for name, label in LABELS.items():
        prompts = [example.prompt for example in islice(held_out(name), PROMPTS_PER_PRESET)]
        if opening is not None and opening.family == name:
            prompts = list(dict.fromkeys([opening.prompt, *prompts]))[:PROMPTS_PER_PRESET]
        data.append({"label": label, "prompts": prompts})
    path = ASSETS / "presets.json"
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {path.name}")


def opening_run(model: SetBlockModel, gamma: float) -> tuple[Example, dict[str, Trace]]:
    """The first held-out example long enough to be worth watching and answered rightly."""
    for family in OPENING_FAMILIES:
        for example in islice(held_out(family), MAX_TRIES):
            traces = right_traces(model, example, gamma)
            if traces and min(trace.num_tokens for trace in traces.values()) >= MIN_OPENING_TOKENS:
                return example, traces
    raise SystemExit(f"none of {MAX_TRIES} examples a family gave a run worth opening on")


def right_traces(model: SetBlockModel, example: Example, gamma: float) -> dict[str, Trace]:
    """Every lane's decode of the example; none if one of them is wrong."""
    traces: dict[str, Trace] = {}
    for lane in OPENING_LANES:
        solver = EntropyBound(gamma) if lane == "sbd" else EntropyBound()
        config = sbd_core.DecodeConfig(strategy=lane, solver=solver, max_new_tokens=128)
        traces[lane] = sbd_core.generate(model, example.prompt, config)
        if not FAMILIES[example.family].check(example, traces[lane].text):
            return {}
    return traces


def write_opening(traces: dict[str, Trace]) -> None:
    """One file a lane in assets/traces/."""
    TRACES.mkdir(exist_ok=True)
    for lane, trace in traces.items():
        (TRACES / f"opening-{lane}.json").write_text(trace.to_json() + "\n", encoding="utf-8")
        print(f"wrote opening-{lane}.json: {trace.num_tokens} tokens, {trace.num_forwards} passes")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m ui.record")
    parser.add_argument("--presets", action="store_true", help="write the presets only")
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    parser.add_argument("--gamma", type=float, default=DEFAULT_GAMMA, help="nats")
    flags = parser.parse_args()
    if flags.presets:
        write_presets()
        return
    example, traces = opening_run(sbd_core.load(flags.model, device="cpu"), flags.gamma)
    write_opening(traces)
    write_presets(example)


if __name__ == "__main__":
    main()
