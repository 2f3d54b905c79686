"""The gallery of recorded runs under the player, one card each; needs no model."""

import gradio as gr

from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.gallery import recorded


def gallery() -> gr.HTML:
    """All recorded runs; its event `choose_run` carries the name of the one to open."""
    return view(
        "gallery", wire_json({"runs": [card_of(item) for item in recorded.gallery()]}), "choose_run"
    )


def card_of(item: recorded.Recording) -> dict[str, str]:
    """What a card says."""
    return {name: getattr(item, name) for name in ("name", "group", "title", "sentence")}
