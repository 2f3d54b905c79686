"""Figures of the roofline: cost of a block's forward pass, and speed-up of decoding by blocks.

The heatmaps show the paper's Tables 3 and 4, as published or corrected (the roofline's modes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.cost import ModelShape
from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.plots.theme import LEGEND, TYPE, Ink, Theme, figure_of, ink_of, readable_on
from sbd_core.roofline import MAX_TOKENS, Device, Mode, pass_seconds, slowdown, speedup

BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64)
KV_LENGTHS = (16, 256, 1024, 4096, 16384, 65536, 1048576, 4194304)
"""BLOCK_SIZES and KV_LENGTHS are those of the paper's Table 3."""
NFE_SPEEDUPS = (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8)
MODES: tuple[Mode, ...] = ("published", "corrected")
NARROW_WIDTH = 266
"""Width in pixels of all columns of a heatmap together on a phone."""
DIGIT_WIDTH = 0.62
"""Width of a digit divided by the font size."""
WORDS = {"published": "as the paper counts", "corrected": "corrected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflinePoint:
    """The device, model and decoding settings that a figure is drawn for.

    shape: the model's sizes; None is the paper's model, whose sizes depend on the mode.
    kv_length: number of tokens in each text's KV cache. batch_size: number of texts in a pass.
    tokens_per_forward: mean number of tokens revealed by a forward pass, at most block_size.
    Raises ArgumentError for a number out of range.
    """

    device: Device
    shape: ModelShape | None = None
    block_size: int = 16
    kv_length: int = 1024
    batch_size: int = 1
    tokens_per_forward: float = 3.4

    def __post_init__(self) -> None:
        require_integer("block_size", self.block_size, 1, MAX_TOKENS)
        require_integer("kv_length", self.kv_length, 0, MAX_TOKENS)
        require_integer("batch_size", self.batch_size, 1, MAX_TOKENS)
        require_number("tokens_per_forward", self.tokens_per_forward, 0, self.block_size)
        if self.tokens_per_forward == 0:
            raise ArgumentError("tokens_per_forward", "must be above 0", 0)

    def slowdown(self, block_size: int, kv_length: int, mode: Mode) -> float:
        """Time of a forward pass over block_size tokens, divided by that over one token."""
        return slowdown(block_size, kv_length, self.batch_size, mode, **self._where())

    def cache_growth(self, mode: Mode) -> float:
        """Time of a one-token pass with the longest KV cache, divided by that with the shortest."""
        long, short = (
            pass_seconds(1, length, self.batch_size, mode, **self._where())
            for length in (KV_LENGTHS[-1], KV_LENGTHS[0])
        )
        return long / short

    def speedup(self, nfe_speedup: float, kv_length: int, mode: Mode) -> float:
        """Speed-up (Eq. 16) over next-token prediction if a pass reveals `nfe_speedup` tokens."""
        return speedup(
            self.block_size, nfe_speedup, kv_length, self.batch_size, mode, **self._where()
        )

    def _where(self) -> dict[str, Any]:
        return {"shape": self.shape and self.shape.layer, "device": self.device}


def slowdown_curve(
    point: RooflinePoint,
    measured: Mapping[int, float] | None = None,
    theme: Theme = "light",
    measured_name: str = "measured",
) -> go.Figure:
    """Plot the time of a forward pass over n tokens, divided by that of a pass over one token.

    measured: {number of tokens: seconds} to draw as marks; must contain 1. None draws no marks.
    measured_name: the name of these marks in the legend.
    """
    ink = ink_of(theme)
    sizes = sorted({*BLOCK_SIZES, point.block_size, 2 * point.block_size})
    looks: dict[Mode, tuple[str, str]] = {
        "published": (ink.muted, "dash"),
        "corrected": (ink.accent, "solid"),
    }
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "name": f"roofline, {WORDS[mode]}",
            "x": sizes,
            "y": [round(point.slowdown(size, point.kv_length, mode), 4) for size in sizes],
            "mode": "lines",
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "hovertemplate": "%{x} tokens: %{y:.3f} times one token<extra></extra>",
        }
        for mode, (colour, dash) in looks.items()
    ]
    if measured:
        ratios = {size: measured[size] / measured[1] for size in sorted(measured)}
        data.append(_mark(ratios, measured_name, ("diamond", 10, ink.sbd)))
    here = point.slowdown(point.block_size, point.kv_length, "corrected")
    data.append(_mark({point.block_size: here}, "your block", ("star", 16, ink.ntp)))
    across = {
        "title": "tokens in the forward pass",
        "type": "log",
        "tickvals": list(BLOCK_SIZES),
        "ticktext": [str(value) for value in BLOCK_SIZES],
    }
    up = {"title": "time, times one token", "rangemode": "tozero"}
    legend = {"showlegend": True, "legend": LEGEND, "height": 380}
    margin = {"l": 8, "r": 8, "t": 34, "b": 84}
    return figure_of("slowdown-curve", ink, data, across, up, margin=margin, **legend)


def slowdown_table(point: RooflinePoint, mode: Mode, theme: Theme = "light") -> go.Figure:
    """Plot the slowdown (Table 3) as a heatmap over block size and length of the KV cache."""
    tables = {
        each: [
            [round(point.slowdown(size, length, each), 3) for size in BLOCK_SIZES]
            for length in KV_LENGTHS
        ]
        for each in MODES
    }
    place = (_nearest(point.block_size, BLOCK_SIZES), _nearest(point.kv_length, KV_LENGTHS))
    return _heatmap(
        f"slowdown-{mode}", tables, mode, BLOCK_SIZES, "block size", place, ink_of(theme), "slower"
    )


