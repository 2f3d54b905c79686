"""Prompts to start from, a button for each kind of text; pressing again gives another one.

Also one friendly line on what the model can do, and the visitor's own text kept over a reload.
"""

import gradio as gr

from sbd_core.replay.wire_format import wire_json
from ui.components.assets import markup, mounts
from ui.gallery.examples import presets

BUNDLED_MODEL = "sbd-nano"


def preset_bar(model_name: str, prompt_id: str) -> gr.HTML:
    """The buttons and the line; they write into the text box with the element id `prompt_id`."""
    rows = [{"label": item.label, "prompts": item.prompts} for item in presets()]
    value = wire_json({"presets": rows, "line": promise(model_name), "prompt": prompt_id})
    return gr.HTML(
        value,
        html_template=markup("presets"),
        **mounts("presets"),
        apply_default_css=False,
        elem_id="sbd-presets",
    )


def promise(model_name: str) -> str:
    """What to expect of the model, in one line."""
    if model_name == BUNDLED_MODEL:
        return (
            "A tiny model that has read only these kinds of text, and gets some wrong. "
            "Any other prompt decodes too, mostly into nonsense."
        )
    return "Examples to start from; any other prompt decodes too."
