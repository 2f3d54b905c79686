"""The page's title line with the name of the loaded model."""

import gradio as gr

from ui.components.assets import view


def header(model: str) -> gr.HTML:
    """The name and size of the model, shown as text whatever it holds."""
    return view("header", model)
