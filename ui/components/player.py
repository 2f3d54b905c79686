"""The player as a Gradio component: its value is wire text, see sbd_core.replay.wire_format."""

import gradio as gr

from ui.components.assets import markup, mounts


def player(lines: str = "") -> gr.HTML:
    """Takes wire lines as values; the script keeps the history, so only news is ever sent.

    Its event `redo` carries the settings of a decode the visitor asks for inside the player,
    `time` those of one to be timed a few times.
    """
    return gr.HTML(
        lines,
        html_template=markup("player"),
        **mounts("player", "redo", "ask", "give", "time"),
        apply_default_css=False,
        elem_id="sbd-player",
    )
