"""The solvers: rules that choose which masked positions a forward pass reveals.

A solver is an object that holds its settings. It gets the entropy, top probability and margin of
every position in one forward pass, as plain numbers. It ranks the masked positions and reveals the
first ones, at least one. The solver Random ranks them by chance, by a generator that it is given.
This module imports the standard library only; the functions that take a generator import torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sbd_core.errors import ArgumentError
from sbd_core.settings import check, setting

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Measure = Literal["confidence", "entropy", "margin"]
Ranking = Literal[Measure, "left", "leftmost, then entropy", "random"]
Stop = Literal[
    "all but the largest", "all but the leftmost", "each", "threshold", "factor", "count"
]
Shuffle = Callable[[int], Sequence[int]]
"""n -> the integers 0 to n - 1 in random order."""

BOUNDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5)
COUNTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class ConfidenceScores:
    """Top probability, margin p1 - p2 and entropy in nats of each row (input position)."""

    probability: list[float]
    margin: list[float]
    entropy: list[float]


@dataclass(frozen=True, slots=True)
class Solver:
    """Base class of the solvers: an order of the masked positions, and how many of it to reveal.

    name: name in commands, traces and links.
    title: name on the page.
    ranking: the order, best first; see _ranked().
    stop: the rule that bounds the number of positions by the first setting; see _count().
    swept_values: values of the first setting, such as gamma or k, at which an evaluation compares
        the solvers; not needed without settings.
    reads_causal_row: whether next-token prediction, instead of a mask, gives the first token of
        the block and its scores.
    Every concrete subclass must be listed in SOLVERS.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    ranking: ClassVar[Ranking]
    stop: ClassVar[Stop]
    swept_values: ClassVar[tuple[float, ...]]
    reads_causal_row: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check(self)

    @property
    def ranked_by(self) -> Ranking:
        """The ranking, which a setting may choose."""
        return self.ranking

    @property
    def needs_margin(self) -> bool:
        """Whether the solver uses margins, which take time to compute."""
        return self.ranked_by == "margin"

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """Choose the positions to reveal, at least one of `masked`, best first.

        scores: scores of all positions of the block, from left to right.
        masked: offsets of the masked positions in the block, from left to right.
        shuffle: the only source of randomness; see Shuffle.
        """
        order = _ranked(self.ranked_by, scores, masked, shuffle)
        limit = getattr(self, fields(self)[0].name)
        return order[: max(1, _count(self.stop, limit, scores, order))]


def _gamma(default: float) -> Any:
    return setting(
        default, low=0, label="γ", link="gamma", step=0.01, unit="nats", words="γ {}",
        help="bound in nats of the entropy solvers",
    )  # fmt: skip


def _k() -> Any:
    return setting(
        2, low=1, label="Tokens per forward pass", link="k", flag="reveals",
        help="number of tokens that a forward pass reveals", words="{} tokens a forward pass",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class EntropyBound(Solver):
    """Tokens of lowest entropy whose entropies, without the largest, sum to ≤ gamma (Eq. 8)."""

    gamma: float = _gamma(0.1)
    name, title = "entropy-bound", "Entropy bound (Eq. 8)"
    ranking, stop, swept_values = "entropy", "all but the largest", BOUNDS


@dataclass(frozen=True, slots=True)
class EntropyBoundByConfidence(Solver):
    """The likeliest tokens whose entropies, without the largest, sum to ≤ gamma (Eq. 18)."""

    gamma: float = _gamma(0.1)
    name, title = "entropy-bound-by-confidence", "Entropy bound by confidence"
    ranking, stop, swept_values = "confidence", "all but the largest", BOUNDS


@dataclass(frozen=True, slots=True)
class EntropyBoundByMargin(Solver):
    """Tokens of highest margin whose entropies, without the largest, sum to ≤ gamma (Eq. 18)."""

    gamma: float = _gamma(0.1)
    name, title = "entropy-bound-by-margin", "Entropy bound by margin"
    ranking, stop, swept_values = "margin", "all but the largest", BOUNDS


@dataclass(frozen=True, slots=True)
class EntropyBoundFromLeft(Solver):
    """The leftmost token, then tokens of lowest entropy whose entropies sum to ≤ gamma (ours).

    This bound is stricter than Eq. 18, which does not count the largest entropy, wherever it is.
    Here only the leftmost entropy is not counted: a causal model predicts the leftmost token best.
    """

    gamma: float = _gamma(0.35)
    name, title = "entropy-bound-from-left", "Entropy bound from the left"
    ranking, stop, swept_values = "leftmost, then entropy", "all but the leftmost", BOUNDS


@dataclass(frozen=True, slots=True)
class CausalFirst(Solver):
    """The next token by NTP, then tokens from the left whose entropies sum to ≤ gamma (ours).

    The forward pass that reads the previous tokens causally also gives the next token exactly, at
    no extra cost. The next block starts right after the tokens that this forward pass reveals.
    Gamma 0 gives the tokens of next-token prediction.
    """

    gamma: float = _gamma(0.35)
    name, title = "causal-first", "Causal token first"
    ranking, stop, swept_values = "left", "all but the leftmost", BOUNDS
    reads_causal_row = True


@dataclass(frozen=True, slots=True)
class EntropyThreshold(Solver):
    """Every position with entropy below gamma nats; if none, the position of lowest entropy."""

    gamma: float = _gamma(0.1)
    name, title = "entropy-threshold", "Entropy threshold"
    ranking, stop = "entropy", "each"
    swept_values = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class ConfidenceThreshold(Solver):
    """Every position with top probability ≥ tau; if none, the surest position (Fast-dLLM)."""

    tau: float = setting(
        0.9, low=0, high=1, label="τ", link="tau", step=0.01,
        help="confidence-threshold: reveal every token this probable", words="τ {}",
    )  # fmt: skip
    name, title = "confidence-threshold", "Confidence threshold"
    ranking, stop = "confidence", "threshold"
    swept_values = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)


