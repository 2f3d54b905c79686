"""The player as a Gradio component: its value is wire text, see ui.wire_format."""

import gradio as gr

from ui.components.assets import PLAYER_SCRIPTS, markup, scripts


def player(lines: str = "") -> gr.HTML:
    """Takes wire lines as values; the script keeps the history, so only news is ever sent.

    Its event `redo` carries the settings of a decode the visitor asks for inside the player.
    """
    return gr.HTML(
        lines,
        html_template=markup("player"),
        js_on_load=scripts(*PLAYER_SCRIPTS, "gradio"),
        apply_default_css=False,
        elem_id="sbd-player",
    )
