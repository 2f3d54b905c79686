"""What opens without an address, and the page's title line and foot."""

import os

import gradio as gr

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.replay import wire_json
from ui.assets import static_path, view
from ui.views import gallery


def home_view(model: str = "", *, prompt_id: str) -> gr.HTML:
    """What opens without an address: the opening run of the page's first model.

    prompt_id: of the box that "Try your own prompt" leads to.
    """
    return view("home", wire_json({"lines": gallery.opening(model), "prompt_id": prompt_id}))


def header(model: str) -> gr.HTML:
    """The name and size of the model, shown as text whatever it holds."""
    return view("header", model)


CARD = DEFAULT_CHECKPOINT / "README.md"


def footer() -> gr.HTML:
    """The foot of the served page."""
    gr.set_static_paths([CARD])
    space = os.environ.get("SPACE_ID", "")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else ""
    return view("footer", footer_value(static_path(CARD), code=code))


def footer_value(card: str, *, code: str = "", is_beside: bool = False) -> str:
    """What the view is told. card: its path. is_beside: whether that begins at the page's folder.

    code: its public address, "" where there is none.
    """
    return wire_json({"code": code, "card": card, "is_beside": is_beside})
