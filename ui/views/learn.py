"""The Learn view: its scenes, whose texts quote numbers from recorded runs."""

import json
import re
from dataclasses import replace
from functools import cache
from itertools import accumulate
from math import inf, log
from textwrap import shorten
from typing import Any

from sbd_core.files import ASSETS
from sbd_core.roofline import DEVICES, Device, pass_seconds
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.solvers import solver_parameters
from sbd_core.trace import Trace
from ui.best_settings import EVALUATION
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import BLOCKS, LearnRuns, learn_runs, presets
from ui.models import REAL_PRESETS

BIG_CHIP = "h100-bf16"
CHIPS = {key: device for key, device in DEVICES.items() if key != "h100-fp8"}
"""Chips with 2 bytes per weight, so that their names need no number format."""
NUM_LAYERS = 32
"""Layers of Llama-3.1-8B, each of which is roofline.LLAMA_8B."""
MAX_QUOTED = 60
BATCHES = (1, 8, 32, 128)


def facts(recorded: LearnRuns) -> dict[str, str]:
    """Map the placeholders in the scenes' texts to the numbers and words that they stand for."""
    main, ntp = recorded.runs["text"]["sbd"], recorded.runs["text"]["ntp"]
    cached = len(ntp.prompt_token_ids)
    loading, computing = parts_of_pass(1, cached)
    chip = DEVICES[BIG_CHIP]
    block = main.config.block_size
    first, first_ntp = recorded.runs["first"].values()  # with which the page opens
    order = recorded.choices.order
    # The lowest gamma at which something clashes.
    broken = next(edge for edge in recorded.choices.edges if not edge.is_right)
    stale, untrained = recorded.runs["stale"]["sbd"], recorded.runs["untrained"]["sbd"]
    kept_words, stale_words = parting_words(main.text, stale.text)
    return {
        "tokens": str(ntp.num_tokens),
        "ntp_passes": str(ntp.num_forwards),
        "sbd_passes": str(main.num_forwards),
        "passes_ratio": f"{ntp.num_forwards / main.num_forwards:.2f}",
        "block": str(block),
        "idle_percent": percent(1 - computing / loading),
        "coin_nats": f"{log(2):.2f}",
        "big_chip": chip_name(chip),
        "here": recorded.choices.processor,
        "here_ratio": f"{ntp.seconds / main.seconds:.2f}",
        "first_rate": f"{first_ntp.num_forwards / first.num_forwards:.2f}",
        "first_ratio": f"{first_ntp.seconds / first.seconds:.1f}",
        "candidates": " or ".join(order.candidates),
        "settled_by": " and ".join(
            f"row {cell // 4 + 1} column {cell % 4 + 1}" for cell in order.settled_by
        ),
        "clash": " ".join(broken.clashes[0].words.split()),
        "clash_gamma": f"{broken.gamma:g}",
        "kept_words": kept_words,
        "stale_words": stale_words,
        "untrained_prompt": untrained.prompt,
        "untrained_text": shorten(untrained.text, MAX_QUOTED, placeholder=""),
        "operations": f"{chip.linear_flops / chip.bandwidth:.0f}",
        **measured_facts(block, solver_parameters(main.config.solver)["gamma"]),
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
        "sbd_gamma": f"{gamma:g}",
        "test_prompts": str(sum(row["num_examples"] for row in families)),
        **{f"{name}_accuracy": percent(mean["accuracy"]) for name, mean in means.items()},
        **{f"{name}_tokens": f"{mean['tokens_per_forward']:.1f}" for name, mean in means.items()},
    }


def percent(part: float) -> str:
    """Format a share in percent, such as "82.7 %"."""
    return f"{100 * part:.1f}\N{NO-BREAK SPACE}%"


def parts_of_pass(rows: int, cached: int) -> tuple[float, float]:
    """Seconds on BIG_CHIP to load the bytes for a forward pass of Llama-3.1-8B, and to compute it.

    rows: number of input positions. cached: number of tokens in the KV cache.
    """
    chip = DEVICES[BIG_CHIP]
    ideals = replace(chip, linear_flops=inf, attention_flops=inf), replace(chip, bandwidth=inf)
    loading, computing = (
        NUM_LAYERS * pass_seconds(rows, cached, 1, "corrected", device=each) for each in ideals
    )
    return loading, computing


def chip_name(device: Device) -> str:
    """A device's name without its socket and number format."""
    return device.name.split(",")[0].removesuffix(" SXM")


def run_seconds(trace: Trace, device: Device, num_texts: int = 1) -> float:
    """Seconds that a trace's forward passes would take with Llama-3.1-8B, by the roofline."""
    return NUM_LAYERS * sum(
        pass_seconds(
            max(1, event.num_causal + event.block.size),
            event.num_cached,
            num_texts,
            "corrected",
            device=device,
        )
        for event in trace.events
    )


def machines(recorded: LearnRuns) -> list[dict[str, Any]]:
    """The run `text` timed on each chip, as objects of the type Machine of ui/web/learn/view.ts."""
    runs = {1: recorded.runs["text"]["ntp"], **by_block(recorded)}
    return [
        {
            "name": chip_name(device),
            "rates": device.source,
            "is_big": key == BIG_CHIP,
            "seconds": {
                size: [float(f"{run_seconds(trace, device, count):.4g}") for count in BATCHES]
                for size, trace in runs.items()
            },
        }
        for key, device in CHIPS.items()
    ]


def by_block(recorded: LearnRuns) -> dict[int, Trace]:
    """Map each block size, smallest first, to the trace of the run `text` with this block size."""
    main = recorded.runs["text"]["sbd"]
    smaller = {size: recorded.runs[f"block-{size}"]["sbd"] for size in BLOCKS}
    return {**smaller, main.config.block_size: main}


def pass_times(recorded: LearnRuns) -> list[dict[str, float]]:
    """Results of parts_of_pass() for 1 to 1,024 rows: {rows, loading, computing}."""
    cached = len(recorded.runs["text"]["ntp"].prompt_token_ids)
    rows = []
    for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        loading, computing = parts_of_pass(count, cached)
        rows.append({"rows": count, "loading": loading, "computing": computing})
    return rows


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
        "machines": machines(kept),
        "batches": BATCHES,
        "blocks": [[size, run.num_forwards] for size, run in by_block(kept).items()],
        "pass_times": pass_times(kept),
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


def setting() -> str:
    """The Learn view's JSON."""
    return wire_json({"gamma": DEFAULT_GAMMA, "lesson": lesson()})
