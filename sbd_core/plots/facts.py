"""What the figures show of a trace, as plain numbers. Knows traces; no Plotly.

Forward passes count from 1 as on the page, positions from 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sbd_core.events import Hindsight
from sbd_core.trace import Trace


@dataclass(frozen=True, slots=True)
class Agreement:
    """The reveals of one forward pass by what next-token prediction puts there in hindsight."""

    pass_number: int
    same: tuple[int, ...]
    other: tuple[int, ...]
    unread: tuple[int, ...]

    @property
    def num_reveals(self) -> int:
        """All tokens the forward pass revealed."""
        return len(self.same) + len(self.other) + len(self.unread)


@dataclass(frozen=True, slots=True)
class Gamble:
    """A forward pass that fixed several tokens at once, and what doing so ignored.

    positions and token_ids: left to right. separate: sum of ln of the probabilities they were
    taken with, so that exp(separate) is their product. joint: sum of ln of what next-token
    prediction gives them, each after all the text to its left. Both nats, at most 0; joint may
    be -inf.
    """

    pass_number: int
    positions: tuple[int, ...]
    token_ids: tuple[int, ...]
    separate: float
    joint: float

    @property
    def cost(self) -> float:
        """Nats by which the product of separate probabilities promises more than is there.

        Negative where the tokens are likelier together than apart.
        """
        return self.separate - self.joint


def hindsights(trace: Trace) -> dict[int, Hindsight]:
    """By position, what the causal head gives the tokens of the answer that it has read."""
    return {item.position: item for event in trace.events for item in event.hindsight}


def agreements(trace: Trace) -> list[Agreement]:
    """Every forward pass in order; the numbers in it are token ids, one a reveal."""
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


def gambles(trace: Trace) -> list[Gamble]:
    """The forward passes that revealed several tokens, all of them read again; widest gap first."""
    known = hindsights(trace)
    rows = []
    for event in trace.events:
        reveals = sorted(event.reveals, key=lambda reveal: reveal.position)
        if len(reveals) < 2 or any(item.position not in known for item in reveals):
            continue
        row = Gamble(
            event.index + 1,
            tuple(item.position for item in reveals),
            tuple(item.token_id for item in reveals),
            sum(_logarithm(item.probability) for item in reveals),
            sum(_logarithm(known[item.position].probability) for item in reveals),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: (-abs(row.cost), row.pass_number))


def entropies_at_reveal(trace: Trace) -> list[tuple[int, int, float, int]]:
    """(position, forward pass, entropy in nats, token id) of each reveal of a masked position."""
    rows = []
    for event in trace.events:
        entropy = {item.position: item.entropy for item in event.masked}
        rows += [
            (item.position, event.index + 1, entropy[item.position], item.token_id)
            for item in event.reveals
            if item.position in entropy
        ]
    return sorted(rows)


def num_positions(trace: Trace) -> int:
    """One past the last position that any forward pass looked at."""
    ends = [event.block.stop for event in trace.events]
    return max([trace.num_tokens, *ends])


def token_names(token_ids: tuple[int, ...], texts: Mapping[int, str], most: int) -> str:
    """Tokens in a row, at most `most` of them, as token_name() shows each."""
    names = [token_name(texts[token_id]) for token_id in token_ids[:most]]
    rest = len(token_ids) - most
    return "  ".join([*names, f"+{rest}"] if rest > 0 else names)


MAX_NAME = 24
MARKS = {"\n": "⏎", "\r": "␍", "\t": "⇥"}


def token_name(text: str) -> str:
    """A token's text on one line with what cannot be seen as a mark; not yet safe as markup."""
    if not text:
        return "∅"
    core = text.strip(" ")
    if core:
        before = len(text) - len(text.lstrip(" "))
        text = "·" * before + core + "·" * (len(text) - before - len(core))
    else:
        text = "·" * len(text)
    shown = "".join(_shown(character) for character in text)
    return shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…"


def _shown(character: str) -> str:
    if character in MARKS:
        return MARKS[character]
    return character if character.isprintable() else f"U+{ord(character):04X}"


def _logarithm(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf
