"""Plotly figures of one trace, and the numbers in them.

The hindsight on a token is the causal head's prediction at the token's position, given all tokens
before it. Every figure raises ArgumentError for an unknown theme.
"""

from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.plots.theme import (
    LEGEND,
    Ink,
    Theme,
    coloured,
    figure_of,
    ink_of,
    names,
    safe,
    unsureness,
)
from sbd_core.trace import Trace

GROUPS = {"same": "the same token", "other": "another token", "unread": "not read again"}


def agreements(trace: Trace) -> list[dict[str, tuple[int, ...]]]:
    """For each forward pass, the ids of the tokens that it revealed by key of GROUPS.

    same: the causal head finds the token likeliest, too. other: it finds another one likelier.
    unread: the trace has no hindsight on the token.
    """
    known = {(i.position, i.token_id): i.argmax_id for e in trace.events for i in e.hindsight}
    rows = []
    for event in trace.events:
        groups: dict[str, tuple[int, ...]] = dict.fromkeys(GROUPS, ())
        for reveal in event.reveals:
            best = known.get((reveal.position, reveal.token_id))
            name = "unread" if best is None else "same" if best == reveal.token_id else "other"
            groups[name] += (reveal.token_id,)
        rows.append(groups)
    return rows


MAX_CELLS = 250_000
FEW_PASSES = 12


def entropy_heatmap(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Heatmap of the entropy in nats of masked positions (x axis) by forward pass (y axis).

    A dot marks the forward pass that revealed the position. Raises ArgumentError for more than
    250,000 cells.
    """
    ink = ink_of(theme)
    # One past the last position that any forward pass looked at.
    width = max([trace.num_tokens, *(event.block.stop for event in trace.events)])
    height = trace.num_forwards
    if width * height > MAX_CELLS:
        rule = f"must have at most {MAX_CELLS:,} cells (forward passes x positions)"
        raise ArgumentError("trace", rule, f"{width * height:,}")
    colours: list[list[float | None]] = [[None] * width for _ in range(height)]
    texts: list[list[str]] = [[""] * width for _ in range(height)]
    for event in trace.events:
        for item in event.masked:
            colours[event.index][item.position] = unsureness(item.entropy)
            texts[event.index][item.position] = f"entropy {item.entropy:.3f} nats" + "".join(
                f"<br>{100 * share:.3g} % {safe(trace.tokens[token_id])}"
                for token_id, share in zip(item.top_token_ids, item.top_probabilities, strict=True)
            )
    heatmap = {
        "type": "heatmap",
        "z": colours,
        "y": list(range(1, height + 1)),
        "text": texts,
        "zmin": 0,
        "zmax": 1,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "hovertemplate": "position %{x}, forward pass %{y}<br>%{text}<extra></extra>",
        **coloured(ink),
    }
    across = {"title": "position", "showgrid": False}
    up = {"title": "forward pass", "showgrid": False, "range": [height + 0.5, 0.5]}
    data = [heatmap, _reveal_dots(trace, ink)]
    return figure_of("entropy-heatmap", ink, data, across, up | _whole_ticks(height), height=440)


def _whole_ticks(num_passes: int) -> dict[str, int]:
    """Axis settings: a tick at each forward pass, or {} if there are more than FEW_PASSES."""
    # Plotly would put ticks at halves too.
    return {"dtick": 1} if num_passes <= FEW_PASSES else {}


def _reveal_dots(trace: Trace, ink: Ink) -> dict[str, Any]:
    """Plotly data of dots that mark the position and forward pass of each reveal."""
    landed = [(event.index + 1, item) for event in trace.events for item in event.reveals]
    return {
        "type": "scatter",
        "x": [item.position for _, item in landed],
        "y": [number for number, _ in landed],
        "text": [f"{safe(trace.tokens[item.token_id])} revealed" for _, item in landed],
        "mode": "markers",
        "marker": {"size": 6, "color": ink.card, "line": {"color": ink.text, "width": 1.2}},
        "hovertemplate": "position %{x}, forward pass %{y}<br>%{text}<extra></extra>",
    }


def tokens_per_forward_pass(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Stacked bars of the tokens that each forward pass revealed, in the groups of agreements().

    A dashed line marks one token, as in NTP.
    """
    ink = ink_of(theme)
    rows = agreements(trace)
    looks = {
        "same": (ink.of(trace.strategy), "", 1.0),
        "other": (ink.ntp, "/", 1.0),
        "unread": (ink.muted, "", 0.4),
    }
    bars: list[dict[str, Any]] = []
    for key, (colour, pattern, opacity) in looks.items():
        groups, name = [row[key] for row in rows], GROUPS[key]
        bars.append(
            {
                "type": "bar",
                "name": name,
                "opacity": opacity,
                "x": list(range(1, len(rows) + 1)),
                "y": [len(group) for group in groups],
                "text": [names(trace, group) for group in groups],
                "textposition": "none",
                "marker": {
                    "color": colour,
                    "pattern": {"shape": pattern, "fillmode": "overlay"},
                },
                "hovertemplate": f"forward pass %{{x}}, {name}: %{{y}}<br>%{{text}}<extra></extra>",
            }
        )
    line = {"color": ink.ntp, "width": 1.5, "dash": "dash"}
    one_per_pass = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    return figure_of(
        "tokens-per-forward-pass",
        ink,
        bars,
        {"title": "forward pass", **_whole_ticks(trace.num_forwards)},
        {"title": "tokens revealed"},
        barmode="stack",
        showlegend=True,
        legend={**LEGEND, "traceorder": "normal"},
        shapes=[{**one_per_pass, "line": line}],
    )
