"""Plots accuracy against tokens per forward pass for every solver in the results of a sweep."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.theme import Theme, figure_of, ink_of
from sbd_core.run_lines import LANE_NAMES
from sbd_core.solvers import SOLVER_SOURCES, SOLVER_TITLES

MAIN = "entropy-bound"
OWN = "entropy-bound-from-left"
"""The paper's solver has the colour of SBD, our own that of text; all others are grey."""

DASHES = ("solid", "dash", "dot", "longdash", "dashdot", "longdashdot")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The results of a solver at one value of its parameter.

    parameter: the value, as text. accuracy: mean over tasks, 0 to 1.
    speed: mean number of tokens per forward pass.
    """

    parameter: str
    accuracy: float
    speed: float


def curves(rows: Mapping[str, Any]) -> dict[str, list[CurvePoint]]:
    """Group the results that are named "solver parameter"; returns {solver: points}."""
    by_solver: dict[str, list[CurvePoint]] = {}
    for name, row in rows.items():
        solver, _, parameter = name.partition(" ")
        if parameter:
            by_solver.setdefault(solver, []).append(_point(parameter, row))
    return by_solver


def _point(parameter: str, row: Mapping[str, Any]) -> CurvePoint:
    return CurvePoint(parameter, row["mean"]["accuracy"], row["mean"]["tokens_per_forward"])


def solvers(results: Mapping[str, Any], theme: Theme = "light") -> go.Figure:
    """Plot a line for each solver, a star for next-token prediction and another for verify.

    results: data of `sbd evaluate --sweep --out FILE`. Each entry of "rows" is named
        "solver parameter", "NTP" or "verify".
    Raises ArgumentError for results without "NTP".
    """
    ink = ink_of(theme)
    rows = results.get("rows") if isinstance(results, Mapping) else None
    if not isinstance(rows, Mapping) or "NTP" not in rows:
        raise ArgumentError("results", 'must be those of a sweep, with a row "NTP"', results)
    data = []
    for index, (solver, points) in enumerate(curves(rows).items()):
        is_chief = solver in (MAIN, OWN)
        colour = {MAIN: ink.sbd, OWN: ink.text}.get(solver, ink.muted)
        dash = DASHES[index % len(DASHES)]
        title = SOLVER_TITLES.get(solver, html.escape(solver))
        drawn = _marks(title, index, points, colour, size=9 if is_chief else 7)
        line = {"color": colour, "width": 3 if is_chief else 1.5, "dash": dash}
        if solver in SOLVER_SOURCES:
            drawn["name"] = f"{title}, {SOLVER_SOURCES[solver]}"
        data.append({**drawn, "mode": "lines+markers", "line": line})
    for row, colour, symbol in ("NTP", ink.ntp, "star"), ("verify", ink.verify, "star-square"):
        if row in rows:
            name = LANE_NAMES["ntp" if row == "NTP" else "verify"]
            data.append(_marks(name, symbol, [_point("", rows[row])], colour, size=14))
    titles = {"title": "tokens per forward pass"}, {"title": "right answers, %"}
    return figure_of("solvers", ink, data, *titles, height=520, showlegend=True)


def _marks(
    name: str, symbol: str | int, points: list[CurvePoint], colour: str, size: int
) -> dict[str, Any]:
    in_order = sorted(points, key=lambda point: point.speed)
    at = " at %{text}" if points[0].parameter else ""
    return {
        "type": "scatter",
        "name": name,
        "x": [point.speed for point in in_order],
        "y": [round(100 * point.accuracy, 2) for point in in_order],
        "text": [point.parameter for point in in_order],
        "mode": "markers",
        "marker": {"symbol": symbol, "size": size, "color": colour},
        "hovertemplate": f"{name}{at}<br>%{{y:.1f}} % right, "
        "%{x:.2f} tokens per forward pass<extra></extra>",
    }
