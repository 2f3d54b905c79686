"""Traces that visitors bring: read, checked, and refused in one sentence if they cannot play.

A valid trace may still be one that no screen can hold; Trace.from_json does not mind, this does.
"""

import re

from sbd_core.errors import ArgumentError, TraceError
from sbd_core.events import StepEvent
from sbd_core.replay.wire_format import MAX_SHOWN_BLOCK
from sbd_core.trace import Trace

MAX_FILE_BYTES = 5_000_000
MAX_PASSES = 2_000
MAX_POSITIONS = 2_000
MAX_NEW_TOKENS = 2**20
MAX_ENTROPY = 100.0
MAX_MARKS = 1_000
"""Characters that cannot be seen, each drawn as an element of its own."""
UNSEEN = re.compile(r"\\x[0-9A-F]{2}|  +|[^\S ]|\ufffc")


def read_trace(text: object) -> Trace:
    """The trace in a text. Raises ArgumentError or TraceError naming the first thing wrong."""
    if not isinstance(text, str):
        raise ArgumentError("trace file", "must be text", text)
    if len(text) > MAX_FILE_BYTES:
        rule = f"must be at most {MAX_FILE_BYTES // 10**6} MB"
        raise ArgumentError("trace file", rule, f"{len(text) / 10**6:.1f} MB")
    trace = Trace.from_json(text)
    _check_config(trace)
    _check_playable(trace)
    _check_marks(trace)
    return trace


def _check_config(trace: Trace) -> None:
    """Without steps, the player draws what the config promises."""
    _at_most("trace.config.block_size", trace.config.block_size, MAX_SHOWN_BLOCK)
    _at_most("trace.config.max_new_tokens", trace.config.max_new_tokens, MAX_NEW_TOKENS)
    last_pin = max(trace.config.pinned, default=0)
    _at_most("trace.config.pinned", last_pin, MAX_POSITIONS - 1)


def _check_playable(trace: Trace) -> None:
    if not trace.events:
        raise TraceError("trace.events: must hold at least one forward pass")
    if len(trace.events) > MAX_PASSES:
        rule = f"must hold at most {MAX_PASSES} forward passes to be shown"
        raise TraceError(f"trace.events: {rule}; got {len(trace.events)}")
    _at_most("trace: the tokens of the answer", trace.num_tokens, MAX_POSITIONS)
    for event in trace.events:
        path = f"trace.events[{event.index}]"
        end = event.block.start + event.block.size
        _at_most(f"{path}.block: its size", event.block.size, MAX_SHOWN_BLOCK)
        _at_most(f"{path}.block: its end", end, MAX_POSITIONS)
        _at_most(f"{path}.draft: its length", len(event.draft), MAX_SHOWN_BLOCK)
        for item in event.masked:
            if item.entropy > MAX_ENTROPY:
                rule = f"entropy must be at most {MAX_ENTROPY:g} nats"
                raise TraceError(f"{path}.masked: {rule}; got {item.entropy:g}")
        positions = [item.position for item in event.masked]
        positions += [reveal.position for reveal in event.reveals]
        # Verify drafts ahead: its early blocks lie behind the block that it checks.
        is_ahead = trace.config.strategy == "verify"
        first, stop = (0, MAX_POSITIONS) if is_ahead else (event.block.start, end)
        if not all(first <= position < stop for position in positions):
            raise TraceError(f"{path}: masked and revealed positions must lie in its block")
        if any(item.position >= MAX_POSITIONS for item in event.hindsight):
            raise TraceError(f"{path}.hindsight: positions must be below {MAX_POSITIONS}")


def _check_marks(trace: Trace) -> None:
    """Neither the answer nor a block may be full of characters that cannot be seen."""
    marks = {token_id: _num_marks(text) for token_id, text in trace.tokens.items()}
    _at_most(
        "trace.tokens: unseen characters of the answer",
        sum(marks[token_id] for token_id in trace.token_ids),
        MAX_MARKS,
    )
    for event in trace.events:
        shown = _shown_in(event)
        most = event.block.size * max((marks[token_id] for token_id in shown), default=0)
        _at_most(f"trace.events[{event.index}]: unseen characters of its block", most, MAX_MARKS)


def _shown_in(event: StepEvent) -> set[int]:
    """Tokens that a tile or a hover shows in this forward pass."""
    shown = {reveal.token_id for reveal in event.reveals} | {*event.draft, *event.committed}
    return shown.union(*(item.top_token_ids for item in event.masked))


def _num_marks(text: str) -> int:
    unprintable = sum(not character.isprintable() for character in text)
    return unprintable + sum(len(found) for found in UNSEEN.findall(text) if found.isprintable())


def _at_most(path: str, value: int, limit: int) -> None:
    if value > limit:
        raise TraceError(f"{path} must be at most {limit:,} to be shown; got {value:,}"[:300])
