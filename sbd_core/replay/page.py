"""A recorded decode as one HTML page that replays it with nothing beside it: no server, no network.

The player is the page's own, built from ui/web/ into assets/dist/replay.js.
"""

import html

from sbd_core.errors import TraceError
from sbd_core.files import ASSETS
from sbd_core.replay import wire_format
from sbd_core.trace import Trace

STYLES = (
    "player",
    "watch",
    "budget",
    "verify",
    "replay",
    "hood",
    "help",
    "share",
    "lecture",
    "tree",
    "sudoku",
)
"""What the player wears, of assets/css."""

FRAME_HEIGHT = 780
"""Pixels of a replay in a notebook: all of the player but its longest texts."""


def replay_html(*traces: Trace) -> str:
    """The page that replays `traces` side by side, the main one first.

    Raises TraceError for none, or two of one strategy.
    """
    lanes: dict[str, Trace] = {trace.config.strategy: trace for trace in traces}
    if not traces or len(lanes) < len(traces):
        raise TraceError("traces: must be at least one, each of another strategy")
    return page_of(wire_format.replay("export", lanes))


def page_of(lines: str) -> str:
    """The player with wire `lines` inside, which hold no `<`, so none escape."""
    styles = "\n".join(_asset("css", f"{name}.css") for name in STYLES)
    page = _asset("html", "replay.html").strip().replace("/*STYLES*/", styles)
    page = page.replace("/*SCRIPTS*/", _asset("dist", "replay.js"))
    return page.replace("<!--LINES-->", lines)


def notebook_html(trace: Trace) -> str:
    """The replay in a frame of its own, for a notebook's cell: it can touch nothing around it."""
    page = html.escape(replay_html(trace))
    return (
        f'<iframe srcdoc="{page}" title="Set Block Decoding, a recorded run" '
        'sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
    )


def _asset(folder: str, name: str) -> str:
    return (ASSETS / folder / name).read_text(encoding="utf-8")
