"""The Learn view: its scenes, whose texts quote numbers from recorded runs."""

import json
import re
from dataclasses import replace
from functools import cache
from itertools import accumulate
from math import inf, log
from textwrap import shorten
from typing import Any

from sbd_core.cost import ModelShape
from sbd_core.files import ASSETS
from sbd_core.roofline import DEVICES, LLAMA_8B, pass_seconds
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.solvers import solver_parameters
from sbd_core.trace import Trace
from ui.best_settings import EVALUATION
from ui.examples import BLOCKS, LearnRuns, learn_runs, presets
from ui.models import REAL_PRESETS

BIG_CHIP = "h100-bf16"
LLAMA = ModelShape(layer=LLAMA_8B, num_layers=32, vocabulary_size=128_256, bytes_per_value=2)
MAX_QUOTED = 60


def facts(recorded: LearnRuns) -> dict[str, Any]:
    """Map the names in the scenes' texts to what they stand for.

    A text may take a value from a recorded run, as in {text[ntp].num_tokens}.
    """
    main, ntp = recorded.runs["text"]["sbd"], recorded.runs["text"]["ntp"]
    chip, cached = DEVICES[BIG_CHIP], len(ntp.prompt_token_ids)
    ideals = replace(chip, linear_flops=inf, attention_flops=inf), replace(chip, bandwidth=inf)
    loading, computing = (pass_seconds(1, cached, 1, "corrected", device=each) for each in ideals)
    first, first_ntp = recorded.runs["first"].values()  # with which the page opens
    order = recorded.choices.order
    # The lowest gamma at which something clashes.
    broken = next(edge for edge in recorded.choices.edges if not edge.is_right)
    kept_words, stale_words = parting_words(main.text, recorded.runs["stale"]["sbd"].text)
    untrained = recorded.runs["untrained"]["sbd"].text
    return {
        **recorded.runs,
        "choices": recorded.choices,
        "broken": broken,
        "passes_ratio": f"{ntp.num_forwards / main.num_forwards:.2f}",
        "idle_percent": percent(1 - computing / loading),
        "coin_nats": f"{log(2):.2f}",
        "big_chip": chip.name.split(",")[0].removesuffix(" SXM"),
        "here_ratio": f"{ntp.seconds / main.seconds:.2f}",
        "first_rate": f"{first_ntp.num_forwards / first.num_forwards:.2f}",
        "first_ratio": f"{first_ntp.seconds / first.seconds:.1f}",
        "candidates": " or ".join(order.candidates),
        "settled_by": " and ".join(
            f"row {cell // 4 + 1} column {cell % 4 + 1}" for cell in order.settled_by
        ),
        "clash": " ".join(broken.clashes[0].words.split()),
        "kept_words": kept_words,
        "stale_words": stale_words,
        "untrained_text": shorten(untrained, MAX_QUOTED, placeholder=""),
        "operations": f"{chip.linear_flops / chip.bandwidth:.0f}",
        **measured_facts(main.config.block_size, solver_parameters(main.config.solver)["gamma"]),
    }


def parting_words(text: str, other: str) -> tuple[str, str]:
    """The words of two texts from a little before the place where they part."""
    both = text.split(), other.split()
    at = next(n for n, (one, two) in enumerate(zip(*both, strict=False)) if one != two)
    one, two = (" ".join(words[max(at - 3, 0) : at + 5]) for words in both)
    return one, two


def measured_facts(block: int, gamma: float) -> dict[str, str]:
    """Accuracy and tokens per forward pass at `block` and `gamma`, from the stored evaluation."""
    evaluation: dict[str, Any] = json.loads(EVALUATION.read_text(encoding="utf-8"))
    assert evaluation["block_size"] == block
    rows = {"ntp": "NTP", "sbd": f"SBD gamma {gamma:g}", "verify": "verify"}
    families = evaluation["rows"][rows["ntp"]]["families"]
    means = {name: evaluation["rows"][row]["mean"] for name, row in rows.items()}
    return {
        "test_prompts": str(sum(row["num_examples"] for row in families)),
        **{f"{name}_accuracy": percent(mean["accuracy"]) for name, mean in means.items()},
        **{f"{name}_tokens": f"{mean['tokens_per_forward']:.1f}" for name, mean in means.items()},
    }


def percent(part: float) -> str:
    """Format a share in percent, such as "82.7 %"."""
    return f"{100 * part:.1f}\N{NO-BREAK SPACE}%"


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
    """Address and text of every scene, with the numbers filled in; [term] marks a glossary word.

    has_model: whether the reader can decode, which the exported file does not allow.
    """
    known = facts(learn_runs())
    order = learn_runs().choices.order
    rows: list[dict[str, str]] = json.loads(WORDS.read_text(encoding="utf-8"))
    for row in rows:
        otherwise = row.pop("otherwise", "")
        if row["address"] == "out-of-order" and not order.settled_by:
            row["answer"] = otherwise  # the run does not show all that the answer says
        alone = row.pop("act_without_model", row["act"])
        if not has_model:
            row["act"] = alone
    return tuple({key: text.format_map(known) for key, text in row.items()} for row in rows)


@cache
def lesson(*, has_model: bool = True) -> str:
    """The lesson as JSON. has_model: see scenes()."""
    kept = learn_runs()
    known, choices = facts(kept), kept.choices
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
        "tokens_per_pass": {name: known[f"{name}_tokens"] for name in ("sbd", "verify")},
        "big_chip": known["big_chip"],
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
