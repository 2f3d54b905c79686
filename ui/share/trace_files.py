"""Traces that visitors bring: read, checked, and refused in one sentence if they cannot play.

A valid trace may still be one that no screen can hold; Trace.from_json does not mind, this does.
"""

from sbd_core.errors import ArgumentError, TraceError
from sbd_core.trace import Trace

MAX_FILE_BYTES = 5_000_000
MAX_PASSES = 2_000
MAX_POSITIONS = 4_096
MAX_ENTROPY = 100.0


def read_trace(text: object) -> Trace:
    """The trace in a text. Raises ArgumentError or TraceError naming the first thing wrong."""
    if not isinstance(text, str):
        raise ArgumentError("trace file", "must be text", text)
    if len(text) > MAX_FILE_BYTES:
        rule = f"must be at most {MAX_FILE_BYTES // 10**6} MB"
        raise ArgumentError("trace file", rule, f"{len(text) / 10**6:.1f} MB")
    trace = Trace.from_json(text)
    _check_playable(trace)
    return trace


def _check_playable(trace: Trace) -> None:
    if not trace.events:
        raise TraceError("trace.events: must hold at least one pass")
    if len(trace.events) > MAX_PASSES:
        rule = f"must hold at most {MAX_PASSES} passes to be shown"
        raise TraceError(f"trace.events: {rule}; got {len(trace.events)}")
    for event in trace.events:
        path = f"trace.events[{event.index}]"
        end = event.block.start + event.block.size
        if end > MAX_POSITIONS:
            rule = f"must end at position {MAX_POSITIONS} or before to be shown"
            raise TraceError(f"{path}.block: {rule}; got {end}")
        for item in event.masked:
            if item.entropy > MAX_ENTROPY:
                rule = f"entropy must be at most {MAX_ENTROPY:g} nats"
                raise TraceError(f"{path}.masked: {rule}; got {item.entropy:g}")
        positions = [item.position for item in event.masked]
        positions += [reveal.position for reveal in event.reveals]
        if not all(event.block.start <= position < end for position in positions):
            raise TraceError(f"{path}: masked and revealed positions must lie in its block")
        if any(item.position >= MAX_POSITIONS for item in event.hindsight):
            raise TraceError(f"{path}.hindsight: positions must be below {MAX_POSITIONS}")