@dataclass(frozen=True, slots=True)
class Factor(Solver):
    """The n surest positions, for the largest n with (n + 1)(1 - p_n) < factor (Fast-dLLM).

    p_n is the n-th highest top probability. At least one position is revealed.
    """

    factor: float = setting(
        1.0,
        low=0,
        label="Factor",
        link="factor",
        step=0.05,
        words="factor {}",
        help="of the solver of that name: larger reveals more at once",
    )
    name, title = "factor", "Factor"
    ranking, stop, swept_values = "confidence", "factor", (0.1, 0.25, 0.5, 1.0, 1.5)


@dataclass(frozen=True, slots=True)
class TopK(Solver):
    """The k surest positions by top probability, entropy or margin (LLaDA, Dream)."""

    k: int = _k()
    by: Measure = setting(
        "confidence", label="Best by", link="by", help="order of top-k", words="best by {}"
    )
    name, title = "top-k", "Top-k"
    stop, swept_values = "count", COUNTS

    @property
    def ranked_by(self) -> Ranking:
        """The measure of the setting `by`."""
        return self.by


@dataclass(frozen=True, slots=True)
class Random(Solver):
    """k masked positions, drawn uniformly (LLaDA)."""

    k: int = _k()
    name, title = "random", "Random"
    ranking, stop, swept_values = "random", "count", COUNTS


@dataclass(frozen=True, slots=True)
class LeftToRight(Solver):
    """The k leftmost masked positions (SDAR)."""

    k: int = _k()
    name, title = "left-to-right", "Left to right"
    ranking, stop, swept_values = "left", "count", COUNTS


SOLVERS: dict[str, type[Solver]] = {
    rule.name: rule
    for rule in (
        EntropyBound,
        EntropyBoundByConfidence,
        EntropyBoundByMargin,
        EntropyBoundFromLeft,
        CausalFirst,
        EntropyThreshold,
        ConfidenceThreshold,
        Factor,
        TopK,
        Random,
        LeftToRight,
    )
}
SOLVER_TITLES = {name: rule.title for name, rule in SOLVERS.items()}
SOLVER_SOURCES = {
    EntropyBound.name: "the paper’s",
    EntropyBoundFromLeft.name: "ours",
    CausalFirst.name: "ours",
}
"""Whose rule a solver is, where that is the paper's own or ours."""
SOLVER_PARAMETERS = tuple(
    dict.fromkeys(item.name for rule in SOLVERS.values() for item in fields(rule))
)
"""Settings that at least one solver takes."""


def solver_parameters(solver: Solver) -> dict[str, Any]:
    """{name: value} of a solver's settings."""
    return {item.name: getattr(solver, item.name) for item in fields(solver)}


