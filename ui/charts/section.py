"""The charts under the player: made and drawn when the visitor opens them."""

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from sbd_core.config import solver_words
from sbd_core.errors import SetBlockDecodingError
from sbd_core.replay.wire_format import LANE_NAMES, wire_json
from sbd_core.trace import Trace
from ui.charts.figures import two_themes
from ui.components.assets import ASSETS, static_path, view
from ui.components.server_messages import server_message
from ui.decode.form import message_of
from ui.decode.visitor_runs import Finished, GoneError, VisitorRuns
from ui.gradio_hooks import QUICK, data_of
from ui.share.saved_runs import traces_of
from ui.share.sheet import file_stem

if TYPE_CHECKING:
    from sbd_core.plots import RunMark

LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
WORDS = ASSETS / "charts.json"
SWEEP = ASSETS / "results" / "sweep.json"
MAX_MARKED = 12
"""Runs of the reader's in the chart of every solver, the newest."""


def charts_section(visit: gr.State) -> None:
    """A closed section for the run that the player shows; it follows the player while open."""
    gr.set_static_paths([LIBRARY])
    words = card_words()
    section = view(
        "charts", wire_json({"cards": words, "library": static_path(LIBRARY)}), "draw_charts"
    )

    def drawn(runs: VisitorRuns, event: gr.EventData) -> str:
        wish = data_of(event)
        try:
            return server_message(run=wish.get("run"), **charts_of(runs, wish))
        except GoneError as error:
            return server_message(error=message_of(error), gone=error.run_id)
        except SetBlockDecodingError as error:
            return server_message(error=message_of(error))

    section.draw_charts(drawn, visit, section, **QUICK)


def card_words() -> list[dict[str, str]]:
    """Title and words of every chart, a strategy's own if it has any.

    That of solvers has the block size and the numbers of examples and of marked runs in it.
    """
    text = WORDS.read_text(encoding="utf-8")
    try:
        results = json.loads(SWEEP.read_text(encoding="utf-8"))
        tasks = next(iter(results["rows"].values()))["families"]
        count, block = min(task["num_examples"] for task in tasks), results["block_size"]
    except (OSError, ValueError, KeyError, StopIteration):
        count, block = "some", "one size"
    for name, value in (("examples", count), ("block", block), ("marked", MAX_MARKED)):
        text = text.replace(f"{{{name}}}", str(value))
    found: list[dict[str, str]] = json.loads(text)
    return found


def charts_of(visit: VisitorRuns, wish: dict[str, Any]) -> dict[str, Any]:
    """Every chart of the run that is wished for, the sweep, and the name of a saved picture."""
    trace = next(iter(traces_of(visit, wish).values()))
    runs = visit.finished(MAX_MARKED)
    return {"name": file_stem(trace), "figures": figures(trace, runs)}


def figures(trace: Trace, runs: Sequence[Finished] = ()) -> list[dict[str, Any]]:
    """The figures of a run as Plotly.js takes them, each with what changes in a dark theme.

    runs: the reader's own, marked in the chart of every solver.
    """
    from sbd_core import plots

    of_trace = (
        plots.entropy_heatmap,
        plots.tokens_per_forward_pass,
        plots.entropy_at_reveal,
        plots.hindsight,
        plots.cost_of_parallelism,
    )
    made = [two_themes(partial(make, trace)) for make in of_trace]
    marks = [mark_of(run) for run in runs]
    return [*made, two_themes(partial(plots.solvers, sweep(), runs=marks))]


def mark_of(run: Finished) -> "RunMark":
    """A run of the reader's as a mark: its main lane."""
    from sbd_core.plots import RunMark

    trace = next(iter(run.lanes.values()))
    config = trace.config
    is_sbd = config.strategy == "sbd"
    name = solver_words(config.solver) if is_sbd else LANE_NAMES[config.strategy]
    return RunMark(name, decoded_per_forward(trace), run.is_right)


def decoded_per_forward(trace: Trace) -> float:
    """Tokens a forward pass as the stage counts them: without those that were given."""
    num_given = sum(offset < trace.num_tokens for offset in trace.config.pinned)
    return (trace.num_tokens - num_given) / max(trace.num_forwards, 1)


@cache
def sweep() -> dict[str, Any]:
    """Every solver on held-out examples, as `sbd evaluate --sweep` wrote it."""
    results: dict[str, Any] = json.loads(SWEEP.read_text(encoding="utf-8"))
    return results
