"""The quantity that each solver's γ bounds, in the words of the form and the entropy picture.

The page's scripts read the same table, by way of scripts/web_constants.py. Knows no Gradio.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["all but the largest", "all but the leftmost", "each", "none"]


@dataclass(frozen=True, slots=True)
class Bound:
    """The quantity that a γ bounds.

    kind: the sum of the entropies revealed but for one of them, each entropy, or nothing at all.
    title: over the picture, [a word] of the glossary in brackets. equation: of the paper, "" for
    none. gamma: what it is, in nats, "" for a solver without one. exempt: who is revealed whatever
    γ says, and the verb; none without a γ.
    """

    kind: Kind
    title: str
    equation: str = ""
    gamma: str = ""
    exempt: tuple[str, ...] = ()


BUDGET = "uncertainty a forward pass may take on, nats"
NO_BOUND = Bound("none", "[Entropy], added up")
BOUNDS = {
    "entropy-bound": Bound(
        "all but the largest",
        "[Entropy] budget",
        "Eq. 8",
        BUDGET,
        ("the largest", "is not counted"),
    ),
    "entropy-bound-by-confidence": Bound(
        "all but the largest",
        "[Entropy] budget",
        "Eq. 18",
        BUDGET,
        ("the largest", "is not counted"),
    ),
    "entropy-bound-by-margin": Bound(
        "all but the largest",
        "[Entropy] budget",
        "Eq. 18",
        BUDGET,
        ("the largest", "is not counted"),
    ),
    "entropy-bound-from-left": Bound(
        "all but the leftmost",
        "[Entropy] budget",
        "",
        BUDGET,
        ("the leftmost", "is not counted"),
    ),
    "causal-first": Bound(
        "all but the leftmost",
        "[Entropy] budget",
        "",
        BUDGET,
        ("the causal token", "is not counted"),
    ),
    "entropy-threshold": Bound(
        "each",
        "[Entropy] of each mask",
        "",
        "uncertainty that a token must stay below, nats",
        ("the surest", "always comes"),
    ),
    "confidence-threshold": NO_BOUND,
    "factor": NO_BOUND,
    "top-k": NO_BOUND,
    "random": NO_BOUND,
    "left-to-right": NO_BOUND,
}
"""By solver."""