def make_solver(name: str, parameters: Mapping[str, Any]) -> Solver:
    """Make the solver called `name`. Raises ArgumentError for a wrong name, setting or value."""
    if not isinstance(name, str) or name not in SOLVERS:
        raise ArgumentError("solver", f"must be one of {', '.join(SOLVERS)}", name)
    rule = SOLVERS[name]
    known = [item.name for item in fields(rule)]
    for parameter, value in parameters.items():
        if parameter not in known:
            raise ArgumentError(
                parameter,
                f"is not a parameter of {name}, which takes {', '.join(known) or 'none'}",
                value,
            )
    return rule(**parameters)


def select(
    solver: Solver,
    candidates: Any,
    is_masked: "Tensor",
    generator: "torch.Generator | None" = None,
) -> "Tensor":
    """Choose the positions to reveal now. Return a bool tensor (block,), True at least once.

    candidates: sampling.Candidates of all positions of the block.
    is_masked: bool tensor (block,), True at masked positions.
    generator: source of randomness for the solver Random; the others do not use it.
    Raises ArgumentError if is_masked has another type or shape, or is False everywhere.
    """
    import torch

    is_revealed = torch.zeros_like(is_masked)
    is_revealed[reveal_order(solver, candidates, is_masked, generator)] = True
    return is_revealed


def reveal_order(
    solver: Solver,
    candidates: Any,
    is_masked: "Tensor",
    generator: "torch.Generator | None" = None,
) -> list[int]:
    """The positions that select() chooses, best first. For arguments and errors see select()."""
    import torch

    if type(solver) not in SOLVERS.values():
        raise ArgumentError("solver", "must be a rule of sbd_core.solvers", solver)
    shape = tuple(candidates.entropy.shape)
    if is_masked.dtype != torch.bool or tuple(is_masked.shape) != shape:
        raise ArgumentError("is_masked", f"must be a bool tensor of shape {shape}", is_masked)
    masked = is_masked.nonzero()[:, 0].tolist()
    if not masked:
        raise ArgumentError("is_masked", "must mask at least one position", is_masked.tolist())
    names = (item.name for item in fields(ConfidenceScores))
    scores = ConfidenceScores(*(getattr(candidates, name).tolist() for name in names))
    return reveal_order_from_scores(solver, scores, masked, generator)


def reveal_order_from_scores(
    solver: Solver,
    scores: ConfidenceScores,
    masked: Sequence[int],
    generator: "torch.Generator | None" = None,
) -> list[int]:
    """Choose positions as reveal_order() does, from scores that are plain numbers.

    masked: offsets of the masked positions in the block, from left to right.
    """
    import torch

    return solver.order(
        scores, masked, lambda count: torch.randperm(count, generator=generator).tolist()
    )


def _ranked(
    ranking: Ranking, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle
) -> list[int]:
    """The masked positions, best first; positions of equal value stay from left to right."""
    match ranking:
        case "left":
            return list(masked)
        case "random":
            return [masked[index] for index in shuffle(len(masked))]
        case "entropy":
            return sorted(masked, key=scores.entropy.__getitem__)
        case "leftmost, then entropy":
            return [masked[0], *sorted(masked[1:], key=scores.entropy.__getitem__)]
        case "confidence":
            return sorted(masked, key=scores.probability.__getitem__, reverse=True)
        case "margin":
            return sorted(masked, key=scores.margin.__getitem__, reverse=True)


def _count(stop: Stop, limit: float, scores: ConfidenceScores, order: list[int]) -> int:
    """How many positions of `order` keep to the limit; 0 may come out.

    Eq. 18 is "all but the largest": the longest prefix whose entropies, without the largest, sum to
    at most `limit`. It is Eq. 8 if `order` is by rising entropy.
    """
    if stop == "count":
        return int(limit)
    if stop in ("threshold", "factor"):
        tops = [scores.probability[position] for position in order]
        if stop == "threshold":
            return sum(top >= limit for top in tops)
        holds = ((n + 1) * (1 - top) < limit for n, top in enumerate(tops, start=1))
        return sum(takewhile(bool, holds))
    entropies = [scores.entropy[position] for position in order]
    if stop == "each":
        return sum(entropy < limit for entropy in entropies)
    if stop == "all but the leftmost":
        return 1 + sum(total <= limit for total in accumulate(entropies[1:]))
    # The largest is left out of the sum, not subtracted, to avoid rounding errors.
    largest = accumulate(entropies, max)
    others = (min(entropy, top) for entropy, top in zip(entropies[1:], largest, strict=False))
    return 1 + sum(total <= limit for total in accumulate(others))
