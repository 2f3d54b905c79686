"""How to decode, as three choices, and a slider of gammas from safer to bolder for the paper's."""

import gradio as gr

from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.form.measured import Best

GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1)
"""What the slider offers, nats; any other gamma can be typed."""


def risk_slider(value: str) -> gr.HTML:
    """Made from `slider_value`; its event `choose` carries a strategy and a gamma."""
    return view("risk-slider", value, "choose", classes=["sbd-watch-only"])


def slider_value(best: Best, block_range: tuple[int, int], *, can_draft: bool) -> str:
    """What the slider shows for a model; it says what is outside the usual range.

    best: what to start a prompt of one's own from, and why. block_range: the block sizes that the
    model was trained on. can_draft: whether the model has more than one strategy.
    """
    value = {
        "best": {"strategy": best.strategy, "gamma": best.gamma, "words": best.words},
        "gammas": list(GAMMAS),
        "block_range": list(block_range),
        "can_draft": can_draft,
    }
    return wire_json(value)
