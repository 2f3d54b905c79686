"""Recorded runs as wire lines: with the verdict on each lane, and what to look at beside them."""

from collections.abc import Mapping
from typing import Any

from sbd_core.replay import wire_format
from sbd_core.trace import Trace
from ui.decode.verdict import verdicts_of
from ui.gallery import recorded


def opening() -> str:
    """The run that the page opens on; "" is an empty player."""
    lanes = recorded.opening_traces()
    return replay("opening", lanes) if lanes else ""


def replay(
    run_id: str,
    lanes: Mapping[str, Trace],
    *,
    about: str = "",
    is_ours: bool = True,
    timing: Mapping[str, Any] | None = None,
) -> str:
    """Wire lines of recorded lanes; timing: of `wire_format.replay`.

    is_ours: whether they were recorded by us, see verdict_of.
    """
    verdicts = verdicts_of(lanes, is_ours=is_ours)
    return wire_format.replay(run_id, lanes, verdicts=verdicts, about=about, timing=timing)
