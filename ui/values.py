"""The data with which the page's views start, as JSON, and the runs that play without decoding.

The views compute and draw in the browser. Recorded runs and traces that visitors bring become
lines that the player plays.
"""

import json
import uuid
from collections.abc import Mapping
from functools import cache

from sbd_core.errors import TraceError
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import examples
from ui.best_settings import best_for
from ui.decode.verdict import verdicts_of
from ui.examples import BUNDLED_MODEL
from ui.models import offer_of
from ui.trace_files import read_trace


def replay(
    run_id: str, lanes: Mapping[str, Trace], *, about: str = "", is_decoded_here: bool = True
) -> str:
    """Encode recorded lanes, with verdicts on their answers, as lines that the player plays.

    lanes: traces by lane. about: a sentence on the run. is_decoded_here: see verdict_of().
    """
    verdicts = verdicts_of(lanes, is_decoded_here=is_decoded_here)
    return replay_lines(run_id, lanes, verdicts=verdicts, about=about)


def lines_of_trace(text: object) -> str:
    """Encode a trace that a visitor brings as lines for the player.

    Raises ArgumentError or TraceError, see read_trace().
    """
    try:
        trace = read_trace(text)
    except TraceError as error:
        raise TraceError(f"This file holds no run that can be shown: {error}") from None
    return replay(uuid.uuid4().hex[:8], {trace.strategy: trace}, is_decoded_here=False)


def opening(model: str = "") -> str:
    """Encode a model's opening run as lines for the player."""
    return replay("opening", examples.opening_traces(model))


def home() -> str:
    """Encode the run with which the home view opens as lines for the player."""
    return replay("home", examples.gallery_traces(examples.HOME_RUN))


def home_value() -> str:
    """The home view's JSON: a run of nano by Set Block Decoding, and one of SmolLM2 by verify."""
    lines = {BUNDLED_MODEL: home(), REAL_MODEL: opening(REAL_MODEL)}
    runs = [{"model": offer_of(name)["title"], "lines": text} for name, text in lines.items()]
    return wire_json({"runs": runs, "processor": examples.parsed(examples.LEARN_INDEX).processor})


def gallery_value() -> str:
    """The gallery's JSON: all its entries, and a text on how they were chosen."""
    names = ("name", "group", "title", "sentence", "passes")
    runs = [{name: getattr(item, name) for name in names} for item in examples.gallery()]
    return wire_json({"how": examples.HOW_CHOSEN, "runs": runs})


COMPARED_SOLVERS = ("ntp", "sbd:0.1", "entropy-bound-from-left:0.35", "confidence-threshold:0.9")
"""Lanes of the preset that compares the paper's solver with others, and next-token prediction."""


def compare_value(model: str = "", *, can_draft: bool) -> str:
    """The Compare view's JSON: presets of lanes, and the recorded run with which the view opens.

    of_model: for models whose first preset has the lanes of their recorded run, these lanes.
    """
    lanes = examples.compared_traces(model)
    presets = {"Strategies": list(lanes), "Solvers": COMPARED_SOLVERS}
    recorded = {name: examples.compared_traces(name) for name in (BUNDLED_MODEL, REAL_MODEL)}
    value = {
        "presets": presets if can_draft else {},
        "of_model": {name: list(own) for name, own in recorded.items()},
        "warnings": {REAL_MODEL: best_for(REAL_MODEL, can_draft=True, has_adapter=True).paper},
        "lines": replay("recorded", lanes),
    }
    return wire_json(value)


LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
LIBRARY_PATH = "vendor/plotly-cartesian.min.js"
VIEWS = ASSETS / "views.json"
"""Data of the Learn view, the charts and the Roofline view, which scripts.write_views writes."""


def written_value(view: str) -> str:
    """The JSON of a view that stands in VIEWS."""
    return wire_json(json.loads(VIEWS.read_text("utf-8"))[view])


@cache
def scenes(*, has_model: bool = True) -> tuple[dict[str, str], ...]:
    """Address and text of every scene; [term] marks a glossary word.

    tests/ui/views/test_lesson.py holds the numbers and quotations to the recorded runs.
    has_model: whether the reader can decode, which the exported file does not allow.
    """
    rows: list[dict[str, str]] = json.loads(
        (ASSETS / "learn" / "words.json").read_text(encoding="utf-8")
    )
    for row in rows:
        alone = row.pop("act_without_model", row["act"])
        if not has_model:
            row["act"] = alone
    return tuple(rows)


def lesson(*, has_model: bool = True) -> str:
    """The lesson as JSON. has_model: see scenes()."""
    data = json.loads(VIEWS.read_text("utf-8"))["lesson"]
    return wire_json({"scenes": scenes(has_model=has_model), **data})
