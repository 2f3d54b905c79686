"""The charts of a finished run, each a pure function of its Trace. Knows no Gradio."""

from typing import Any

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace
from ui.charts.cost import cost_of_parallelism
from ui.charts.facts import agreements, entropies_at_reveal, num_positions
from ui.charts.look import (
    LEGEND,
    Figure,
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


def figures(trace: Trace, ink: Ink) -> tuple[Figure, ...]:
    """Every chart, in the order of the page. Raises ArgumentError for a run too long to chart."""
    return (
        entropy_heatmap(trace, ink),
        tokens_per_pass(trace, ink),
        entropy_at_reveal(trace, ink),
        hindsight_agreement(trace, ink),
        cost_of_parallelism(trace, ink),
    )


def entropy_heatmap(trace: Trace, ink: Ink) -> Figure:
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
        "hovertemplate": "position %{x}, pass %{y}<br>%{text}<extra></extra>",
        **coloured(ink),
    }
    across = {"title": "position", "showgrid": False}
    up = {"title": "pass", "showgrid": False, "range": [height + 0.5, 0.5]}
    return figure_of(ink, [heatmap, _landed(trace, ink)], across, up, height=440)


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
        "hovertemplate": "position %{x}, pass %{y}<br>%{text}<extra></extra>",
    }


def tokens_per_pass(trace: Trace, ink: Ink) -> Figure:
    """How many tokens each pass revealed; the dashed line is one a pass."""
    rows = [
        (row.pass_number, row.num_reveals, names(trace, row.same + row.other + row.unread))
        for row in agreements(trace)
    ]
    bars = {
        "type": "bar",
        **columns(rows),
        "textposition": "none",
        "marker": {"color": ink.accent},
        "hovertemplate": "pass %{x}: %{y} revealed<br>%{text}<extra></extra>",
    }
    line = {"color": ink.ntp, "width": 1.5, "dash": "dash"}
    one_a_pass = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    axes = {"title": "pass"}, {"title": "tokens revealed"}
    return figure_of(ink, [bars], *axes, shapes=[{**one_a_pass, "line": line}])


def entropy_at_reveal(trace: Trace, ink: Ink) -> Figure:
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
    dots = {
        "type": "scatter",
        **places,
        "mode": "markers",
        "marker": {**marker, "cmin": 0, "cmax": 1, **coloured(ink, has_bar=False)},
        "hovertemplate": "position %{x}, %{text}<extra></extra>",
    }
    up = {"title": "entropy, nats", "range": [-0.04, 1.04], **entropy_ticks()}
    return figure_of(ink, [dots], {"title": "position"}, up)


def hindsight_agreement(trace: Trace, ink: Ink) -> Figure:
    """Of each pass's tokens, those next-token prediction would have put there too."""
    rows = agreements(trace)
    looks = {
        "same": ("the same token", ink.accent, "", 1.0),
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
                "hovertemplate": f"pass %{{x}}, {words}: %{{y}}<br>%{{text}}<extra></extra>",
            }
        )
    axes = {"title": "pass"}, {"title": "tokens revealed"}
    legend = {**LEGEND, "traceorder": "normal"}
    return figure_of(ink, bars, *axes, barmode="stack", showlegend=True, legend=legend)
