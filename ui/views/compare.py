"""The data of the Compare view, which decodes one prompt in up to four ways, side by side."""

from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.run_lines import wire_json
from ui import examples
from ui.best_settings import best_for
from ui.examples import BUNDLED_MODEL
from ui.views.recorded import replay

COMPARED_MODELS = (BUNDLED_MODEL, REAL_MODEL)
"""Models whose first preset has the lanes of their recorded run."""
SOLVERS = (
    "ntp",
    "sbd:0.1",
    "entropy-bound-from-left:0.35",
    "confidence-threshold:0.9",
)
"""Lanes of the preset that compares the paper's solver with others, and next-token prediction."""


def compare_value(model: str = "", *, can_draft: bool) -> str:
    """The Compare view's JSON: presets of lanes, and the recorded run with which the view opens."""
    lanes = examples.compared_traces(model)
    value = {
        "presets": {"Strategies": list(lanes), "Solvers": SOLVERS} if can_draft else {},
        "of_model": {name: list(examples.compared_traces(name)) for name in COMPARED_MODELS},
        "warnings": {REAL_MODEL: best_for(REAL_MODEL, can_draft=True, has_adapter=True).paper},
        "lines": replay("recorded", lanes),
    }
    return wire_json(value)
