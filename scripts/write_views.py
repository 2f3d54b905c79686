"""Write what some views of the page start with, assets/views.json: python -m scripts.write_views

It is made of the recorded runs and of the files in assets/results; scripts.record runs this, too.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any

from sbd_core.cost import ModelShape
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.roofline import LLAMA_8B, LLAMA_8B_PUBLISHED, Calibrated, Device
from sbd_core.run_lines import replay_lines
from sbd_core.solvers import solver_parameters
from sbd_core.trace import Trace
from scripts.write_tables import RESULTS, results
from ui.examples import (
    HOME_RUN,
    LEARN_INDEX,
    by_strategy,
    gallery_traces,
    parsed,
    presets,
    recorded,
)
from ui.models import offer_of
from ui.values import VIEWS

BLOCKS = (2, 4, 8)
"""Block sizes of the runs block-2, block-4, ..., which repeat the run `text` in smaller blocks."""


@dataclass(frozen=True, slots=True)
class LearnRuns:
    """The recorded runs of the Learn view, and the details of these runs that its scenes explain.

    runs: maps the name of each run to its traces by lane, the main lane first.
    choices: the details, an object with the fields of assets/traces/learn/index.json, most of them
        chosen by hand. Those that the page gets, too, are described at LessonData of
        ui/web/learn/view.ts. sure, unsure: two words of the run `guess` for the reader to guess, by
        the position of their token and the forward pass whose predictions are shown. edges: one
        object for each run edge-0, edge-1, ... story_case: Example.case of the story that these
        runs tell. processor: name of the processor on which the run `text` was timed.
    """

    runs: Mapping[str, Mapping[str, Trace]]
    choices: Any


@cache
def learn_runs() -> LearnRuns:
    """Read the runs of the Learn view."""
    choices = parsed(LEARN_INDEX)
    runs = {"first": gallery_traces(HOME_RUN)}
    for name in ("text", "guess", "sudoku", "stale", "untrained"):
        runs[name] = by_strategy(recorded(f"learn/{name}"))
    single = {
        **dict(zip(("verify", "verify-ntp"), recorded("learn/verify"), strict=True)),
        **{f"block-{n}": run for n, run in zip(BLOCKS, recorded("learn/blocks"), strict=True)},
        **{f"edge-{number}": run for number, run in enumerate(recorded("learn/edges"))},
    }
    runs |= {name: by_strategy([trace]) for name, trace in single.items()}
    return LearnRuns(runs, choices)


BIG_CHIP = "H100"
LLAMA = ModelShape(layer=LLAMA_8B, num_layers=32, vocabulary_size=128_256, bytes_per_value=2)
SHOWN_RUNS = ("text", "verify", "sudoku")
NUM_OPTIONS = 3


def rows_of(trace: Trace) -> list[tuple[int, int]]:
    """Number of rows (input positions) and of cached tokens that each forward pass reads."""
    return [
        (max(1, event.num_causal + event.block.size), event.num_cached) for event in trace.events
    ]


def tokens_per_pass(gamma: float) -> dict[str, str]:
    """Mean tokens per forward pass of nano by strategy, from the stored evaluation."""
    rows = results("evaluation")["rows"]
    names = {"sbd": f"SBD gamma {gamma:g}", "verify": "verify"}
    means = {short: rows[name]["mean"]["tokens_per_forward"] for short, name in names.items()}
    return {short: f"{mean:.1f}" for short, mean in means.items()}


def lesson() -> dict[str, Any]:
    """The data of the Learn view but its scenes: the type LessonData of ui/web/learn/view.ts."""
    kept = learn_runs()
    choices = kept.choices
    main = kept.runs["text"]["sbd"]
    by_block = {
        1: kept.runs["text"]["ntp"],
        **{size: kept.runs[f"block-{size}"]["sbd"] for size in BLOCKS},
        main.config.block_size: main,
    }
    told = [(edge, kept.runs[f"edge-{at}"]["sbd"]) for at, edge in enumerate(choices.edges)]
    return {
        "runs": {name: replay_lines(name, kept.runs[name]) for name in SHOWN_RUNS},
        # In the order of the text, as a later gap shows the word that an earlier one hides.
        "gaps": [
            gap(kept, place)
            for place in sorted((choices.sure, choices.unsure), key=lambda place: place.position)
        ],
        "mask_pass": choices.mask_pass,
        "bound_pass": choices.bound_pass,
        "check_pass": choices.check_pass,
        "edges": [
            {
                **vars(edge),
                "clashes": [vars(clash) for clash in edge.clashes],
                **passes_of(trace),
                "fault_tokens": fault_tokens(edge.fault, trace),
            }
            for edge, trace in told
        ],
        "story": told[0][1].prompt,
        "is_verify_ntp": choices.is_verify_ntp,
        "check_ntp_passes": kept.runs["verify-ntp"]["ntp"].num_forwards,
        "order": vars(choices.order),
        "tokens_per_pass": tokens_per_pass(solver_parameters(main.config.solver)["gamma"]),
        "big_chip": BIG_CHIP,
        "shape": LLAMA.as_json(),
        "rows": {size: rows_of(run) for size, run in by_block.items()},
        "prompts": [preset.prompts[0] for preset in presets()],
        "chat_prompts": [preset.prompts[0] for preset in presets(offer_of(REAL_MODEL)["presets"])],
    }


def gap(kept: LearnRuns, place: Any) -> dict[str, Any]:
    """A word for the reader to guess: the text before it, the model's guesses, and some options.

    place: the `position` of the word in the run `guess`, and the `forward_pass` that guesses it.
    """
    trace = kept.runs["guess"]["sbd"]
    event = trace.events[place.forward_pass]
    item = next(item for item in event.masked if item.position == place.position)
    guesses = [
        [trace.tokens[token_id], probability]
        for token_id, probability in zip(item.top_token_ids, item.top_probabilities, strict=True)
    ]
    words = [str(text) for text, _ in guesses if re.fullmatch(r" [A-Za-z]+", str(text))]
    return {
        "before": "".join(trace.tokens[token_id] for token_id in trace.token_ids[: place.position]),
        "entropy": item.entropy,
        "guesses": guesses,
        "options": sorted(words[:NUM_OPTIONS]),
    }


def passes_of(trace: Trace) -> dict[str, Any]:
    """The number of a run's forward passes; for each token, its text and the index of its pass."""
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    return {
        "passes": trace.num_forwards,
        "tokens": [[*row] for row in zip(texts, trace.token_passes, strict=True)],
    }


