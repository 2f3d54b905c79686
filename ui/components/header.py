"""The page's title line with the name of the loaded model."""

import gradio as gr

from ui.components.assets import markup, mounts


def header(model: str) -> gr.HTML:
    """The name and size of the model, shown as text whatever it holds."""
    return gr.HTML(
        model,
        html_template=markup("header"),
        **mounts("header"),
        apply_default_css=False,
        elem_id="sbd-header",
    )
