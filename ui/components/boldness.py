"""One slider from safer to bolder, which is gamma, and the switch that shows all the rest."""

import gradio as gr

from sbd_core.replay.wire_format import wire_json
from ui.components.assets import markup, mounts

GAMMAS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1)
"""What the slider offers, nats; any other gamma can be typed."""


def boldness(gamma_id: str, block_id: str, block_range: tuple[int, int]) -> gr.HTML:
    """Writes into the number with the element id `gamma_id`; says what is outside the usual range.

    block_range: the block sizes that the model was trained on.
    """
    value = {
        "gamma_id": gamma_id,
        "block_id": block_id,
        "gammas": list(GAMMAS),
        "block_range": list(block_range),
    }
    return gr.HTML(
        wire_json(value),
        html_template=markup("boldness"),
        **mounts("boldness"),
        apply_default_css=False,
        elem_id="sbd-boldness",
        elem_classes=["sbd-watch-only"],
    )
