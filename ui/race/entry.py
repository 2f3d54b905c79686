"""What a race is asked: its lanes, and the form of a decode for each. Knows no Gradio."""

from dataclasses import dataclass
from typing import Any

from sbd_core.errors import ArgumentError
from ui.decode.form import Form

LANES = {
    "ntp": "Next-token prediction",
    "sbd-low": "SBD, γ",
    "sbd-high": "SBD, another γ",
    "verify": "Verify",
    "verify-ahead": "Verify, drafting ahead",
}
ON_REQUEST = ("verify-ahead",)
"""Lanes that race only when their box is checked."""
AHEAD = {"num_predrafts": 4, "draft_threshold": 0.3}
"""How the lane of that name drafts: on while the draft is this probable, for so many rejections."""
FROM_ENTRY = ("block_size", "max_new_tokens", "seed", "model")
"""What every lane has from the entry."""
LOW_GAMMA, HIGH_GAMMA = 0.1, 0.35


@dataclass(frozen=True, slots=True)
class Entry:
    """What the visitor sent, unchecked. lanes: names in LANES, in any order."""

    prompt: Any
    lanes: Any
    low: Any = LOW_GAMMA
    high: Any = HIGH_GAMMA
    block_size: Any = 16
    max_new_tokens: Any = 128
    seed: Any = 0
    model: Any = ""


def forms_of(entry: Entry) -> dict[str, Form]:
    """The form of each lane, next-token prediction first. Raises ArgumentError."""
    if not isinstance(entry.lanes, list) or not entry.lanes:
        raise ArgumentError("The race", "must have one lane or more; check its box", None)
    for lane in entry.lanes:
        if not isinstance(lane, str) or lane not in LANES:
            raise ArgumentError("lanes", f"must each be one of {', '.join(LANES)}", lane)
    gammas = {"sbd-low": entry.low, "sbd-high": entry.high}
    if set(gammas) <= set(entry.lanes) and entry.low == entry.high:
        raise ArgumentError(
            "another γ", "must differ from the first, or both run the same", entry.high
        )
    shared = {name: getattr(entry, name) for name in FROM_ENTRY}
    return {
        lane: Form(
            entry.prompt,
            strategy=lane.partition("-")[0],
            gamma=gammas.get(lane, LOW_GAMMA),
            **(AHEAD if lane == "verify-ahead" else {}),
            **shared,
        )
        for lane in LANES
        if lane in entry.lanes
    }
