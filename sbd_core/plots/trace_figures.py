"""Plotly figures of one trace, and the functions that compute the numbers in them.

The hindsight on a token is the causal head's prediction at the token's position, given all tokens
before it. Every figure raises ArgumentError for an unknown theme.
"""

import math
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sbd_core.errors import ArgumentError
from sbd_core.events import Hindsight
from sbd_core.plots.theme import (
    LEGEND,
    MAX_HOVERED,
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """Ids of the tokens that one forward pass revealed, grouped by hindsight.

    pass_number: number of the forward pass, from 1.
    same: revealed tokens that the causal head also finds likeliest.
    other: revealed tokens at whose positions the causal head finds another token likelier.
    unread: revealed tokens on which the trace has no hindsight.
    """

    pass_number: int
    same: tuple[int, ...]
    other: tuple[int, ...]
    unread: tuple[int, ...]

    @property
    def num_reveals(self) -> int:
        """Number of tokens that the forward pass revealed."""
        return len(self.same) + len(self.other) + len(self.unread)


@dataclass(frozen=True, slots=True)
class JointReveal:
    """A forward pass that revealed several tokens at once, and how likely they are together.

    pass_number: number of the forward pass, from 1.
    positions, token_ids: the revealed positions and their tokens, from left to right.
    separate: sum of the log probabilities with which the tokens were revealed, each by itself.
    joint: sum of the tokens' log probabilities in hindsight, each given the tokens before it.
    Both sums are in nats, at most 0, and may be -inf.
    """

    pass_number: int
    positions: tuple[int, ...]
    token_ids: tuple[int, ...]
    separate: float
    joint: float

    @property
    def cost(self) -> float:
        """separate - joint, in nats; above 0 if the tokens are less likely in hindsight."""
        return self.separate - self.joint


def hindsights(trace: Trace) -> dict[int, Hindsight]:
    """{position: hindsight} of the answer tokens on which the trace has hindsight."""
    return {item.position: item for event in trace.events for item in event.hindsight}


def agreements(trace: Trace) -> list[Agreement]:
    """The Agreement of each forward pass, in order."""
    known = hindsights(trace)
    rows = []
    for event in trace.events:
        groups: dict[str, list[int]] = {"same": [], "other": [], "unread": []}
        for reveal in event.reveals:
            item = known.get(reveal.position)
            if item is None or item.token_id != reveal.token_id:
                groups["unread"].append(reveal.token_id)
            else:
                is_same = item.argmax_id == reveal.token_id
                groups["same" if is_same else "other"].append(reveal.token_id)
        row = Agreement(event.index + 1, *(tuple(group) for group in groups.values()))
        rows.append(row)
    return rows


def joint_reveals(trace: Trace) -> list[JointReveal]:
    """Forward passes that revealed several tokens, each with hindsight; largest abs(cost) first."""
    known = hindsights(trace)
    rows = []
    for event in trace.events:
        reveals = sorted(event.reveals, key=lambda reveal: reveal.position)
        if len(reveals) < 2 or any(item.position not in known for item in reveals):
            continue
        row = JointReveal(
            event.index + 1,
            tuple(item.position for item in reveals),
            tuple(item.token_id for item in reveals),
            sum(_logarithm(item.probability) for item in reveals),
            sum(_logarithm(known[item.position].probability) for item in reveals),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: (-abs(row.cost), row.pass_number))


def entropies_at_reveal(trace: Trace) -> list[tuple[int, int, float, int]]:
    """(position, pass number, entropy in nats, token id) of each reveal of a masked position."""
    rows = []
    for event in trace.events:
        entropy = {item.position: item.entropy for item in event.masked}
        rows += [
            (item.position, event.index + 1, entropy[item.position], item.token_id)
            for item in event.reveals
            if item.position in entropy
        ]
    return sorted(rows)


def _logarithm(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


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
        **_whole_ticks(height),
    }
    return figure_of(
        "entropy-heatmap", ink, [heatmap, _reveal_dots(trace, ink)], across, up, height=440
    )


def _whole_ticks(num_passes: int) -> dict[str, int]:
    """Axis settings: a tick at each forward pass, or {} if there are more than FEW_PASSES."""
    # Plotly would put ticks at halves too.
    return {"dtick": 1} if num_passes <= FEW_PASSES else {}


def _reveal_dots(trace: Trace, ink: Ink) -> dict[str, Any]:
    """Plotly data of dots that mark the position and forward pass of each reveal."""
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
    """Bars of the tokens revealed per forward pass; a dashed line marks one token, as in NTP."""
    ink = ink_of(theme)
    rows = [
        (row.pass_number, row.num_reveals, names(trace, row.same + row.other + row.unread))
        for row in agreements(trace)
    ]
    bars = {
        "type": "bar",
        **columns(rows),
        "textposition": "none",
        "marker": {"color": ink.of(trace.strategy)},
        "hovertemplate": "forward pass %{x}: %{y} revealed<br>%{text}<extra></extra>",
    }
    line = {"color": ink.ntp, "width": 1.5, "dash": "dash"}
    one_per_pass = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    passes = {"title": "forward pass", **_whole_ticks(trace.num_forwards)}
    axes = passes, {"title": "tokens revealed"}
    return figure_of(
        "tokens-per-forward-pass", ink, [bars], *axes, shapes=[{**one_per_pass, "line": line}]
    )


def entropy_at_reveal(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Dots that show the entropy in nats of each position when its token was revealed."""
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
    """Stacked bars of the tokens that each forward pass revealed, grouped as in Agreement."""
    ink = ink_of(theme)
    rows = agreements(trace)
    looks = {
        "same": ("the same token", ink.of(trace.strategy), "", 1.0),
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
    passes = {"title": "forward pass", **_whole_ticks(trace.num_forwards)}
    axes = passes, {"title": "tokens revealed"}
    legend = {**LEGEND, "traceorder": "normal"}
    return figure_of("hindsight", ink, bars, *axes, barmode="stack", showlegend=True, legend=legend)


ID = "cost-of-parallelism"
MAX_ROWS = 12
MAX_NAMED = 4
FLOOR = -10
"""Lower end of the axis, as an exponent of ten; smaller probabilities are drawn there."""
MAX_NATS = 50.0
"""Largest gap in nats that is written out as a ratio."""


def cost_of_parallelism(trace: Trace, theme: Theme = "light") -> go.Figure:
    """Figure that compares two probabilities of the tokens that a forward pass revealed at once.

    The first is the product of the probabilities with which the tokens were revealed. The second
    is the joint probability of the tokens by next-token prediction, in hindsight. The figure shows
    at most 12 forward passes, the widest gap first.
    """
    ink = ink_of(theme)
    rows = joint_reveals(trace)
    rows.sort(key=lambda row: abs(_log10(row.separate) - _log10(row.joint)), reverse=True)
    del rows[MAX_ROWS:]
    if not rows:
        words = "No forward pass revealed several tokens that were read again."
        note = {"text": words, "showarrow": False, "x": 0.5, "y": 0.5}
        hidden = {"title": "", "visible": False}
        place = {"xref": "paper", "yref": "paper"}
        return figure_of(ID, ink, [], hidden, hidden, annotations=[{**note, **place}])
    ends = [_log10(end) for row in rows for end in (row.separate, row.joint)]
    lowest = max(math.floor(min(ends) - 0.05), FLOOR)
    ticks = list(range(0, lowest - 1, -max(1, -lowest // 5)))
    is_cut = FLOOR in ends
    powers = {"tickvals": ticks, "ticktext": [_power(tick, is_cut=is_cut) for tick in ticks]}
    across = {"title": "joint probability", "range": [lowest, 0], **powers}
    height = max(320, 110 + 30 * len(rows))
    up = {
        "title": "",
        "tickvals": list(range(len(rows))),
        "ticktext": [
            f"{names(trace, row.token_ids, MAX_NAMED)}   <b>forward pass {row.pass_number}</b>"
            for row in rows
        ],
        "range": [len(rows) - 0.5, -0.5],
        "showgrid": False,
    }
    # From what each forward pass promised to what hindsight gives.
    gaps = {
        "type": "scatter",
        "x": [end for row in rows for end in (_log10(row.separate), _log10(row.joint), None)],
        "y": [height for index in range(len(rows)) for height in (index, index, None)],
        "line": {"color": ink.muted, "width": 2},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }
    marks = [gaps, *_marks(trace, rows, ink)]
    return figure_of(ID, ink, marks, across, up, height=height, showlegend=True, legend=LEGEND)


def _marks(trace: Trace, rows: list[JointReveal], ink: Ink) -> list[dict[str, Any]]:
    own = ink.of(trace.strategy)
    looks = (
        ("separate", "separate probabilities, multiplied", own, "circle-open"),
        ("joint", "next-token prediction, in hindsight", ink.ntp, "diamond"),
    )
    return [
        {
            "type": "scatter",
            "name": words,
            "x": [_log10(getattr(row, field)) for row in rows],
            "y": list(range(len(rows))),
            "text": [_joint_words(trace, row) for row in rows],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"size": 11, "color": colour, "symbol": symbol, "line": {"width": 2}},
            "hovertemplate": "%{text}<extra></extra>",
        }
        for field, words, colour, symbol in looks
    ]


def _joint_words(trace: Trace, row: JointReveal) -> str:
    times = f"{math.exp(min(abs(row.cost), MAX_NATS)):,.3g}"
    if abs(row.cost) > MAX_NATS:
        times = f"more than {times}"
    than = f"{times} times {'less likely' if row.cost > 0 else 'likelier'}"
    together = f"{'as likely' if times == '1' else than} together"
    return (
        f"forward pass {row.pass_number}, "
        f"positions {', '.join(map(str, row.positions[:MAX_HOVERED]))}"
        f"<br>{names(trace, row.token_ids)}"
        f"<br>multiplied {_probability_words(row.separate)}"
        f"<br>in hindsight {_probability_words(row.joint)}: {together}"
    )


def _probability_words(logarithm: float) -> str:
    is_below = logarithm / math.log(10) < FLOOR
    return percent(math.exp(logarithm)) + (
        " (below the axis, drawn at its end)" if is_below else ""
    )


def _log10(logarithm: float) -> float:
    """Turn the natural log of a probability into log10; return FLOOR for anything below it."""
    return max(logarithm / math.log(10), FLOOR)


def _power(exponent: int, *, is_cut: bool) -> str:
    """Label of the tick at 10 ** exponent. is_cut: whether the label of FLOOR begins with "≤"."""
    if is_cut and exponent == FLOOR:
        return f"≤ 10<sup>{exponent}</sup>"
    return f"{10.0**exponent:g}" if exponent >= -3 else f"10<sup>{exponent}</sup>"
