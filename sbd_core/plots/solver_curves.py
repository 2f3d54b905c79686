"""Plots accuracy against tokens per forward pass for every solver in the results of a sweep."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.theme import LEGEND, Ink, Theme, figure_of, ink_of
from sbd_core.run_lines import LANE_NAMES
from sbd_core.solvers import SOLVER_TITLES

MAIN = "entropy-bound"
OWN = "entropy-bound-from-left"
"""The paper's solver has the colour of SBD, our own that of text; all others are grey."""

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
RUN_SYMBOL = "line-ns-open"
"""Symbol of the user's own runs; no solver's line uses it."""
DASHES = ("solid", "dash", "dot")
PALE = 0.35
LABEL_AT, LABEL_SPACE = 1.08, 1.45
"""x where labels begin, and where the axis roughly ends, divided by the largest x of any mark."""
LABEL_GAP = 0.062
"""Least distance between two labels, as a share of the range in y that the lines cover."""
LABEL_SIZE = 14
LEGEND_LINE = 21
"""Height in pixels of one entry in the legend of a narrow page."""
MARK_RISES = (32, 16)
"""Pixels by which the labels of NTP and verify are raised, as their marks have the same y."""


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


@dataclass(frozen=True, slots=True)
class RunMark:
    """A decoding run of the page's user, to be marked in the figure.

    name: the run's name in the hover text. speed: tokens per forward pass.
    is_right: whether the answer is right, None if it was not checked.
    """

    name: str
    speed: float
    is_right: bool | None = None


def dominated(by_solver: Mapping[str, list[CurvePoint]]) -> set[str]:
    """Find the solvers that other solvers outdo.

    Others equal or beat every point of such a solver, and beat at least one of its points.
    """

    def rivals(solver: str, point: CurvePoint) -> set[bool]:
        """Return a set with True if a rival point is better, False if a rival point is equal."""
        return {
            (other.accuracy, other.speed) != (point.accuracy, point.speed)
            for name, points in by_solver.items()
            if name != solver
            for other in points
            if other.accuracy >= point.accuracy and other.speed >= point.speed
        }

    def is_dominated(solver: str, points: list[CurvePoint]) -> bool:
        each = [rivals(solver, point) for point in points]
        return all(each) and any(True in kinds for kinds in each)

    return {solver for solver, points in by_solver.items() if is_dominated(solver, points)}


def solvers(
    results: Mapping[str, Any], theme: Theme = "light", runs: Sequence[RunMark] = ()
) -> go.Figure:
    """Plot a line for each solver, a star for next-token prediction and another for verify.

    results: data of `sbd evaluate --sweep --out FILE`, or Evaluation.to_data(). Each entry of
        "rows" is named "solver parameter", "NTP" or "verify".
    runs: runs to mark at the bottom, since a single answer has no accuracy.
    Lines of dominated() solvers are pale. Raises ArgumentError for results without "NTP".
    """
    ink = ink_of(theme)
    rows = results.get("rows") if isinstance(results, Mapping) else None
    if not isinstance(rows, Mapping) or "NTP" not in rows:
        raise ArgumentError("results", 'must be those of a sweep, with a row "NTP"', results)
    by_solver = curves(rows)
    pale = dominated(by_solver)
    lines = [
        _line(index, solver, points, ink) | {"opacity": PALE if solver in pale else 1.0}
        for index, (solver, points) in enumerate(by_solver.items())
    ]
    marks = [_mark(LANE_NAMES["ntp"], "star", rows["NTP"], ink.ntp)]
    if "verify" in rows:
        marks.append(_mark(LANE_NAMES["verify"], "star-square", rows["verify"], ink.verify))
    named = [(line["name"], *_last_alone(line, lines)) for line in lines]
    heights = [height for each in [*lines, *marks] for height in each["y"]]
    low, high = min(heights), max(heights)
    room = max(high - low, 1.0)
    speeds = [speed for each in [*lines, *marks] for speed in each["x"]]
    fastest = max([*speeds, *(run.speed for run in runs)])
    across = {"title": "tokens per forward pass", "range": [0.5, 1.0 + fastest * LABEL_SPACE]}
    up = {"title": "right answers, %", "range": [low - 0.12 * room, high + 0.08 * room]}
    colours = {line["name"]: line["marker"]["color"] for line in lines}
    labels = _labels(named, fastest, room, colours)
    own = [_runs(runs, low - 0.08 * room, ink)] if runs else []
    annotations = [*labels, *map(_beside, marks, MARK_RISES)]
    data = [*lines, *marks, *own]
    below = LEGEND_LINE * len(data)
    # On a narrow page names go to a legend, as there is no room beside the lines.
    narrow = {
        "showlegend": True,
        "legend": LEGEND,
        "height": 420 + below,
        "margin": {"b": 60 + below},
        "xaxis": {"range": [0.5, 1.1 * fastest]},
        "annotations": {str(index): {"visible": False} for index in range(len(annotations))},
    }
    return figure_of(
        "solvers", ink, data, across, up, height=520, annotations=annotations,
        meta={"id": "solvers", "narrow": {"layout": narrow}},
    )  # fmt: skip


