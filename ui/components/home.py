"""The first visit as a Gradio component: the opening run as a race of two lanes."""

import gradio as gr

from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.gallery import replays


def home_view(*, prompt_id: str) -> gr.HTML:
    """What opens without an address. prompt_id: of the box that "Try your own prompt" leads to."""
    return view("home", wire_json({"lines": replays.opening(), "prompt_id": prompt_id}))
