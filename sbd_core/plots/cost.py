"""The figure of what it cost to reveal several tokens in one forward pass."""

import math
from typing import Any

import plotly.graph_objects as go

from sbd_core.plots.facts import Gamble, gambles
from sbd_core.plots.theme import (
    LEGEND,
    MAX_HOVERED,
    Ink,
    Theme,
    figure_of,
    ink_of,
    names,
    percent,
)
from sbd_core.trace import Trace

ID = "cost-of-parallelism"
MAX_ROWS = 12
MAX_NAMED = 4
FLOOR = -10
"""Of the axis, as a power of ten; what is less likely is drawn there."""
MAX_NATS = 50.0
"""Of a gap that is told in digits."""


def cost_of_parallelism(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Forward passes that revealed several tokens: their joint probability beside the product
    of the separate ones.

    Joint is what next-token prediction gives the tokens in hindsight, each after all the text to
    its left; the product is of the probabilities they were revealed with. At most 12 forward
    passes, the widest gap as drawn first; those not wholly read again are left out. Raises
    ArgumentError.
    """
    ink = ink_of(theme)
    rows = sorted(gambles(trace), key=_drawn_gap, reverse=True)[:MAX_ROWS]
    if not rows:
        words = "No forward pass revealed several tokens that were read again."
        note = {"text": words, "showarrow": False, "x": 0.5, "y": 0.5}
        hidden = {"title": "", "visible": False}
        place = {"xref": "paper", "yref": "paper"}
        return figure_of(ID, ink, [], hidden, hidden, annotations=[{**note, **place}])
    ends = [_log10(end) for row in rows for end in (row.separate, row.joint)]
    lowest = max(math.floor(min(ends) - 0.05), FLOOR)
    ticks = list(range(0, lowest - 1, -max(1, -lowest // 5)))
    is_cut = FLOOR in ends
    powers = {"tickvals": ticks, "ticktext": [_power(tick, is_cut=is_cut) for tick in ticks]}
    across = {"title": "joint probability", "range": [lowest, 0], **powers}
    height = max(320, 110 + 30 * len(rows))
    marks = [_gaps(rows, ink), *_marks(trace, rows, ink)]
    return figure_of(
        ID, ink, marks, across, _names_of_rows(trace, rows),
        height=height, showlegend=True, legend=LEGEND,
    )  # fmt: skip


def _gaps(rows: list[Gamble], ink: Ink) -> dict[str, Any]:
    """A line a forward pass from what it promised to what hindsight gives."""
    gaps = [end for row in rows for end in (_log10(row.separate), _log10(row.joint), None)]
    heights = [height for index in range(len(rows)) for height in (index, index, None)]
    line = {"color": ink.muted, "width": 2}
    quiet = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "x": gaps, "y": heights, "line": line, **quiet}


def _marks(trace: Trace, rows: list[Gamble], ink: Ink) -> list[dict[str, Any]]:
    own = ink.of(trace.config.strategy)
    looks = (
        ("separate", "separate probabilities, multiplied", own, "circle-open"),
        ("joint", "next-token prediction, in hindsight", ink.ntp, "diamond"),
    )
    return [
        {
            "type": "scatter",
            "name": words,
            "x": [_log10(getattr(row, field)) for row in rows],
            "y": list(range(len(rows))),
            "text": [_gamble_words(trace, row) for row in rows],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"size": 11, "color": colour, "symbol": symbol, "line": {"width": 2}},
            "hovertemplate": "%{text}<extra></extra>",
        }
        for field, words, colour, symbol in looks
    ]


def _names_of_rows(trace: Trace, rows: list[Gamble]) -> dict[str, Any]:
    return {
        "title": "",
        "tickvals": list(range(len(rows))),
        "ticktext": [
            f"{names(trace, row.token_ids, MAX_NAMED)}   <b>forward pass {row.pass_number}</b>"
            for row in rows
        ],
        "range": [len(rows) - 0.5, -0.5],
        "showgrid": False,
    }


def _gamble_words(trace: Trace, row: Gamble) -> str:
    times = f"{math.exp(min(abs(row.cost), MAX_NATS)):,.3g}"
    if abs(row.cost) > MAX_NATS:
        times = f"more than {times}"
    than = f"{times} times {'less likely' if row.cost > 0 else 'likelier'}"
    together = f"{'as likely' if times == '1' else than} together"
    return (
        f"forward pass {row.pass_number}, "
        f"positions {', '.join(map(str, row.positions[:MAX_HOVERED]))}"
        f"<br>{names(trace, row.token_ids)}"
        f"<br>multiplied {_probability_words(row.separate)}"
        f"<br>in hindsight {_probability_words(row.joint)}: {together}"
    )


def _probability_words(logarithm: float) -> str:
    is_below = logarithm / math.log(10) < FLOOR
    return percent(math.exp(logarithm)) + (
        " (below the axis, drawn at its end)" if is_below else ""
    )


def _drawn_gap(row: Gamble) -> float:
    return abs(_log10(row.separate) - _log10(row.joint))


def _log10(logarithm: float) -> float:
    """As a power of ten, where it is drawn."""
    return max(logarithm / math.log(10), FLOOR)


def _power(exponent: int, *, is_cut: bool) -> str:
    """is_cut: whether some of what is drawn at FLOOR lies below it."""
    if is_cut and exponent == FLOOR:
        return f"≤ 10<sup>{exponent}</sup>"
    return f"{10.0**exponent:g}" if exponent >= -3 else f"10<sup>{exponent}</sup>"
