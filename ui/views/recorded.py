"""Runs that the page plays without decoding: recorded runs, and traces that visitors bring."""

import uuid
from collections.abc import Mapping

from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import examples
from ui.decode.verdict import verdicts_of
from ui.models import BUNDLED
from ui.share.trace_files import read_trace


def replay(
    run_id: str, lanes: Mapping[str, Trace], *, about: str = "", is_decoded_here: bool = True
) -> str:
    """Encode recorded lanes, with verdicts on their answers, as lines that the player plays.

    lanes: traces by lane. about: a sentence on the run. is_decoded_here: see verdict_of().
    """
    verdicts = verdicts_of(lanes, is_decoded_here=is_decoded_here)
    return replay_lines(run_id, lanes, verdicts=verdicts, about=about)


def opening(model: str = "") -> str:
    """Encode a model's opening run as lines for the player."""
    return replay("opening", examples.opening_traces(model))


def home() -> str:
    """Encode the run with which the home view opens as lines for the player."""
    return replay("home", examples.gallery_traces(examples.HOME_RUN))


def home_value() -> str:
    """The home view's JSON: a run of nano by Set Block Decoding, and one of SmolLM2 by verify."""
    lines = {DEFAULT_CHECKPOINT.name: home(), REAL_MODEL: opening(REAL_MODEL)}
    runs = [{"model": BUNDLED[name][0], "lines": text} for name, text in lines.items()]
    return wire_json({"runs": runs, "processor": examples.learn_runs().choices.processor})


def gallery_value() -> str:
    """The gallery's JSON: all its entries, and a text on how they were chosen."""
    names = ("name", "group", "title", "sentence", "passes")
    runs = [{name: getattr(item, name) for name in names} for item in examples.gallery()]
    return wire_json({"how": examples.HOW_CHOSEN, "runs": runs})


def lines_of_trace(text: object) -> str:
    """Encode a trace that a visitor brings as lines for the player.

    Raises ArgumentError or TraceError, see read_trace().
    """
    trace = read_trace(text)
    return replay(uuid.uuid4().hex[:8], {trace.strategy: trace}, is_decoded_here=False)
