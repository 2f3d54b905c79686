"""verify with predrafts: forward passes saved, rows added, and the effect on time."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.protocol import SetBlockModel
from sbd_core.roofline import slowdown
from sbd_core.trace import Trace

NUM_PREDRAFTS = (0, 1, 2, 4)
THRESHOLDS = (0.5, 0.3, 0.15)
KV_LENGTH, BATCH_SIZES = 1024, (1, 8)
"""The roofline's workload: Llama-3.1-8B on an H100, see sbd_core.roofline."""

Setting = tuple[int, float]
"""Predrafts, threshold."""
TODAY: Setting = (NUM_PREDRAFTS[0], THRESHOLDS[0])
"""The setting that the others are compared with."""


@dataclass(slots=True)
class Decodes:
    """One setting over the prompts of a task: best seconds, counts, and equality with TODAY."""

    seconds: list[float] = field(default_factory=list)
    tokens_per_forward: list[float] = field(default_factory=list)
    num_tokens: int = 0
    num_forwards: int = 0
    num_rows: int = 0
    num_equal: int = 0


def settings(block_size: int, max_new_tokens: int) -> dict[Setting, DecodeConfig]:
    """The config of every setting."""
    return {
        (num_predrafts, threshold): DecodeConfig(
            strategy="verify",
            block_size=block_size,
            max_new_tokens=max_new_tokens,
            top_k_recorded=0,
            num_predrafts=num_predrafts,
            draft_threshold=threshold,
        )
        for threshold in THRESHOLDS
        for num_predrafts in NUM_PREDRAFTS
    }


def decode_all(
    model: SetBlockModel,
    configs: Mapping[Setting, DecodeConfig],
    prompts: Sequence[Sequence[int]],
    num_rounds: int,
) -> Iterator[dict[Setting, Decodes]]:
    """Every setting on every prompt, interleaved, the best of `num_rounds`; yields per prompt."""
    found = {setting: Decodes() for setting in configs}
    for config in configs.values():
        generate(model, prompts[0], config)
    for prompt in prompts:
        best: dict[Setting, float] = {}
        traces: dict[Setting, Trace] = {}
        for _ in range(num_rounds):
            for setting, config in configs.items():
                trace = traces[setting] = generate(model, prompt, config)
                best[setting] = min(trace.seconds, best.get(setting, trace.seconds))
        for setting, trace in traces.items():
            decodes = found[setting]
            decodes.seconds.append(best[setting])
            decodes.tokens_per_forward.append(trace.tokens_per_forward)
            decodes.num_tokens += trace.num_tokens
            decodes.num_forwards += trace.num_forwards
            decodes.num_rows += num_rows(trace)
            decodes.num_equal += trace.token_ids == traces[TODAY].token_ids
        yield found


def num_rows(trace: Trace) -> int:
    """Rows of every forward pass but the prompt's: causal tokens, the block, predrafts."""
    return sum(
        event.num_causal + event.block.size + sum(predraft.num_rows for predraft in event.predrafts)
        for event in trace.events[1:]
    )


def rows_data(tasks: Mapping[str, Mapping[Setting, Decodes]]) -> list[dict[str, Any]]:
    """A row for every setting: means over tasks, and the roofline's speed for its rows."""
    first = _row(TODAY, tasks)
    rows = [_row(setting, tasks) for setting in next(iter(tasks.values()))]
    for row in rows:
        row["seconds_over_first"] = round(row["seconds"] / first["seconds"], 4)
        row["roofline_speedup_over_first"] = {
            f"batch {size}": round(_predicted(row, size) / _predicted(first, size), 3)
            for size in BATCH_SIZES
        }
    return rows


def _row(setting: Setting, tasks: Mapping[str, Mapping[Setting, Decodes]]) -> dict[str, Any]:
    of_task = {name: found[setting] for name, found in tasks.items()}
    per_forward = {name: statistics.mean(d.tokens_per_forward) for name, d in of_task.items()}
    every = list(of_task.values())
    num_decoding = sum(d.num_forwards - len(d.seconds) for d in every)
    seconds, num_tokens = sum(sum(d.seconds) for d in every), sum(d.num_tokens for d in every)
    return {
        "num_predrafts": setting[0],
        "draft_threshold": setting[1],
        "tokens_per_forward": round(statistics.mean(per_forward.values()), 3),
        "by_task": {name: round(value, 3) for name, value in per_forward.items()},
        "rows_per_forward": round(sum(d.num_rows for d in every) / num_decoding, 2),
        "tokens_per_second": round(num_tokens / seconds, 1),
        "seconds": round(seconds, 4),
        "num_prompts": sum(len(d.seconds) for d in every),
        "num_equal_to_first": sum(d.num_equal for d in every),
    }


def _predicted(row: Mapping[str, Any], batch_size: int) -> float:
    """Tokens in the time of a forward pass of one row, by the corrected roofline."""
    cost = slowdown(max(1, round(row["rows_per_forward"])), KV_LENGTH, batch_size, "corrected")
    return float(row["tokens_per_forward"]) / cost
