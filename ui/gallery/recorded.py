"""Recorded runs: the one the page opens on, and the gallery. Worth looking at without a model."""

import json
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sbd_core.config import Strategy
from sbd_core.errors import ArgumentError, TraceError
from sbd_core.files import ASSETS
from sbd_core.trace import Trace

TRACES = ASSETS / "traces"
GALLERY = TRACES / "gallery"
GALLERY_INDEX = GALLERY / "index.json"
RACE_LANES = ("ntp", "sbd-low", "sbd-high", "verify")
OPENING_LANES: tuple[Strategy, ...] = ("verify", "ntp")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of the gallery. group: the heading it stands under. lanes: the main one first.

    task, case: what scores an answer to its prompt, where the prompt is none of the presets'.
    """

    name: str
    group: str
    title: str
    sentence: str
    lanes: tuple[Strategy, ...]
    task: str = ""
    case: str = ""


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


@cache
def race_traces() -> dict[str, Trace]:
    """The lanes of the recorded race by their names; none if a file is missing or damaged."""
    try:
        return {
            lane: Trace.from_json((TRACES / f"race-{lane}.json").read_text(encoding="utf-8"))
            for lane in RACE_LANES
        }
    except (OSError, TraceError) as error:
        logger.warning("no recorded race: %s", error)
        return {}


@cache
def gallery() -> tuple[Recording, ...]:
    """The recorded runs in the order of the page; none if the index is missing or damaged."""
    try:
        rows = json.loads(GALLERY_INDEX.read_text(encoding="utf-8"))
        return tuple(Recording(**{**row, "lanes": tuple(row["lanes"])}) for row in rows)
    except (OSError, ValueError, TypeError, KeyError) as error:
        logger.warning("no gallery: %s", error)
        return ()


def gallery_traces(name: object) -> dict[str, Trace]:
    """The lanes of a recorded run. Raises ArgumentError for a name that is not in the gallery."""
    for item in gallery():
        if item.name == name:
            try:
                return {
                    lane: Trace.from_json(gallery_file(item.name, lane).read_text(encoding="utf-8"))
                    for lane in item.lanes
                }
            except (OSError, TraceError) as error:
                logger.warning("no recorded run: %s", error)
                rule = "is missing or damaged here; press Decode to run its prompt"
                raise ArgumentError("The recorded run", rule, None) from error
    raise ArgumentError("The recorded run", "must be one of the gallery", name)


def gallery_file(name: str, lane: str) -> Path:
    """Where the gallery keeps a lane of a run."""
    return GALLERY / f"{name}-{lane}.json"
