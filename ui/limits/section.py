"""The calculator as a Gradio component: asks for an answer whenever something was changed."""

from typing import Any

import gradio as gr

from sbd_core.replay.wire_format import wire_json
from ui.charts.section import LIBRARY
from ui.components.assets import static_path, view
from ui.components.server_messages import server_message
from ui.gradio_hooks import QUICK, data_of
from ui.limits.answer import DEFAULTS, answer
from ui.limits.choices import MEASURED, OWN, devices, models
from ui.limits.words import cards


def limits_section() -> None:
    """The view beside Watch and Race, at the address #limits."""
    section = view("limits", wire_json(setting()), "calculate")

    def calculated(event: gr.EventData) -> str:
        wish = data_of(event)
        return server_message(wish=wish.get("number"), **answer(wish))

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
