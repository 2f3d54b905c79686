"""The player, with what its script makes a replay page of."""

import gradio as gr

from sbd_core.replay import STYLES
from ui.assets import ASSETS, DIST, view


def player(lines: str = "") -> gr.HTML:
    """Takes wire lines as values; the script keeps the history, so only news is ever sent.

    Its event `redo` carries the settings of a decode the visitor asks for inside the player,
    `time` those of one to be timed a few times.
    """
    styles = [ASSETS / "css" / f"{style}.css" for style in STYLES]
    # What the script makes a replay page of.
    gr.set_static_paths([ASSETS / "html" / "replay.html", DIST / "replay.js", *styles])
    return view("player", lines, "redo", "give", "time")
