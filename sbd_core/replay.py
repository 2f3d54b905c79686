"""Makes an HTML page that replays traces without a server, and shows it in a notebook too.

The page embeds the traces as lines of sbd_core.run_lines. Knows no model, no tensor, no Gradio.
"""

import html

from sbd_core.errors import TraceError
from sbd_core.files import ASSETS
from sbd_core.run_lines import replay_lines
from sbd_core.trace import Trace

STYLES = (
    "player",
    "watch",
    "hood",
    "sheets",
    "lecture",
    "tree",
    "sudoku",
)
"""Stylesheets embedded in the replay page."""
FRAME_HEIGHT = 780
"""Height of a replay in a notebook, in pixels: enough for all but the longest texts."""


def replay_html(*traces: Trace) -> str:
    """An HTML page that replays `traces`, the main one first, without a server or network.

    Raises TraceError if there is no trace, or if two traces have the same strategy.
    """
    lanes: dict[str, Trace] = {trace.strategy: trace for trace in traces}
    if not traces or len(lanes) < len(traces):
        raise TraceError("traces: must be at least one, each of another strategy")
    return page_of(replay_lines("export", lanes))


def page_of(lines: str) -> str:
    """The player's HTML page with `lines` embedded. lines: made by RunLines, with "<" escaped."""
    styles = "\n".join(_asset("css", f"{name}.css") for name in STYLES)
    page = _asset("html", "replay.html").strip().replace("/*STYLES*/", styles)
    page = page.replace("/*SCRIPTS*/", _asset("dist", "replay.js"))
    return page.replace("<!--LINES-->", lines)


class Replay:
    """Traces that a notebook shows as a replay in a sandboxed frame; see replay_html()."""

    def __init__(self, *traces: Trace) -> None:
        self._page = replay_html(*traces)

    def _repr_html_(self) -> str:
        page = html.escape(self._page)
        return (
            f'<iframe srcdoc="{page}" title="Set Block Decoding, a recorded run" '
            'sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
        )


def _asset(folder: str, name: str) -> str:
    return (ASSETS / folder / name).read_text(encoding="utf-8")
