"""Gradio components that hold a view of ui/web: their markup and scripts, and values sent to them.

Decides nothing.
"""

import hashlib
import itertools
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from sbd_core.files import ASSETS
from sbd_core.replay import STYLES as PLAYER_STYLES
from sbd_core.run_lines import wire_json

DIST = ASSETS / "dist"
"""Bundles built from ui/web/, see its package.json."""

PROMPT_ID = "sbd-prompt-box"
"""Element id of the prompt, which several views fill."""
STYLES = tuple(
    ASSETS / "css" / f"{name}.css"
    for name in (
        *PLAYER_STYLES,
        "compare",
        "charts",
        "roofline",
        "page",
        "learn",
        "views",
        "home",
    )
)


@cache
def markups() -> dict[str, str]:
    """The markup of each view by name; in the file a comment with the name stands above it."""
    text = (ASSETS / "html" / "views.html").read_text(encoding="utf-8")
    _, *parts = re.split(r"^<!-- ([a-z-]+) -->$", text, flags=re.MULTILINE)
    return {name: part.strip() for name, part in zip(parts[::2], parts[1::2], strict=True)}


@cache
def saved_runs_flag() -> str:
    """The script that the page calls first, to say whether the tab has saved the address's runs."""
    return (DIST / "flag.js").read_text(encoding="utf-8").strip()


@cache
def _stub() -> str:
    return (DIST / "stub.js").read_text(encoding="utf-8") + "//# sourceURL=sbd-stub.js"


@cache
def _bundle() -> str:
    """The path of the page's scripts."""
    gr.set_static_paths([DIST / "page.js"])
    return versioned_path(DIST / "page.js")


@cache
def versioned_path(file: Path) -> str:
    """The path of a static file, which changes with its content."""
    return f"{static_path(file)}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"


def static_path(file: Path) -> str:
    """The path of a static file below Gradio's routes, which the page's script makes an address.

    The path of a file in assets/ is relative, see `ui.middleware`.
    """
    is_ours = file.is_relative_to(ASSETS)
    return f"file={f'assets/{file.relative_to(ASSETS).as_posix()}' if is_ours else file.as_posix()}"


def view(name: str, value: str, *events: str, classes: Sequence[str] = ()) -> gr.HTML:
    """A view of the page's bundle, with its markup and the id `sbd-NAME`.

    value: what its script gets. classes: CSS classes.
    events: names of events that it can trigger; Gradio finds them in the script's text.
    """
    names = "".join(f"// may trigger {event!r}\n" for event in events)
    return gr.HTML(
        value,
        html_template=markups()[name],
        js_on_load=names + _stub(),
        view=name,
        bundle=_bundle(),
        apply_default_css=False,
        elem_id=f"sbd-{name}",
        elem_classes=list(classes),
    )


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
