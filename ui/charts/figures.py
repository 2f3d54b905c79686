"""Plotly figures of a finished run, each a pure function of its Trace. Knows no Gradio."""

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace
from ui.charts.cost import cost_of_parallelism
from ui.charts.facts import agreements, entropies_at_reveal, num_positions
from ui.charts.look import (
    LEGEND,
    Ink,
    coloured,
    columns,
    entropy_ticks,
    figure_of,
    names,
    percent,
    safe,
    unsureness,
)

MAX_CELLS = 250_000


def figures(trace: Trace, ink: Ink) -> tuple[go.Figure, ...]:
    """Every chart, in the order of the page. Raises ArgumentError for a run too long to chart."""
    return (
        entropy_heatmap(trace, ink),
        tokens_per_pass(trace, ink),
        entropy_at_reveal(trace, ink),
        hindsight_agreement(trace, ink),
        cost_of_parallelism(trace, ink),
    )


def entropy_heatmap(trace: Trace, ink: Ink) -> go.Figure:
    """Position across, pass down: the entropy of each masked position, a dot where it landed."""
    width, height = num_positions(trace), trace.num_forwards
    if width * height > MAX_CELLS:
        rule = f"must have at most {MAX_CELLS:,} cells (passes x positions) to be charted"
        raise ArgumentError("The run", rule, f"{width * height:,}")
    colours: list[list[float | None]] = [[None] * width for _ in range(height)]
    words: list[list[str]] = [[""] * width for _ in range(height)]
    for event in trace.events:
        for item in event.masked:
            colours[event.index][item.position] = unsureness(item.entropy)
            words[event.index][item.position] = f"entropy {item.entropy:.3f} nats" + "".join(
                f"<br>{percent(share)} {safe(trace.tokens[token_id])}"
                for token_id, share in zip(item.top_token_ids, item.top_probabilities, strict=True)
            )
    heatmap = go.Heatmap(
        z=colours,
        y=list(range(1, height + 1)),
        text=words,
        zmin=0,
        zmax=1,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        hovertemplate="position %{x}, pass %{y}<br>%{text}<extra></extra>",
        **coloured(ink),
    )
    landed = [
        (item.position, event.index + 1, f"{safe(trace.tokens[item.token_id])} revealed")
        for event in trace.events
        for item in event.reveals
    ]
    dots = go.Scatter(
        **columns(landed),
        mode="markers",
        marker={"size": 6, "color": ink.card, "line": {"color": ink.text, "width": 1.2}},
        hovertemplate="position %{x}, pass %{y}<br>%{text}<extra></extra>",
    )
    figure = figure_of(ink, [heatmap, dots], "position", "pass", height=440)
    figure.update_yaxes(range=[height + 0.5, 0.5], showgrid=False)
    figure.update_xaxes(showgrid=False)
    return figure


def tokens_per_pass(trace: Trace, ink: Ink) -> go.Figure:
    """How many tokens each pass revealed; the dashed line is one a pass."""
    rows = [
        (row.pass_number, row.num_reveals, names(trace, row.same + row.other + row.unread))
        for row in agreements(trace)
    ]
    bars = go.Bar(
        **columns(rows),
        textposition="none",
        marker_color=ink.accent,
        hovertemplate="pass %{x}: %{y} revealed<br>%{text}<extra></extra>",
    )
    figure = figure_of(ink, [bars], "pass", "tokens revealed")
    figure.add_hline(y=1, line={"color": ink.ntp, "width": 1.5, "dash": "dash"})
    return figure


def entropy_at_reveal(trace: Trace, ink: Ink) -> go.Figure:
    """How unsure the masked head was of each token in the pass that fixed it."""
    rows = [
        (
            position,
            unsureness(entropy),
            f"pass {number}, {entropy:.3f} nats<br>{safe(trace.tokens[token])}",
        )
        for position, number, entropy, token in entropies_at_reveal(trace)
    ]
    places = columns(rows)
    marker = {"size": 8, "line": {"color": ink.muted, "width": 0.5}, "color": places["y"]}
    dots = go.Scatter(
        **places,
        mode="markers",
        marker={**marker, "cmin": 0, "cmax": 1, **coloured(ink, has_bar=False)},
        hovertemplate="position %{x}, %{text}<extra></extra>",
    )
    figure = figure_of(ink, [dots], "position", "entropy, nats")
    figure.update_yaxes(range=[-0.04, 1.04], **entropy_ticks())
    return figure


def hindsight_agreement(trace: Trace, ink: Ink) -> go.Figure:
    """Of each pass's tokens, those next-token prediction would have put there too."""
    rows = agreements(trace)
    looks = {
        "same": ("the same token", ink.accent, "", 1.0),
        "other": ("another token", ink.ntp, "/", 1.0),
        "unread": ("not read again", ink.muted, "", 0.4),
    }
    bars = []
    for field, (words, colour, pattern, opacity) in looks.items():
        groups = [getattr(row, field) for row in rows]
        bars.append(
            go.Bar(
                name=words,
                opacity=opacity,
                x=[row.pass_number for row in rows],
                y=[len(group) for group in groups],
                text=[names(trace, group) for group in groups],
                textposition="none",
                marker={
                    "color": colour,
                    "pattern": {"shape": pattern, "fillmode": "overlay"},
                },
                hovertemplate=f"pass %{{x}}, {words}: %{{y}}<br>%{{text}}<extra></extra>",
            )
        )
    figure = figure_of(ink, bars, "pass", "tokens revealed")
    figure.update_layout(
        barmode="stack", showlegend=True, legend={**LEGEND, "traceorder": "normal"}
    )
    return figure
