"""The player as a Gradio component: its value is wire text, see sbd_core.replay.wire_format."""

import gradio as gr

from ui.components.assets import view


def player(lines: str = "") -> gr.HTML:
    """Takes wire lines as values; the script keeps the history, so only news is ever sent.

    Its event `redo` carries the settings of a decode the visitor asks for inside the player,
    `time` those of one to be timed a few times.
    """
    return view("player", lines, "redo", "ask", "give", "time")
