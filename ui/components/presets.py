"""Prompts to start from, a button for each kind of text; pressing again gives another one.

Also one friendly line on what the model can do, and the visitor's own text kept over a reload.
"""

import gradio as gr

from sbd_core.models.checkpoint_info import REAL_MODEL
from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.gallery.examples import PRESETS, Preset, presets, recording_of

BUNDLED_MODEL = "sbd-nano"


def preset_bar(value: str) -> gr.HTML:
    """The buttons and the line, made from `presets_value`.

    Its event `choose_run` carries the name of the recorded run of the prompt that was chosen.
    """
    return view("presets", value, "choose_run")


def presets_value(model_name: str, prompt_id: str, *, file: str = PRESETS) -> str:
    """What the bar shows for a model; it writes into the text box with the element id `prompt_id`.

    file: of the presets, in assets/.
    """
    rows = [{"label": item.label, "prompts": prompts_of(item)} for item in presets(file)]
    return wire_json({"presets": rows, "line": promise(model_name), "prompt": prompt_id})


def prompts_of(preset: Preset) -> list[tuple[str, str]]:
    """Its prompts, each with the name of its recorded run or ""; those that have one first."""
    rows = [(prompt, recording_of(prompt)) for prompt in preset.prompts]
    return sorted(rows, key=lambda row: not row[1])


def promise(model_name: str) -> str:
    """What to expect of the model, in one line."""
    if model_name == BUNDLED_MODEL:
        return "A tiny model: any other prompt decodes too, mostly into nonsense."
    if model_name == REAL_MODEL:
        return "Any prompt in English. A small model: it may be wrong."
    return "Examples to start from; any other prompt decodes too."
