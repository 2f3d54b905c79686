"""Gives figures the page's colours, entropy scale and fonts, and escapes token texts.

Plotly interprets a few HTML tags in any text, so every token text must be escaped.
"""

import html
import math
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

from sbd_core.config import StrategyName
from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace

Theme = Literal["light", "dark"]

MAX_HOVERED = 8
LEGEND = {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"}
TYPE = 13
"""Smallest font size in pixels."""
# The page's own scale, shared with ui/web/core/colours.ts: cividis by the root of the entropy.
MAX_ENTROPY = 4.0
TICKS = (0, 0.1, 0.5, 1, 2, 4)
RAMPS = {
    "light": "#00204c #0b316e #31446b #4f576c #666970 #7f7c75 #9b9172 #b9a868 #d7c058 #efd13f",
    "dark": "#3d74cf #5179bd #667fab #7b879d #908f92 #a59a86 #bba778 #d1b769 #e7cb57 #ffe645",
}


@dataclass(frozen=True, slots=True)
class Ink:
    """The page's colours in one theme, equal to the colours in assets/css/player.css.

    ramp: colours of the entropy scale, from low to high, separated by spaces.
    card: background. line: grid and axes. text, muted: main and lesser text. accent: marks.
    sbd, verify, ntp: colour of each strategy.
    """

    ramp: str
    card: str
    line: str
    text: str
    muted: str
    accent: str
    sbd: str
    verify: str
    ntp: str

    def of(self, strategy: StrategyName) -> str:
        """Return the colour of a strategy, which is the same everywhere on the page."""
        return {"sbd": self.sbd, "verify": self.verify, "ntp": self.ntp}[strategy]


LIGHT = Ink(
    RAMPS["light"],
    *("#ffffff", "#e3e1db", "#1b1d22", "#5f636d", "#1f5fc0", "#0f6f68", "#7a3ea8", "#b3471b"),
)
DARK = Ink(
    RAMPS["dark"],
    *("#171a21", "#2d323d", "#eceae4", "#a3a8b3", "#82b1ff", "#5cd0c2", "#cfa6f7", "#f0906a"),
)
INKS: dict[Theme, Ink] = {"light": LIGHT, "dark": DARK}


def ink_of(theme: Theme) -> Ink:
    """Return the colours of a theme. Raises ArgumentError for an unknown theme."""
    if not isinstance(theme, str) or theme not in INKS:
        raise ArgumentError("theme", f"must be one of {', '.join(INKS)}", theme)
    return INKS[theme]


def unsureness(entropy: float) -> float:
    """Map an entropy in nats to 0..1 by its square root; MAX_ENTROPY and above become 1."""
    return round(math.sqrt(min(max(entropy, 0.0), MAX_ENTROPY) / MAX_ENTROPY), 4)


def safe(text: str) -> str:
    """Shorten a token's text by token_name(), and escape the result for Plotly."""
    return html.escape(token_name(text), quote=False)


def names(trace: Trace, token_ids: tuple[int, ...], most: int = MAX_HOVERED) -> str:
    """Join the names of the first `most` tokens and the number of others, escaped for Plotly."""
    shown = [token_name(trace.tokens[token_id]) for token_id in token_ids[:most]]
    rest = len(token_ids) - most
    return html.escape("  ".join([*shown, f"+{rest}"] if rest > 0 else shown), quote=False)


def coloured(ink: Ink) -> dict[str, Any]:
    """Make settings to colour Plotly data by unsureness(), with a bar that is labelled in nats."""
    bar = {"thickness": 12, "outlinewidth": 0, "title": {"text": "nats"}}
    bar |= {"tickvals": [unsureness(tick) for tick in TICKS], "ticktext": [*map(str, TICKS)]}
    return {"colorscale": ink.ramp.split(), "colorbar": bar}


def figure_of(
    name: str,
    ink: Ink,
    data: list[dict[str, Any]],
    across: dict[str, Any],
    up: dict[str, Any],
    **more: Any,
) -> go.Figure:
    """Make a figure with the page's fonts and colours.

    name: id of the figure, kept in layout.meta. data: Plotly traces.
    across, up: settings of the x axis and of the y axis, with the title as a plain string.
    more: further fields of the layout.
    """
    fixed = {
        "meta": {"id": name},
        # An empty template, so that the whole look of a figure is set here.
        "template": go.layout.Template(),
    }
    layout = layout_of(ink)

    def axis(own: dict[str, Any]) -> dict[str, Any]:
        look = layout["xaxis"]
        return {**look, **own, "title": {**look["title"], "text": own["title"]}}

    axes = {"xaxis": axis(across), "yaxis": axis(up)}
    return go.Figure({"data": data, "layout": {**fixed, **layout, **axes, **more}})


def layout_of(ink: Ink) -> dict[str, Any]:
    """Return the layout of every figure: its fonts and colours, and axes without words."""
    axis = {
        "gridcolor": ink.line,
        "linecolor": ink.line,
        "zeroline": False,
        "automargin": True,
        "title": {"font": {"color": ink.muted}},
    }
    return {
        "height": 320,
        "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
        "paper_bgcolor": ink.card,
        "plot_bgcolor": ink.card,
        "font": {"color": ink.text, "size": TYPE, "family": "system-ui, sans-serif"},
        "hoverlabel": {
            "bgcolor": ink.card,
            "bordercolor": ink.muted,
            "font": {"color": ink.text, "size": TYPE},
            "align": "left",
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": ink.muted, "activecolor": ink.accent},
        "showlegend": False,
        "bargap": 0.15,
        "xaxis": axis,
        "yaxis": axis,
    }


MAX_NAME = 24
MARKS = {"\n": "⏎", "\r": "␍", "\t": "⇥"}


def token_name(text: str) -> str:
    """Shorten a token's text to one line, with marks for invisible characters; escapes nothing."""
    if not text:
        return "∅"
    spaces = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    core = text.strip(" ")
    text = "·" * spaces[0] + core + "·" * spaces[1] if core else "·" * len(text)
    shown = "".join(
        MARKS.get(each, each if each.isprintable() else f"U+{ord(each):04X}") for each in text
    )
    return shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…"
