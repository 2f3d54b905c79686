"""Accuracy against tokens per forward pass of every solver, from the results of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.theme import LEGEND, Theme, figure_of, ink_of

MAIN = "entropy-bound"
OWN = "entropy-bound-from-left"
"""The paper's rule in the hue of SBD, ours in the colour of its text, the others in grey."""

SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "x",
    "cross",
    "pentagon",
    "hexagon",
    "bowtie",
    "hourglass",
    "triangle-down",
    "hexagram",
    "star-diamond",
)
DASHES = ("solid", "dash", "dot")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One setting of a solver: mean accuracy over the tasks, tokens per forward pass as `speed`."""

    parameter: str
    accuracy: float
    speed: float


def curves(rows: Mapping[str, Any]) -> dict[str, list[CurvePoint]]:
    """The points of each solver, from rows named "solver parameter"; others are left out."""
    found: dict[str, list[CurvePoint]] = {}
    for name, row in rows.items():
        solver, _, parameter = name.partition(" ")
        if parameter:
            mean = row["mean"]
            point = CurvePoint(parameter, mean["accuracy"], mean["tokens_per_forward"])
            found.setdefault(solver, []).append(point)
    return found


def solvers(results: Mapping[str, Any], theme: Theme = "light") -> go.Figure:
    """A line for each solver, a star for next-token prediction, another for verify.

    results: what `sbd evaluate --sweep --out FILE` wrote, or Evaluation.to_data() of rows named
    "solver parameter" and one named "NTP". Raises ArgumentError.
    """
    ink = ink_of(theme)
    rows = results.get("rows") if isinstance(results, Mapping) else None
    if not isinstance(rows, Mapping) or "NTP" not in rows:
        raise ArgumentError("results", 'must be those of a sweep, with a row "NTP"', results)
    lines: list[dict[str, Any]] = []
    for index, (solver, points) in enumerate(curves(rows).items()):
        in_order = sorted(points, key=lambda point: point.speed)
        is_chief = solver in (MAIN, OWN)
        colour = {MAIN: ink.sbd, OWN: ink.text}.get(solver, ink.muted)
        symbol, size = SYMBOLS[index % len(SYMBOLS)], 9 if is_chief else 7
        lines.append(
            {
                "type": "scatter",
                "name": solver,
                "x": [point.speed for point in in_order],
                "y": [round(100 * point.accuracy, 2) for point in in_order],
                "text": [point.parameter for point in in_order],
                "mode": "lines+markers",
                "marker": {"symbol": symbol, "size": size, "color": colour},
                "line": {
                    "color": colour,
                    "width": 3 if is_chief else 1.5,
                    "dash": DASHES[index % len(DASHES)],
                },
                "hovertemplate": f"{solver} %{{text}}<br>%{{y:.1f}} % right, "
                "%{x:.2f} tokens per forward pass<extra></extra>",
            }
        )
    axes = {"title": "tokens per forward pass"}, {"title": "right answers, %"}
    margin = {"l": 8, "r": 8, "t": 34, "b": 96}
    marks = [_mark("NTP", "star", rows["NTP"], ink.ntp)]
    if "verify" in rows:
        marks.append(_mark("verify", "star-square", rows["verify"], ink.verify))
    return figure_of(
        "solvers",
        ink,
        [*lines, *marks],
        *axes,
        height=480,
        showlegend=True,
        legend=LEGEND,
        margin=margin,
    )


def _mark(name: str, symbol: str, row: dict[str, Any], colour: str) -> dict[str, Any]:
    """Where a strategy stands that has no parameter."""
    mean = row["mean"]
    return {
        "type": "scatter",
        "name": name,
        "x": [mean["tokens_per_forward"]],
        "y": [round(100 * mean["accuracy"], 2)],
        "mode": "markers",
        "marker": {"symbol": symbol, "size": 14, "color": colour},
        "hovertemplate": f"{name}<br>%{{y:.1f}} % right, "
        "%{x:.2f} tokens per forward pass<extra></extra>",
    }
