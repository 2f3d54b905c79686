"""One prompt decoded in several ways, one after the other, and compared once all are done.

Runs the lanes and makes the board from their traces. Knows no Gradio and no tensors.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sbd_core
from sbd_core.config import EntropyBound
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.trace import Trace
from ui import session as limits
from ui.session import SECONDS_BETWEEN_LOOKS, Form, Lane, Session, message_of

LANES = {
    "ntp": "Next-token prediction",
    "sbd-low": "SBD, low γ",
    "sbd-high": "SBD, high γ",
    "verify": "Verify",
}
LOW_GAMMA, HIGH_GAMMA = 0.1, 0.35
WARM_PASSES = 3
MICROSECONDS = 1e6

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """What the visitor sent, unchecked. lanes: names in LANES, in any order."""

    prompt: Any
    lanes: Any
    low: Any = LOW_GAMMA
    high: Any = HIGH_GAMMA
    block_size: Any = 16
    max_new_tokens: Any = 128
    seed: Any = 0


@dataclass(frozen=True, slots=True)
class News:
    """A line of text for the page, and the finished race's board if there is one."""

    message: str
    is_error: bool = False
    is_running: bool = True
    board: Mapping[str, Any] | None = None


def forms_of(entry: Entry) -> dict[str, Form]:
    """The form of each lane, next-token prediction first. Raises ArgumentError."""
    if not isinstance(entry.lanes, list) or not entry.lanes:
        raise ArgumentError("The race", "must have one lane or more; check its box", None)
    for lane in entry.lanes:
        if not isinstance(lane, str) or lane not in LANES:
            raise ArgumentError("lanes", f"must each be one of {', '.join(LANES)}", lane)
    gammas = {"sbd-low": entry.low, "sbd-high": entry.high}
    if set(gammas) <= set(entry.lanes) and entry.low == entry.high:
        raise ArgumentError("high γ", "must differ from low γ, or both run the same", entry.high)
    shared = {name: getattr(entry, name) for name in ("block_size", "max_new_tokens", "seed")}
    return {
        lane: Form(
            entry.prompt,
            strategy=lane.partition("-")[0],
            gamma=gammas.get(lane, LOW_GAMMA),
            **shared,
        )
        for lane in LANES
        if lane in entry.lanes
    }


def race(session: Session, entry: Entry) -> Iterator[News]:
    """Everything the page is told of one race, the board last. Closing it frees the model."""
    ticket = session.turns.join()
    try:
        forms = forms_of(entry)
        for update in session.arrival():
            yield News(update.message)
        lanes = {name: session.open(form)[0] for name, form in forms.items()}
        for update in session.wait(ticket):
            yield News(update.message)
        yield from _run(session, lanes)
        traces = {name: session.trace(lane) for name, lane in lanes.items()}
        yield News("", is_running=False, board=board(traces))
    except SetBlockDecodingError as error:
        yield News(message_of(error), is_error=True, is_running=False)
    except Exception:  # the page must say something, whatever broke
        logger.exception("a race failed")
        text = "The race failed inside the program; its log says where."
        yield News(text, is_error=True, is_running=False)
    finally:
        session.turns.leave(ticket)


def _run(session: Session, lanes: Mapping[str, Lane]) -> Iterator[News]:
    """Every lane to its end, after a few passes of each that are thrown away."""
    deadline = time.monotonic() + limits.MAX_RUN_SECONDS
    yield News("Warming up …")
    for lane in lanes.values():
        warm = sbd_core.stream(session.model, lane.prompt, lane.config)
        for _ in zip(range(WARM_PASSES), warm, strict=False):
            pass
    for number, (name, lane) in enumerate(lanes.items(), 1):
        told = 0.0
        for event in lane.stream:
            lane.events.append(event)
            now = time.monotonic()
            if now > deadline:
                raise SetBlockDecodingError(
                    f"The race took longer than {limits.MAX_RUN_SECONDS:.0f} seconds, this page’s "
                    "limit; choose fewer lanes or a shorter answer."
                )
            if now - told > SECONDS_BETWEEN_LOOKS:
                told = now
                passes = f"pass {len(lane.events)}"
                yield News(f"Running lane {number} of {len(lanes)}: {LANES[name]}, {passes} …")


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