def framed_column(point: RooflinePoint, mode: Mode) -> list[float]:
    """Return the framed column of slowdown_table(): a slowdown for each length in KV_LENGTHS."""
    size = BLOCK_SIZES[_nearest(point.block_size, BLOCK_SIZES)]
    return [round(point.slowdown(size, length, mode), 3) for length in KV_LENGTHS]


def speedup_table(point: RooflinePoint, mode: Mode, theme: Theme = "light") -> go.Figure:
    """Plot the speed-up (Table 4) as a heatmap over tokens per forward pass and KV cache length."""
    gains = [gain for gain in NFE_SPEEDUPS if gain <= point.block_size]
    tables = {
        each: [
            [round(point.speedup(gain, length, each), 3) for gain in gains] for length in KV_LENGTHS
        ]
        for each in MODES
    }
    place = (_nearest(point.tokens_per_forward, gains), _nearest(point.kv_length, KV_LENGTHS))
    name = "tokens per forward pass"
    return _heatmap(f"speedup-{mode}", tables, mode, gains, name, place, ink_of(theme), "faster")


def _heatmap(
    name: str,
    tables: Mapping[Mode, list[list[float]]],
    mode: Mode,
    columns: Any,
    across: str,
    place: tuple[int, int],
    ink: Ink,
    words: str,
) -> go.Figure:
    """Plot a heatmap with the number in each cell, and a frame around one cell.

    name: the figure's id.
    tables: {mode: rows of numbers}. Only `mode` is shown; the colour scale covers all modes.
    columns: the value of each column. across: the title of the x axis.
    place: column and row of the frame.
    words: "slower" or "faster", for the hover text.
    """
    known = [value for table in tables.values() for row in table for value in row]
    heat = _cells(tables[mode], columns, across, ink, words)
    heat |= {"zmin": min(known), "zmax": max(known)}
    numbers = _numbers(heat, ink.ramp.split())
    column, row = place
    sides = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    frame = {"type": "rect", **sides, "line": {"color": ink.ntp, "width": 4}}
    horizontal = {"title": across, "tickvals": list(range(len(columns)))}
    horizontal["ticktext"] = [f"{value:g}" for value in columns]
    vertical = {"title": "tokens in the KV cache", "tickvals": list(range(len(KV_LENGTHS)))}
    vertical["ticktext"] = [_short(length) for length in KV_LENGTHS]
    quiet: dict[str, Any] = {"showgrid": False}
    wide = quiet | horizontal | {"range": [-0.5, len(columns) - 0.5]}
    tall = quiet | vertical | {"range": [-0.5, len(KV_LENGTHS) - 0.5]}
    longest = max(len(text) for text in numbers["text"])
    size = min(TYPE, int(NARROW_WIDTH / len(columns) / longest / DIGIT_WIDTH))
    meta = {"id": name, "narrow": {"data": {"1": {"textfont": {"size": size}}}}}
    data, more = [heat, numbers], {"shapes": [frame], "height": 340}
    return figure_of(name, ink, data, wide, tall, meta=meta, **more)


def _cells(
    values: list[list[float]], columns: Any, across: str, ink: Ink, words: str
) -> dict[str, Any]:
    ramp = ink.ramp.split()
    return {
        "type": "heatmap",
        "z": values,
        "text": [[f"{value:.2f}" for value in row] for row in values],
        "customdata": [
            [f"{column:g} {across}, KV cache {length:,}" for column in columns]
            for length in KV_LENGTHS
        ],
        "colorscale": [[index / (len(ramp) - 1), colour] for index, colour in enumerate(ramp)],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": f"%{{customdata}}: %{{z:.3f}} times {words}<extra></extra>",
    }


def _numbers(heat: Mapping[str, Any], ramp: list[str]) -> dict[str, Any]:
    """Make a Plotly trace that writes each cell's number in black or white. ramp: cell colours."""
    least, span = heat["zmin"], max(heat["zmax"] - heat["zmin"], 1e-9)
    cells = [
        (x, y, text, readable_on(ramp, (value - least) / span))
        for y, (values, texts) in enumerate(zip(heat["z"], heat["text"], strict=True))
        for x, (value, text) in enumerate(zip(values, texts, strict=True))
    ]
    across, up, texts, colours = (list(column) for column in zip(*cells, strict=True))
    return {
        "type": "scatter",
        "mode": "text",
        "x": across,
        "y": up,
        "text": texts,
        "textfont": {"size": TYPE, "color": colours},
        "hoverinfo": "skip",
    }


def _mark(slowdowns: Mapping[int, float], name: str, look: tuple[str, int, str]) -> dict[str, Any]:
    """Draw marks. slowdowns: {x in tokens: y}. look: (symbol, size in pixels, colour)."""
    symbol, size, colour = look
    return {
        "type": "scatter",
        "name": name,
        "x": list(slowdowns),
        "y": [round(each, 4) for each in slowdowns.values()],
        "mode": "markers",
        "marker": {"symbol": symbol, "size": size, "color": colour},
        "hovertemplate": f"{name}: %{{x}} tokens, %{{y:.3f}} times one token<extra></extra>",
    }


def _nearest(value: float, values: Any) -> int:
    """Find the entry of `values` that is nearest to `value` by ratio; returns its index."""
    ratios = [max(value, 0.5) / known for known in values]
    distances = [max(ratio, 1 / ratio) for ratio in ratios]
    return distances.index(min(distances))


def _short(length: int) -> str:
    for size, unit in ((1024**2, "M"), (1024, "k")):
        if length >= size:
            return f"{length // size}{unit}"
    return str(length)
