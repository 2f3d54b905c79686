"""The chart of what it cost to fix several tokens in one pass."""

import math
from typing import Any

from sbd_core.trace import Trace
from ui.charts.facts import Gamble, gambles
from ui.charts.look import LEGEND, MAX_HOVERED, Figure, Ink, figure_of, names, percent

MAX_ROWS = 12
MAX_NAMED = 4
LEAST_LOG10 = -9.0


def cost_of_parallelism(trace: Trace, ink: Ink) -> Figure:
    """Passes with several reveals, the worst first: their joint probability in hindsight
    (next-token prediction) beside the product of the probabilities they were taken with."""
    rows = gambles(trace)[:MAX_ROWS]
    if not rows:
        words = "No pass revealed several tokens that were read again."
        note = {"text": words, "showarrow": False, "x": 0.5, "y": 0.5}
        hidden = {"title": "", "visible": False}
        place = {"xref": "paper", "yref": "paper"}
        return figure_of(ink, [], hidden, hidden, annotations=[{**note, **place}])
    ends = [_log10(end) for row in rows for end in (row.separate, row.joint)]
    lowest = math.floor(min(ends) - 0.05)
    ticks = list(range(0, lowest - 1, -max(1, -lowest // 5)))
    powers = {"tickvals": ticks, "ticktext": [_power(tick) for tick in ticks]}
    across = {"title": "joint probability", "range": [lowest, 0], **powers}
    height = max(320, 110 + 30 * len(rows))
    marks = [_gaps(rows, ink), *_marks(trace, rows, ink)]
    return figure_of(
        ink, marks, across, _names_of_rows(trace, rows),
        height=height, showlegend=True, legend=LEGEND,
    )  # fmt: skip


def _gaps(rows: list[Gamble], ink: Ink) -> dict[str, Any]:
    """A line a pass from what it promised to what hindsight gives."""
    gaps = [end for row in rows for end in (_log10(row.separate), _log10(row.joint), None)]
    heights = [height for index in range(len(rows)) for height in (index, index, None)]
    line = {"color": ink.muted, "width": 2}
    quiet = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
    return {"type": "scatter", "x": gaps, "y": heights, "line": line, **quiet}


def _marks(trace: Trace, rows: list[Gamble], ink: Ink) -> list[dict[str, Any]]:
    looks = (
        ("separate", "separate probabilities, multiplied", ink.accent, "circle-open"),
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
            f"{names(trace, row.token_ids, MAX_NAMED)}   <b>pass {row.pass_number}</b>"
            for row in rows
        ],
        "range": [len(rows) - 0.5, -0.5],
        "showgrid": False,
    }


def _gamble_words(trace: Trace, row: Gamble) -> str:
    factor = math.exp(min(row.cost, 50.0))
    times = f"{factor:,.3g} times less likely together" if factor > 1 else "no less likely together"
    return (
        f"pass {row.pass_number}, positions {', '.join(map(str, row.positions[:MAX_HOVERED]))}"
        f"<br>{names(trace, row.token_ids)}"
        f"<br>multiplied {percent(math.exp(row.separate))}"
        f"<br>in hindsight {percent(math.exp(row.joint))}: {times}"
    )


def _log10(logarithm: float) -> float:
    return max(logarithm / math.log(10), LEAST_LOG10)


def _power(exponent: int) -> str:
    if exponent <= LEAST_LOG10:
        return f"≤ 10<sup>{exponent}</sup>"
    return f"{10.0**exponent:g}" if exponent >= -3 else f"10<sup>{exponent}</sup>"