def fault_tokens(fault: str, trace: Trace) -> list[int]:
    """Indices of the tokens with the words that `fault` quotes; [] if it quotes none."""
    quoted = re.search("“(.+?)”", fault)
    if quoted is None or (match := re.search(rf"\b{re.escape(quoted[1])}", trace.text)) is None:
        return []
    texts = [trace.tokens[token_id] for token_id in trace.token_ids]
    ends = [*accumulate(map(len, texts))]
    return [
        at
        for at, (end, text) in enumerate(zip(ends, texts, strict=True))
        if end - len(text) < match.end() and match.start() < end
    ]


MAX_MARKED = 12
"""Most runs of the reader in the chart of all solvers, the newest."""


def charts() -> dict[str, Any]:
    """The data of the charts: the type Setting of ui/web/charts.

    sweep: accuracy and tokens per forward pass that `sbd evaluate --sweep` stored for every solver
    on held-out examples.
    """
    stored = results("sweep")
    means = {name: row["mean"] for name, row in stored["rows"].items()}
    sweep = {name: [each["accuracy"], each["tokens_per_forward"]] for name, each in means.items()}
    cards = json.loads((ASSETS / "charts.json").read_text(encoding="utf-8"))
    return {
        "cards": cards,
        "sweep": sweep,
        "model": stored["model"],
        "mostMarked": MAX_MARKED,
    }


def roofline() -> dict[str, Any]:
    """The data of the Roofline view: the types Setting and CardWords of ui/web.

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
    times = Calibrated.read(RESULTS / "bench.json")
    here = times.best_device(nano, "This machine as measured")
    facts = results("bench")["circumstances"]
    source = f"{here.source} ({facts['processor']}, {facts['threads']} thread)"
    return {
        "cards": json.loads((ASSETS / "roofline.json").read_text("utf-8")),
        "models": models,
        "measured": device_data(replace(here, source=source)),
        "times": times.seconds,
    }


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


def views() -> dict[str, Any]:
    """The data of each view by its name."""
    return {"lesson": lesson(), "charts": charts(), "roofline": roofline()}


def main() -> None:
    """Write the file, with a line for each view."""
    rows = [
        f"{json.dumps(name)}: {json.dumps(data, ensure_ascii=False)}"
        for name, data in views().items()
    ]
    VIEWS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
