"""Gradio components for the views of ui/web, with their markup, scripts and values."""

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
    """The markup of each view by the view's name, read from views.html."""
    text = (ASSETS / "html" / "views.html").read_text(encoding="utf-8")
    _, *parts = re.split(r"^<!-- ([a-z-]+) -->$", text, flags=re.MULTILINE)
    return {name: part.strip() for name, part in zip(parts[::2], parts[1::2], strict=True)}


@cache
def saved_runs_flag() -> str:
    """JavaScript that tells the page's load event whether the tab has saved this URL's runs."""
    return (DIST / "saved_runs_flag.js").read_text(encoding="utf-8").strip()


@cache
def _stub() -> str:
    return (DIST / "stub.js").read_text(encoding="utf-8") + "//# sourceURL=sbd-stub.js"


@cache
def _bundle() -> str:
    """The path of the page's bundled script."""
    gr.set_static_paths([DIST / "page.js"])
    return versioned_path(DIST / "page.js")


@cache
def versioned_path(file: Path) -> str:
    """The path of a static file with a content digest, so that no outdated copy is used."""
    return f"{static_path(file)}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"


def static_path(file: Path) -> str:
    """The path by which Gradio serves a static file; the page's script completes the URL.

    A file in assets/ gets a relative path, which `ui.middleware` resolves.
    """
    is_ours = file.is_relative_to(ASSETS)
    return f"file={f'assets/{file.relative_to(ASSETS).as_posix()}' if is_ours else file.as_posix()}"


def view(name: str, value: str, *events: str, classes: Sequence[str] = ()) -> gr.HTML:
    """Make a component that shows the view `name` of ui/web, with the element id `sbd-NAME`.

    value: initial value, which the view's script reads.
    events: names of events that the view can trigger; Gradio finds them in the view's script.
    classes: CSS classes of the element.
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
    """Makes numbered messages for the status line, so that the page can ignore outdated ones.

    Each stream of messages has its own speaker. Once a speaker has spoken, the page ignores older
    speakers. Gradio may deliver late: it repeats a stream's last value when the stream ends, and a
    cancelled stream may still send a value after Stop was answered.
    """

    def __init__(self) -> None:
        self._turn = next(_turns)
        self._count = 0

    def say(
        self, text: str, *, is_error: bool = False, num_ahead: int = 0, is_of_form: bool = False
    ) -> str:
        """Make a message that shows `text` in the status line.

        is_error: whether the text is an error, which screen readers read out at once.
        num_ahead: number of runs in line before this visitor's run.
        is_of_form: whether to clear the text once the form no longer matches the run that is shown.
        """
        kind = "error" if is_error else "status"
        body = {"kind": kind, "text": text, "order": self.order(), "ahead": num_ahead}
        body |= {"is_of_form": True} if is_of_form else {}
        return wire_json(body)

    def order(self) -> list[int]:
        """Count one more message; return [number of this speaker, number of the message]."""
        self._count += 1
        return [self._turn, self._count]


_count = itertools.count()


def server_message(**content: Any) -> str:
    """Encode `content` as JSON with a new number, as Gradio skips unchanged values."""
    return wire_json({"number": next(_count), **content})
