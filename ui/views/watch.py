"""The player, the line under the form, and messages from the server to both."""

import itertools
import json
from typing import Any

import gradio as gr

from sbd_core.replay import STYLES, wire_json
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


_turns = itertools.count()


def status_line() -> gr.HTML:
    """An empty line; its values are made by a Speaker."""
    return view("status-line", "")


class Speaker:
    """Says several things in a row; once a later speaker has spoken, earlier ones are not heard.

    Gradio sends a stream's last value again when it ends, and a cancelled stream may still say
    something after Stop was answered: order of arrival is not order of meaning.
    """

    def __init__(self) -> None:
        self._turn = next(_turns)
        self._count = 0

    def say(
        self, text: str, *, is_error: bool = False, num_ahead: int = 0, is_of_form: bool = False
    ) -> str:
        """The value that shows `text`; errors interrupt a screen reader, other news waits.

        num_ahead: runs of others before this visitor's. is_of_form: whether it holds only while
        the form asks for the run on the stage.
        """
        kind = "error" if is_error else "status"
        body = {"kind": kind, "text": text, "order": self.order(), "ahead": num_ahead}
        body |= {"is_of_form": True} if is_of_form else {}
        return json.dumps(body).replace("<", "\\u003c")

    def order(self) -> list[int]:
        """The place of the next thing said among all others, of every speaker."""
        self._count += 1
        return [self._turn, self._count]


_count = itertools.count()


def server_messages() -> gr.HTML:
    """An empty carrier; its values are made by `server_message`."""
    return view("server-messages", "")


def server_message(**content: Any) -> str:
    """A value that arrives even if it says the same as the last one."""
    return wire_json({"number": next(_count), **content})
