"""The gallery of recorded runs under the player, and such runs as lines."""

from collections.abc import Mapping
from typing import Any

import gradio as gr

from sbd_core.replay import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import recordings
from ui.assets import view
from ui.decode.verdict import verdicts_of


def opening(model: str = "") -> str:
    """The run that a page opens on whose first model has this name; "" is an empty player."""
    lanes = recordings.opening_traces(model)
    return replay("opening", lanes) if lanes else ""


def replay(run_id: str, lanes: Mapping[str, Trace], *, about: str = "") -> str:
    """Wire lines of lanes that were recorded by us."""
    return replay_lines(run_id, lanes, verdicts=verdicts_of(lanes), about=about)


def gallery() -> gr.HTML:
    """All recorded runs; its event `choose_run` carries the name of the one to open."""
    runs = [card_of(item) for item in recordings.gallery()]
    return view("gallery", wire_json({"how": recordings.HOW_CHOSEN, "runs": runs}), "choose_run")


def card_of(item: recordings.Recording) -> dict[str, Any]:
    """What a card says and draws."""
    names = ("name", "group", "title", "sentence", "passes", "num_ntp_passes")
    return {name: getattr(item, name) for name in names}
