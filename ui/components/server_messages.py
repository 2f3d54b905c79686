"""Carries files and sentences from the server to the player's share sheet; shows nothing itself."""

import itertools
from typing import Any

import gradio as gr

from sbd_core.replay import wire_json
from ui.components.assets import view

_count = itertools.count()


def server_messages() -> gr.HTML:
    """An empty carrier; its values are made by `server_message`."""
    return view("server-messages", "")


def server_message(**content: Any) -> str:
    """A value that arrives even if it says the same as the last one."""
    return wire_json({"number": next(_count), **content})
