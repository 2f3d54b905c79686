"""A finished race as the page shows it, made from the traces of its lanes. Knows no Gradio."""

from collections.abc import Mapping, Sequence
from typing import Any

from sbd_core.config import EntropyBound
from sbd_core.trace import Trace
from ui.race.entry import LANES

MICROSECONDS = 1e6


def board(traces: Mapping[str, Trace], *, is_recorded: bool = False) -> dict[str, Any]:
    """A finished race as the page shows it; every count is made here, from the traces.

    Times are whole microseconds. A token is [text, pass that fixed it, whether it differs].
    """
    plain = traces.get("ntp")
    first = next(iter(traces.values()))
    rows = [{"name": name, **_row(name, trace, plain)} for name, trace in traces.items()]
    return {
        "prompt": first.prompt,
        "model": first.model,
        "is_recorded": is_recorded,
        "lanes": rows,
    }


def _row(name: str, trace: Trace, plain: Trace | None) -> dict[str, Any]:
    only_here: set[int] = set()
    missing: dict[int, int] = {}
    if plain is not None:
        only_here, missing = differences(plain.token_ids, trace.token_ids)
    passes = fixed_passes(trace)
    return {
        "label": label_of(name, trace),
        "times": [round(event.seconds * MICROSECONDS) for event in trace.events],
        "tokens": [
            [trace.tokens[token_id], passes[position], position in only_here]
            for position, token_id in enumerate(trace.token_ids)
        ],
        "missing": sorted(missing.items()),
        "has_end": trace.finish == "end_of_sequence",
        "num_passes": trace.num_forwards,
        "num_tokens": trace.num_tokens,
        "seconds": trace.seconds,
        "times_faster": plain.seconds / trace.seconds if plain and trace.seconds else None,
        "num_differing": None if plain is None else len(only_here),
        "num_missing": sum(missing.values()),
    }


def label_of(name: str, trace: Trace) -> str:
    """The lane's title, with its gamma where it has one."""
    if trace.config.strategy == "sbd" and isinstance(trace.config.solver, EntropyBound):
        title = LANES.get(name, "SBD, γ")
        return f"{title} {trace.config.solver.gamma:g}"
    return LANES[trace.config.strategy]


def fixed_passes(trace: Trace) -> list[int]:
    """The pass, from 0, that fixed each token of the answer."""
    passes: dict[int, int] = {}
    num_committed = 0
    for index, event in enumerate(trace.events):
        for reveal in event.reveals:
            passes.setdefault(reveal.position, index)
        for position in range(num_committed, num_committed + len(event.committed)):
            passes.setdefault(position, index)
        num_committed += len(event.committed)
    return [passes[position] for position in range(num_committed)]


def differences(left: Sequence[int], right: Sequence[int]) -> tuple[set[int], dict[int, int]]:
    """Indexes of `right` that differ, and {index: how many tokens of `left` are missing before it}.

    By the fewest edits; a token in another's place differs, and none is missing there.
    """
    costs = edit_costs(left, right)
    only_right: set[int] = set()
    missing: dict[int, int] = {}
    i = j = 0
    while i < len(left) or j < len(right):
        has_both = i < len(left) and j < len(right)
        if has_both and left[i] == right[j]:
            i, j = i + 1, j + 1
        elif has_both and costs[i][j] == costs[i + 1][j + 1] + 1:
            only_right.add(j)
            i, j = i + 1, j + 1
        elif i < len(left) and costs[i][j] == costs[i + 1][j] + 1:
            missing[j] = missing.get(j, 0) + 1
            i += 1
        else:
            only_right.add(j)
            j += 1
    return only_right, missing


def edit_costs(left: Sequence[int], right: Sequence[int]) -> list[list[int]]:
    """[i][j]: the fewest insertions, deletions and swaps that make left[i:] into right[j:]."""
    costs = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left) + 1)):
        for j in reversed(range(len(right) + 1)):
            if i == len(left) or j == len(right):
                costs[i][j] = len(left) - i + len(right) - j
            elif left[i] == right[j]:
                costs[i][j] = costs[i + 1][j + 1]
            else:
                costs[i][j] = 1 + min(costs[i + 1][j], costs[i][j + 1], costs[i + 1][j + 1])
    return costs
