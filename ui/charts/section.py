"""The charts under the player: made and drawn when the visitor opens them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from ui.charts import look
from ui.charts.figures import figures
from ui.charts.solvers import solver_curves
from ui.components.assets import ASSETS, markup, scripts
from ui.components.outbox import parcel
from ui.decode.session import message_of
from ui.decode.visitor_runs import VisitorRuns
from ui.share.sheet import QUICK, file_stem
from ui.wire_format import wire_json

LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
WORDS = ASSETS / "charts.json"
SWEEP = ASSETS / "results" / "sweep.json"


def charts_section(visit: gr.State) -> None:
    """A closed section for the run that the player shows; it follows the player while open."""
    gr.set_static_paths([LIBRARY])
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    section = gr.HTML(
        wire_json({"cards": words, "library": address_of(LIBRARY)}),
        html_template=markup("charts"),
        js_on_load=scripts("dom", "scale", "chart-cards", "charts"),
        apply_default_css=False,
        elem_id="sbd-charts",
    )

    def drawn(kept: VisitorRuns, event: gr.EventData) -> str:
        wish = event._data if isinstance(event._data, dict) else {}
        try:
            return parcel(run=wish.get("run"), **charts_of(kept, wish))
        except SetBlockDecodingError as error:
            return parcel(error=message_of(error))

    section.draw_charts(drawn, visit, section, trigger_mode="always_last", **QUICK)


def charts_of(visit: VisitorRuns, wish: dict[str, Any]) -> dict[str, Any]:
    """Every chart of the run that is wished for, the sweep, and the name of a saved picture."""
    trace = next(iter(visit.traces(wish.get("run")).values()))
    ink = look.DARK if wish.get("isDark") is True else look.LIGHT
    return {
        "name": file_stem(trace),
        "figures": (*figures(trace, ink), solver_curves(sweep(), ink)),
    }


@cache
def sweep() -> dict[str, Any]:
    """Rows of every solver on held-out examples, as `evaluate --sweep` wrote them."""
    rows: dict[str, Any] = json.loads(SWEEP.read_text(encoding="utf-8"))["rows"]
    return rows


def address_of(file: Path) -> str:
    """Where Gradio serves a static file, relative to the page."""
    return f"gradio_api/file={file.as_posix()}"
