"""The charts under the player, drawn when the visitor opens them."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from sbd_core.errors import ArgumentError
from sbd_core.files import ASSETS
from sbd_core.json_node import Amount
from sbd_core.run_lines import wire_json
from sbd_core.trace import Trace
from ui.share.trace_files import read_trace

if TYPE_CHECKING:
    from sbd_core.plots import RunMark

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def two_themes(make: Callable[..., Any]) -> dict[str, Any]:
    """Draw make(theme) as Plotly JSON in the light theme; "dark" holds the dark theme's changes."""
    light, dark = (make(theme).to_plotly_json() for theme in THEMES)
    return {"id": light["layout"]["meta"]["id"], **light, "dark": changes(light, dark)}


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of `new` that differ from `old`; a list of objects is read as {index: object}."""
    changed = {}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            value = {str(index): item for index, item in enumerate(value)}
            before = {str(index): item for index, item in enumerate(before or [])}
        if isinstance(value, dict) and isinstance(before, dict):
            value = changes(before, value)
            if value:
                changed[key] = value
        elif value != before:
            changed[key] = value
    return changed


LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
LIBRARY_PATH = "vendor/plotly-cartesian.min.js"
"""Path of LIBRARY below the page."""
WORDS = ASSETS / "charts.json"
SWEEP = ASSETS / "results" / "sweep.json"
MAX_NAME = 100
MAX_MARKED = 12
"""Most runs of the reader in the chart of all solvers; the page sends the newest."""


def charts_value() -> str:
    """The JSON of the charts, which are closed at first; while open, they show the player's run."""
    return wire_json({"cards": card_words(), "library": LIBRARY_PATH})


def card_words() -> list[dict[str, str]]:
    """Title and text of every chart; the texts quote numbers from the evaluation of the solvers."""
    text = WORDS.read_text(encoding="utf-8")
    try:
        results = json.loads(SWEEP.read_text(encoding="utf-8"))
        tasks = next(iter(results["rows"].values()))["families"]
        count, block = min(task["num_examples"] for task in tasks), results["block_size"]
    except (OSError, ValueError, KeyError, StopIteration):
        count, block = "some", "one size"
    for name, value in (("examples", count), ("block", block), ("marked", MAX_MARKED)):
        text = text.replace(f"{{{name}}}", str(value))
    words: list[dict[str, str]] = json.loads(text)
    return words


def figures_of(sent: dict[str, Any]) -> list[dict[str, Any]]:
    """Draw the figures that the page asks for: the charts of a trace, and the chart of all solvers.

    sent: {"trace": JSON of a trace, "marks": [data for mark_of(), ...]}; marks are a reader's runs.
    Raises ArgumentError or TraceError for bad data.
    """
    marks = sent.get("marks", [])
    if not isinstance(marks, list) or len(marks) > MAX_MARKED:
        raise ArgumentError("marks", f"must be a list of at most {MAX_MARKED}", None)
    return figures(read_trace(sent.get("trace")), [mark_of(mark) for mark in marks])


def figures(trace: Trace, marks: "Sequence[RunMark]" = ()) -> list[dict[str, Any]]:
    """Draw the charts of a trace, and the chart of all solvers with the reader's runs in it."""
    from sbd_core import plots

    of_trace = (
        plots.entropy_heatmap,
        plots.tokens_per_forward_pass,
    )
    made = [two_themes(partial(make, trace)) for make in of_trace]
    return [*made, two_themes(partial(plots.solvers, sweep(), runs=marks))]


class Mark(msgspec.Struct):
    """One of the reader's runs, as the page sends it."""

    name: str
    rate: Amount
    right: bool | None


def mark_of(data: object) -> "RunMark":
    """Read one of the reader's runs from the page's data. Raises ArgumentError for bad data."""
    from sbd_core.plots import RunMark

    try:
        mark = msgspec.convert(data, Mark)
    except msgspec.ValidationError as error:
        raise ArgumentError("marks", "must be as the page makes them", None) from error
    return RunMark(mark.name[:MAX_NAME], mark.rate, mark.right)


@cache
def sweep() -> dict[str, Any]:
    """Read the results that `sbd evaluate --sweep` stored for every solver on held-out examples."""
    results: dict[str, Any] = json.loads(SWEEP.read_text(encoding="utf-8"))
    return results
