"""The calculator as a Gradio component: asks for an answer whenever something was changed."""

from typing import Any

import gradio as gr

from sbd_core.replay import wire_json
from ui.charts.section import LIBRARY
from ui.components.assets import static_path, view
from ui.components.server_messages import server_message
from ui.gradio_hooks import QUICK, data_of
from ui.roofline.answer import DEFAULTS, answer
from ui.roofline.choices import MEASURED, OWN, devices, models
from ui.roofline.words import cards

HINT = "Paste a config.json"
FOLDER_HINT = f"{HINT}, or type the folder of a model"


def roofline_section(*, may_name_folder: bool) -> None:
    """The view beside Watch and Race, at the address #limits.

    may_name_folder: whether visitors may have a model's folder on this machine looked into.
    """
    hint = FOLDER_HINT if may_name_folder else HINT
    section = view("limits", wire_json({**setting(), "ownHint": hint}), "calculate")

    def calculated(event: gr.EventData) -> str:
        wish = data_of(event)
        found = answer(wish, may_name_folder=may_name_folder)
        return server_message(wish=wish.get("number"), **found)

    section.calculate(calculated, None, section, **QUICK)


def setting() -> dict[str, Any]:
    """What the view is built from. measured: this machine, for the panel under the hood too."""
    own = {"key": OWN, "name": "A config of your own …"}
    here = devices()[MEASURED]
    return {
        "library": static_path(LIBRARY),
        "cards": cards(),
        "devices": [{"key": key, "name": device.name} for key, device in devices().items()],
        "models": [*({"key": key, "name": name} for key, (name, _) in models().items()), own],
        "defaults": DEFAULTS,
        "measured": {
            "name": here.name,
            "flops": here.linear_flops,
            "attentionFlops": here.attention_flops,
            "bandwidth": here.bandwidth,
            "valueBytes": here.bytes_per_value,
            "source": here.source,
        },
    }
