"""Plots accuracy against tokens per forward pass for every solver in the results of a sweep."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.theme import Ink, Theme, figure_of, ink_of
from sbd_core.run_lines import LANE_NAMES
from sbd_core.solvers import SOLVER_TITLES

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
            mean = row["mean"]
            point = CurvePoint(parameter, mean["accuracy"], mean["tokens_per_forward"])
            by_solver.setdefault(solver, []).append(point)
    return by_solver


def solvers(results: Mapping[str, Any], theme: Theme = "light") -> go.Figure:
    """Plot a line for each solver, a star for next-token prediction and another for verify.

    results: data of `sbd evaluate --sweep --out FILE`, or Evaluation.to_data(). Each entry of
        "rows" is named "solver parameter", "NTP" or "verify".
    Raises ArgumentError for results without "NTP".
    """
    ink = ink_of(theme)
    rows = results.get("rows") if isinstance(results, Mapping) else None
    if not isinstance(rows, Mapping) or "NTP" not in rows:
        raise ArgumentError("results", 'must be those of a sweep, with a row "NTP"', results)
    data = [_line(index, *each, ink) for index, each in enumerate(curves(rows).items())]
    data.append(_mark(LANE_NAMES["ntp"], "star", rows["NTP"], ink.ntp))
    if "verify" in rows:
        data.append(_mark(LANE_NAMES["verify"], "star-square", rows["verify"], ink.verify))
    titles = {"title": "tokens per forward pass"}, {"title": "right answers, %"}
    return figure_of("solvers", ink, data, *titles, height=520, showlegend=True)


def _line(index: int, solver: str, points: list[CurvePoint], ink: Ink) -> dict[str, Any]:
    """Draw the line through a solver's points. index: selects the symbol and the dashes."""
    is_chief = solver in (MAIN, OWN)
    colour = {MAIN: ink.sbd, OWN: ink.text}.get(solver, ink.muted)
    line = {"color": colour, "width": 3 if is_chief else 1.5, "dash": DASHES[index % len(DASHES)]}
    title = SOLVER_TITLES.get(solver, html.escape(solver))
    drawn = _marks(title, index, points, colour, size=9 if is_chief else 7)
    return {**drawn, "mode": "lines+markers", "line": line}


def _mark(name: str, symbol: str, row: dict[str, Any], colour: str) -> dict[str, Any]:
    """Draw the only mark of a strategy that has no parameter. row: the strategy's results."""
    mean = row["mean"]
    point = CurvePoint("", mean["accuracy"], mean["tokens_per_forward"])
    return _marks(name, symbol, [point], colour, size=14)


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