def title_of(solver: str) -> str:
    """Return a solver's title on the page; an unknown solver keeps its name."""
    return SOLVER_TITLES.get(solver, html.escape(solver))


def _line(index: int, solver: str, points: list[CurvePoint], ink: Ink) -> dict[str, Any]:
    """Draw the line through a solver's points. index: selects the symbol and the dashes."""
    in_order = sorted(points, key=lambda point: point.speed)
    is_chief = solver in (MAIN, OWN)
    colour = {MAIN: ink.sbd, OWN: ink.text}.get(solver, ink.muted)
    symbol, size = SYMBOLS[index % len(SYMBOLS)], 9 if is_chief else 7
    dash = DASHES[index % len(DASHES)]
    return {
        "type": "scatter",
        "name": title_of(solver),
        "x": [point.speed for point in in_order],
        "y": [round(100 * point.accuracy, 2) for point in in_order],
        "text": [point.parameter for point in in_order],
        "mode": "lines+markers",
        "marker": {"symbol": symbol, "size": size, "color": colour},
        "line": {"color": colour, "width": 3 if is_chief else 1.5, "dash": dash},
        "hovertemplate": f"{title_of(solver)} at %{{text}}<br>%{{y:.1f}} % right, "
        "%{x:.2f} tokens per forward pass<extra></extra>",
    }


def _last_alone(line: dict[str, Any], lines: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return (x, y) of a line's last point that is on no other line, else of its last point."""
    points = list(zip(line["x"], line["y"], strict=True))
    others = [zip(each["x"], each["y"], strict=True) for each in lines if each is not line]
    taken = {point for each in others for point in each}
    return next((point for point in reversed(points) if point not in taken), points[-1])


def _labels(
    named: list[tuple[str, float, float]],
    fastest: float,
    room: float,
    colours: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Place labels in a column at the right, without overlap, each with a line to a point.

    named: (label, x, y) of each point. fastest: largest x of any mark.
    room: range in y that the lines cover. colours: {label: colour}.
    """
    below: float | None = None
    labels = []
    for name, x, y in sorted(named, key=lambda each: each[2]):
        height = y if below is None else max(y, below + room * LABEL_GAP)
        below = height
        labels.append(
            {
                "text": name,
                "x": x,
                "y": y,
                "ax": fastest * LABEL_AT,
                "ay": height,
                "axref": "x",
                "ayref": "y",
                "xanchor": "left",
                "showarrow": True,
                "arrowhead": 0,
                "arrowwidth": 0.8,
                "arrowcolor": colours[name],
                "font": {"color": colours[name], "size": LABEL_SIZE},
            }
        )
    return labels


def _beside(mark: dict[str, Any], rise: int) -> dict[str, Any]:
    """Make the label of a mark: its name, 10 pixels to the right and `rise` pixels above."""
    return {
        "text": mark["name"],
        "x": mark["x"][0],
        "y": mark["y"][0],
        "showarrow": False,  # a line to the mark would look like data
        "xanchor": "left",
        "xshift": 10,
        "yshift": rise,
        "font": {"color": mark["marker"]["color"], "size": LABEL_SIZE},
    }


def _runs(runs: Sequence[RunMark], height: float, ink: Ink) -> dict[str, Any]:
    """Draw marks for the user's own runs. height: the y of all marks, in percent."""
    checked = {True: "right", False: "wrong", None: "not checked"}
    words = [f"Your run: {html.escape(run.name)}<br>answer {checked[run.is_right]}" for run in runs]
    return {
        "type": "scatter",
        "name": "your runs",
        "x": [round(run.speed, 4) for run in runs],
        "y": [height] * len(runs),
        "text": words,
        "mode": "markers",
        "marker": {"symbol": RUN_SYMBOL, "size": 11, "color": ink.accent, "line": {"width": 4}},
        # Short lines and no name beside them, which a phone has no room for.
        "hovertemplate": "%{text}<br>%{x:.2f} tokens per forward pass<extra></extra>",
    }


def _mark(name: str, symbol: str, row: dict[str, Any], colour: str) -> dict[str, Any]:
    """Draw the only mark of a strategy that has no parameter. row: the strategy's results."""
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
