"""The recorded runs the page opens on, so that it is worth looking at without a model."""

import logging
from functools import cache

from sbd_core.config import Strategy
from sbd_core.errors import TraceError
from sbd_core.trace import Trace
from ui import view_model
from ui.components.assets import ASSETS

TRACES = ASSETS / "traces"
OPENING_LANES: tuple[Strategy, ...] = ("sbd", "ntp")

logger = logging.getLogger(__name__)


@cache
def opening_traces() -> dict[str, Trace]:
    """The lanes of the opening run, the main one first; none if a file is missing or damaged."""
    try:
        return {
            lane: Trace.from_json((TRACES / f"opening-{lane}.json").read_text(encoding="utf-8"))
            for lane in OPENING_LANES
        }
    except (OSError, TraceError) as error:
        logger.warning("no opening run: %s", error)
        return {}


def opening() -> str:
    """Its wire lines; "" is an empty player."""
    lanes = opening_traces()
    return view_model.replay("opening", lanes) if lanes else ""


def opening_prompt() -> str:
    """Its prompt, "" without an opening run."""
    lanes = opening_traces()
    return lanes[OPENING_LANES[0]].prompt if lanes else ""
