"""The Learn view: its scenes, and the recorded runs that they explain."""

import json
import re
from functools import cache
from itertools import accumulate
from typing import Any

from sbd_core.cost import ModelShape
from sbd_core.files import ASSETS
from sbd_core.roofline import LLAMA_8B
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.solvers import solver_parameters
from sbd_core.trace import Trace
from ui.best_settings import EVALUATION
from ui.examples import BLOCKS, LearnRuns, learn_runs, presets
from ui.models import REAL_PRESETS

BIG_CHIP = "H100"
LLAMA = ModelShape(layer=LLAMA_8B, num_layers=32, vocabulary_size=128_256, bytes_per_value=2)


def rows_of(trace: Trace) -> list[tuple[int, int]]:
    """Number of rows (input positions) and of cached tokens that each forward pass reads."""
    return [
        (max(1, event.num_causal + event.block.size), event.num_cached) for event in trace.events
    ]


WORDS = ASSETS / "learn" / "words.json"
SHOWN_RUNS = ("text", "verify", "sudoku")
NUM_OPTIONS = 3


@cache
def scenes(*, has_model: bool = True) -> tuple[dict[str, str], ...]:
    """Address and text of every scene; [term] marks a glossary word.

    tests/ui/views/test_lesson.py holds the numbers and quotations to the recorded runs.
    has_model: whether the reader can decode, which the exported file does not allow.
    """
    rows: list[dict[str, str]] = json.loads(WORDS.read_text(encoding="utf-8"))
    for row in rows:
        alone = row.pop("act_without_model", row["act"])
        if not has_model:
            row["act"] = alone
    return tuple(rows)


def tokens_per_pass(gamma: float) -> dict[str, str]:
    """Mean tokens per forward pass of nano by strategy, from the stored evaluation."""
    rows = json.loads(EVALUATION.read_text(encoding="utf-8"))["rows"]
    names = {"sbd": f"SBD gamma {gamma:g}", "verify": "verify"}
    return {
        short: f"{rows[name]['mean']['tokens_per_forward']:.1f}" for short, name in names.items()
    }


@cache
def lesson(*, has_model: bool = True) -> str:
    """The lesson as JSON. has_model: see scenes()."""
    kept = learn_runs()
    choices = kept.choices
    main = kept.runs["text"]["sbd"]
    by_block = {
        1: kept.runs["text"]["ntp"],
        **{size: kept.runs[f"block-{size}"]["sbd"] for size in BLOCKS},
        main.config.block_size: main,
    }
    told = [(edge, kept.runs[f"edge-{at}"]["sbd"]) for at, edge in enumerate(choices.edges)]
    body: dict[str, Any] = {
        "scenes": scenes(has_model=has_model),
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
        "chat_prompts": [preset.prompts[0] for preset in presets(REAL_PRESETS)],
    }
    return wire_json(body)


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
