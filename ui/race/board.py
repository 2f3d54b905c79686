"""A finished race as the page shows it, made from the traces of its lanes. Knows no Gradio."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.trace import Trace
from ui.decode.verdict import verdict_of
from ui.race.entry import LANES

MICROSECONDS = 1e6


def board(traces: Mapping[str, Trace], *, is_recorded: bool = False) -> dict[str, Any]:
    """A finished race as the page shows it; the page compares the lanes' token ids itself.

    Times are whole microseconds. A token is [token id, text, forward pass that fixed it].
    """
    first = next(iter(traces.values()))
    rows = [
        {"name": name, "label": label_of(trace.config), **lane_row(trace)}
        for name, trace in traces.items()
    ]
    return {
        "prompt": first.prompt,
        "model": first.model,
        "block_size": max(trace.config.block_size for trace in traces.values()),
        "max_new_tokens": first.config.max_new_tokens,
        "is_recorded": is_recorded,
        "lanes": rows,
    }


def lane_row(trace: Trace) -> dict[str, Any]:
    """A lane's figures, whatever it is called: its times, tokens, counts and verdict."""
    passes = fixed_passes(trace)
    times = [round(event.seconds * MICROSECONDS) for event in trace.events]
    return {
        "times": times,
        "tokens": [
            [token_id, trace.tokens[token_id], passes[position]]
            for position, token_id in enumerate(trace.token_ids)
        ],
        "has_end": trace.finish == "end_of_sequence",
        "limit": trace.config.max_new_tokens if trace.finish == "length" else None,
        "num_passes": trace.num_forwards,
        "num_tokens": trace.num_tokens,
        "seconds": sum(times) / MICROSECONDS,
        "verdict": asdict(verdict) if (verdict := verdict_of(trace)) else None,
    }


def label_of(config: DecodeConfig) -> str:
    """The lane's title, with its gamma, or how it drafts ahead, where it does."""
    if config.strategy == "sbd" and isinstance(config.solver, EntropyBound):
        return f"SBD, γ {config.solver.gamma:g}"
    if config.num_predrafts:
        ahead, threshold = config.num_predrafts, config.draft_threshold
        return f"Verify, {ahead} drafts ahead, threshold {threshold:g}"
    return LANES[config.strategy]


def fixed_passes(trace: Trace) -> list[int]:
    """The forward pass, from 0, that fixed each token of the answer."""
    passes: dict[int, int] = {}
    num_committed = 0
    for index, event in enumerate(trace.events):
        for reveal in event.reveals:
            passes.setdefault(reveal.position, index)
        for position in range(num_committed, num_committed + len(event.committed)):
            passes.setdefault(position, index)
        num_committed += len(event.committed)
    return [passes[position] for position in range(num_committed)]
