"""Recorded runs as wire lines: with the verdict on each lane, and what to look at beside them."""

from collections.abc import Mapping

from sbd_core.replay import replay_lines
from sbd_core.trace import Trace
from ui.decode.verdict import verdicts_of
from ui.gallery import recorded


def opening() -> str:
    """The run that the page opens on; "" is an empty player."""
    lanes = recorded.opening_traces()
    return replay("opening", lanes) if lanes else ""


def replay(run_id: str, lanes: Mapping[str, Trace], *, about: str = "") -> str:
    """Wire lines of lanes that were recorded by us."""
    return replay_lines(run_id, lanes, verdicts=verdicts_of(lanes), about=about)
