"""Messages from the server to the page: the line under the form, and data for its scripts."""

import itertools
from typing import Any

from sbd_core.run_lines import wire_json

_turns = itertools.count()


class Speaker:
    """Sends messages in order; once a later speaker has spoken, the page ignores earlier speakers.

    Gradio sends a stream's last value again when it ends, and a cancelled stream may still send
    something after Stop was answered, so the order of arrival cannot be relied on.
    """

    def __init__(self) -> None:
        self._turn = next(_turns)
        self._count = 0

    def say(
        self, text: str, *, is_error: bool = False, num_ahead: int = 0, is_of_form: bool = False
    ) -> str:
        """The value that shows `text`; errors interrupt a screen reader, other messages wait.

        num_ahead: number of runs before this visitor's.
        is_of_form: whether the text holds only while the form asks for the run that is shown.
        """
        kind = "error" if is_error else "status"
        body = {"kind": kind, "text": text, "order": self.order(), "ahead": num_ahead}
        body |= {"is_of_form": True} if is_of_form else {}
        return wire_json(body)

    def order(self) -> list[int]:
        """The place of the next message among those of all speakers."""
        self._count += 1
        return [self._turn, self._count]


_count = itertools.count()


def server_message(**content: Any) -> str:
    """A value with `content` that Gradio sends even if it equals the last one."""
    return wire_json({"number": next(_count), **content})
