"""Figures of a decode, each a pure function of its Trace."""

from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.facts import agreements, entropies_at_reveal, num_positions
from sbd_core.plots.theme import (
    LEGEND,
    Ink,
    Theme,
    coloured,
    columns,
    entropy_ticks,
    figure_of,
    ink_of,
    names,
    percent,
    safe,
    unsureness,
)
from sbd_core.trace import Trace

MAX_CELLS = 250_000
FEW_PASSES = 12


def entropy_heatmap(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Entropy in nats of each masked position (across) in each forward pass (down).

    A dot marks the forward pass that revealed the position. Raises ArgumentError for more than
    250,000 cells.
    """
    ink = ink_of(theme)
    width, height = num_positions(trace), trace.num_forwards
    if width * height > MAX_CELLS:
        rule = f"must have at most {MAX_CELLS:,} cells (forward passes x positions)"
        raise ArgumentError("trace", rule, f"{width * height:,}")
    colours: list[list[float | None]] = [[None] * width for _ in range(height)]
    words: list[list[str]] = [[""] * width for _ in range(height)]
    for event in trace.events:
        for item in event.masked:
            colours[event.index][item.position] = unsureness(item.entropy)
            words[event.index][item.position] = f"entropy {item.entropy:.3f} nats" + "".join(
                f"<br>{percent(share)} {safe(trace.tokens[token_id])}"
                for token_id, share in zip(item.top_token_ids, item.top_probabilities, strict=True)
            )
    heatmap = {
        "type": "heatmap",
        "z": colours,
        "y": list(range(1, height + 1)),
        "text": words,
        "zmin": 0,
        "zmax": 1,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "position %{x}, forward pass %{y}<br>%{text}<extra></extra>",
        **coloured(ink),
    }
    across = {"title": "position", "showgrid": False}
    up = {
        "title": "forward pass",
        "showgrid": False,
        "range": [height + 0.5, 0.5],
        **_whole(height),
    }
    return figure_of("entropy-heatmap", ink, [heatmap, _landed(trace, ink)], across, up, height=440)


def _whole(num_passes: int) -> dict[str, int]:
    """A tick at each of a few forward passes: left alone, Plotly numbers halves too."""
    return {"dtick": 1} if num_passes <= FEW_PASSES else {}


def _landed(trace: Trace, ink: Ink) -> dict[str, Any]:
    """A dot where each token landed."""
    landed = [
        (item.position, event.index + 1, f"{safe(trace.tokens[item.token_id])} revealed")
        for event in trace.events
        for item in event.reveals
    ]
    return {
        "type": "scatter",
        **columns(landed),
        "mode": "markers",
        "marker": {"size": 6, "color": ink.card, "line": {"color": ink.text, "width": 1.2}},
        "hovertemplate": "position %{x}, forward pass %{y}<br>%{text}<extra></extra>",
    }


def tokens_per_forward_pass(trace: Trace, theme: Theme = "light") -> go.Figure:
    """How many tokens each forward pass revealed; a dashed line at one, next-token prediction's.

    Raises ArgumentError.
    """
    ink = ink_of(theme)
    rows = [
        (row.pass_number, row.num_reveals, names(trace, row.same + row.other + row.unread))
        for row in agreements(trace)
    ]
    bars = {
        "type": "bar",
        **columns(rows),
        "textposition": "none",
        "marker": {"color": ink.of(trace.config.strategy)},
        "hovertemplate": "forward pass %{x}: %{y} revealed<br>%{text}<extra></extra>",
    }
    line = {"color": ink.ntp, "width": 1.5, "dash": "dash"}
    one_per_pass = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    passes = {"title": "forward pass", **_whole(trace.num_forwards)}
    axes = passes, {"title": "tokens revealed"}
    return figure_of(
        "tokens-per-forward-pass", ink, [bars], *axes, shapes=[{**one_per_pass, "line": line}]
    )


def entropy_at_reveal(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Entropy in nats of each position in the forward pass that revealed it.

    Raises ArgumentError.
    """
    ink = ink_of(theme)
    rows = [
        (
            position,
            unsureness(entropy),
            f"forward pass {number}, {entropy:.3f} nats<br>{safe(trace.tokens[token])}",
        )
        for position, number, entropy, token in entropies_at_reveal(trace)
    ]
    places = columns(rows)
    marker = {"size": 8, "line": {"color": ink.muted, "width": 0.5}, "color": places["y"]}
    dots = {
        "type": "scatter",
        **places,
        "mode": "markers",
        "marker": {**marker, "cmin": 0, "cmax": 1, **coloured(ink, has_bar=False)},
        "hovertemplate": "position %{x}, %{text}<extra></extra>",
    }
    up = {"title": "entropy, nats", "range": [-0.04, 1.04], **entropy_ticks()}
    return figure_of("entropy-at-reveal", ink, [dots], {"title": "position"}, up)


def hindsight(trace: Trace, theme: Theme = "light") -> go.Figure:
    """How many tokens of each forward pass next-token prediction would have put there too.

    It is asked when a later forward pass reads them causally; tokens never read again are a
    third group. Raises ArgumentError.
    """
    ink = ink_of(theme)
    rows = agreements(trace)
    looks = {
        "same": ("the same token", ink.of(trace.config.strategy), "", 1.0),
        "other": ("another token", ink.ntp, "/", 1.0),
        "unread": ("not read again", ink.muted, "", 0.4),
    }
    bars: list[dict[str, Any]] = []
    for field, (words, colour, pattern, opacity) in looks.items():
        groups = [getattr(row, field) for row in rows]
        bars.append(
            {
                "type": "bar",
                "name": words,
                "opacity": opacity,
                "x": [row.pass_number for row in rows],
                "y": [len(group) for group in groups],
                "text": [names(trace, group) for group in groups],
                "textposition": "none",
                "marker": {
                    "color": colour,
                    "pattern": {"shape": pattern, "fillmode": "overlay"},
                },
                "hovertemplate": f"forward pass %{{x}}, {words}: %{{y}}<br>%{{text}}"
                "<extra></extra>",
            }
        )
    passes = {"title": "forward pass", **_whole(trace.num_forwards)}
    axes = passes, {"title": "tokens revealed"}
    legend = {**LEGEND, "traceorder": "normal"}
    return figure_of("hindsight", ink, bars, *axes, barmode="stack", showlegend=True, legend=legend)
