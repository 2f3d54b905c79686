"""Figure of the roofline: cost of a block's forward pass, as published and corrected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.cost import ModelShape
from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.plots.theme import LEGEND, Theme, figure_of, ink_of
from sbd_core.roofline import MAX_TOKENS, Device, Mode, slowdown, speedup

BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64)
NAMES = {"published": "as the paper counts", "corrected": "corrected"}


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
            "name": f"roofline, {NAMES[mode]}",
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
