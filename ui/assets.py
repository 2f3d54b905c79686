"""Reads the files of assets/ that components need. Decides nothing."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import gradio as gr

from sbd_core.files import ASSETS
from sbd_core.replay import STYLES as PLAYER_STYLES

DIST = ASSETS / "dist"
"""Bundles built from ui/web/, see its package.json."""

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

    The path of a file in assets/ is relative, see `ui.hosting.middleware`.
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
