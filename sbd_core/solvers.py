"""The solvers: rules that choose which masked positions a forward pass reveals.

A solver is an object that holds its settings. It gets the entropy, top probability and margin of
every position in one forward pass, as plain numbers. It ranks the masked positions and reveals the
first ones, at least one. The solver Random ranks them by chance, by a generator that it is given.
This module imports the standard library only; the functions that take a generator import torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args

from sbd_core.errors import ArgumentError, require_integer, require_number

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Measure = Literal["confidence", "entropy", "margin"]
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
class Bound:
    """The quantity that a solver's γ bounds, and how the page describes this bound.

    kind: "each" if γ bounds every revealed entropy by itself; "none" without γ; any other value
        names the revealed entropies whose sum γ bounds.
    equation: the bound's equation in the paper, "" for none.
    title: heading of the page's chart of entropies; a [word] in brackets is in the glossary.
    gamma: a few words on the meaning of γ, "" without γ.
    exempt: two texts that form a sentence about the position that γ does not limit, such as
        ("the surest", "always comes"); () without γ.
    """

    kind: Literal["all but the largest", "all but the leftmost", "each", "none"]
    equation: str = ""
    title: str = "[Entropy] budget"
    gamma: str = "uncertainty a forward pass may take on, nats"
    exempt: tuple[str, ...] = ()


NO_BOUND = Bound("none", title="[Entropy], added up", gamma="")


@dataclass(frozen=True, slots=True)
class Solver:
    """Base class of the solvers.

    name: name in commands, traces and links.
    title: name on the page.
    words: a sentence for the page on what the solver reveals.
    bound: the quantity that the solver's γ bounds.
    swept_values: values of the subclass's first setting, such as gamma or k, at which an evaluation
        compares the solvers; not needed without settings.
    reads_causal_row: whether next-token prediction, instead of a mask, gives the first token of
        the block and its scores.
    Every concrete subclass must be listed in SOLVERS.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[str]
    bound: ClassVar[Bound] = NO_BOUND
    swept_values: ClassVar[tuple[float, ...]]
    reads_causal_row: ClassVar[bool] = False

    @property
    def needs_margin(self) -> bool:
        """Whether the solver uses margins, which take time to compute."""
        return False

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """Choose the positions to reveal, at least one of `masked`, best first.

        scores: scores of all positions of the block, from left to right.
        masked: offsets of the masked positions in the block, from left to right.
        shuffle: the only source of randomness; see Shuffle.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _WithGamma(Solver):
    """Base class of the solvers that bound entropies by gamma, in nats."""

    gamma: float = 0.1
    swept_values: ClassVar[tuple[float, ...]] = BOUNDS

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class _WithCount(Solver):
    """Base class of the solvers that reveal k positions per forward pass."""

    k: int = 2
    swept_values: ClassVar[tuple[float, ...]] = COUNTS

    def __post_init__(self) -> None:
        require_integer("k", self.k, 1)


@dataclass(frozen=True, slots=True)
class EntropyBound(_WithGamma):
    """Tokens of lowest entropy whose entropies, without the largest, sum to ≤ gamma (Eq. 8)."""

    name = "entropy-bound"
    title = "Entropy bound (Eq. 8)"
    words = (
        "It reveals the surest positions first, while their entropies, the largest not "
        "counted, sum to at most γ (Eq. 8)."
    )
    bound = Bound("all but the largest", "Eq. 8", exempt=("the largest", "is not counted"))

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        return _bounded(_ascending(masked, scores.entropy), scores.entropy, self.gamma)


@dataclass(frozen=True, slots=True)
class EntropyBoundByConfidence(_WithGamma):
    """The likeliest tokens whose entropies, without the largest, sum to ≤ gamma (Eq. 18)."""

    name = "entropy-bound-by-confidence"
    title = "Entropy bound by confidence"
    words = "The same bound, but in the order of the best token’s probability."
    bound = Bound("all but the largest", "Eq. 18", exempt=("the largest", "is not counted"))

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        return _bounded(_descending(masked, scores.probability), scores.entropy, self.gamma)


@dataclass(frozen=True, slots=True)
class EntropyBoundByMargin(_WithGamma):
    """Tokens of highest margin whose entropies, without the largest, sum to ≤ gamma (Eq. 18)."""

    name = "entropy-bound-by-margin"
    title = "Entropy bound by margin"
    words = "The same bound, but in the order of the best token’s lead over the second."
    bound = Bound("all but the largest", "Eq. 18", exempt=("the largest", "is not counted"))

    @property
    def needs_margin(self) -> bool:
        """See Solver."""
        return True

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        return _bounded(_descending(masked, scores.margin), scores.entropy, self.gamma)


@dataclass(frozen=True, slots=True)
class EntropyBoundFromLeft(_WithGamma):
    """The leftmost token, then tokens of lowest entropy whose entropies sum to ≤ gamma (ours).

    This bound is stricter than Eq. 18, which does not count the largest entropy, wherever it is.
    Here only the leftmost entropy is not counted: a causal model predicts the leftmost token best.
    """

    gamma: float = 0.35
    name = "entropy-bound-from-left"
    title = "Entropy bound from the left"
    words = (
        "It reveals the leftmost mask, then the surest others, while their entropies sum to at "
        "most γ."
    )
    bound = Bound("all but the leftmost", exempt=("the leftmost", "is not counted"))

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        leftmost, *rest = masked
        order = _ascending(rest, scores.entropy)
        sums = accumulate(_of(scores.entropy, order))
        return [leftmost, *order[: sum(total <= self.gamma for total in sums)]]


@dataclass(frozen=True, slots=True)
class CausalFirst(_WithGamma):
    """The next token by NTP, then tokens from the left whose entropies sum to ≤ gamma (ours).

    The forward pass that reads the previous tokens causally also gives the next token exactly, at
    no extra cost. The next block starts right after the tokens that this forward pass reveals.
    Gamma 0 gives the tokens of next-token prediction.
    """

    gamma: float = 0.35
    name = "causal-first"
    title = "Causal token first"
    words = (
        "It reveals the next token as next-token prediction gives it, then guesses after it, "
        "while their entropies sum to at most γ."
    )
    reads_causal_row = True
    bound = Bound("all but the leftmost", exempt=("the causal token", "is not counted"))

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        sums = accumulate(_of(scores.entropy, masked[1:]))
        return list(masked[: 1 + sum(total <= self.gamma for total in sums)])


@dataclass(frozen=True, slots=True)
class EntropyThreshold(_WithGamma):
    """Every position with entropy below gamma nats; if none, the position of lowest entropy."""

    name = "entropy-threshold"
    title = "Entropy threshold"
    words = "It reveals every position whose own entropy is below γ, or the surest one."
    swept_values: ClassVar[tuple[float, ...]] = (0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
    bound = Bound(
        "each",
        title="[Entropy] of each mask",
        gamma="uncertainty that a token must stay below, nats",
        exempt=("the surest", "always comes"),
    )

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        order = _ascending(masked, scores.entropy)
        return order[: max(1, sum(value < self.gamma for value in _of(scores.entropy, order)))]


@dataclass(frozen=True, slots=True)
class ConfidenceThreshold(Solver):
    """Every position with top probability ≥ tau; if none, the surest position (Fast-dLLM)."""

    tau: float = 0.9
    name = "confidence-threshold"
    title = "Confidence threshold"
    words = (
        "It reveals every position whose best token has probability τ or more, or the surest one."
    )
    swept_values: ClassVar[tuple[float, ...]] = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5)

    def __post_init__(self) -> None:
        require_number("tau", self.tau, 0, 1)

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        order = _descending(masked, scores.probability)
        return order[: max(1, sum(top >= self.tau for top in _of(scores.probability, order)))]


@dataclass(frozen=True, slots=True)
class Factor(Solver):
    """The n surest positions, for the largest n with (n + 1)(1 - p_n) < factor (Fast-dLLM).

    p_n is the n-th highest top probability. At least one position is revealed.
    """

    factor: float = 1.0
    name = "factor"
    title = "Factor"
    words = (
        "It reveals the n surest, as long as (n + 1) times the doubt of the last stays below "
        "the factor."
    )
    swept_values: ClassVar[tuple[float, ...]] = (0.1, 0.25, 0.5, 1.0, 1.5)

    def __post_init__(self) -> None:
        require_number("factor", self.factor, 0)

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        order = _descending(masked, scores.probability)
        tops = enumerate(_of(scores.probability, order), start=1)
        holds = ((n + 1) * (1 - top) < self.factor for n, top in tops)
        return order[: max(1, sum(takewhile(bool, holds)))]


@dataclass(frozen=True, slots=True)
class TopK(_WithCount):
    """The k surest positions by top probability, entropy or margin (LLaDA, Dream)."""

    by: Measure = "confidence"
    name = "top-k"
    title = "Top-k"
    words = "It reveals a fixed number of positions, the surest first."

    def __post_init__(self) -> None:
        require_integer("k", self.k, 1)
        if self.by not in get_args(Measure):
            raise ArgumentError("by", f"must be one of {', '.join(get_args(Measure))}", self.by)

    @property
    def needs_margin(self) -> bool:
        """See Solver."""
        return self.by == "margin"

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        if self.by == "entropy":
            return _ascending(masked, scores.entropy)[: self.k]
        values = scores.margin if self.by == "margin" else scores.probability
        return _descending(masked, values)[: self.k]


@dataclass(frozen=True, slots=True)
class Random(_WithCount):
    """k masked positions, drawn uniformly (LLaDA)."""

    name = "random"
    title = "Random"
    words = "It reveals a fixed number of positions, drawn at random."

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        return [masked[index] for index in shuffle(len(masked))[: self.k]]


@dataclass(frozen=True, slots=True)
class LeftToRight(_WithCount):
    """The k leftmost masked positions (SDAR)."""

    name = "left-to-right"
    title = "Left to right"
    words = "It reveals a fixed number of masks, from the left."

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        """See Solver."""
        return list(masked[: self.k])


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
SOLVER_PARAMETERS = tuple(
    dict.fromkeys(item.name for rule in SOLVERS.values() for item in fields(rule))
)
"""Settings that at least one solver takes."""


def solver_parameters(solver: Solver) -> dict[str, Any]:
    """{name: value} of a solver's settings."""
    return {item.name: getattr(solver, item.name) for item in fields(solver)}


def make_solver(name: str, parameters: Mapping[str, Any]) -> Solver:
    """Make the solver called `name`. Raises ArgumentError for a wrong name, setting or value."""
    if name not in SOLVERS:
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


class _Measured(Protocol):
    """Top probability, margin and entropy of every position, each a tensor (block,)."""

    @property
    def probability(self) -> "Tensor": ...

    @property
    def margin(self) -> "Tensor": ...

    @property
    def entropy(self) -> "Tensor": ...


def select(
    solver: Solver,
    candidates: _Measured,
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

    is_revealed = torch.zeros(is_masked.shape[-1:], dtype=torch.bool)
    is_revealed[reveal_order(solver, candidates, is_masked, generator)] = True
    return is_revealed.to(is_masked.device)


def reveal_order(
    solver: Solver,
    candidates: _Measured,
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
    scores = ConfidenceScores(
        candidates.probability.tolist(), candidates.margin.tolist(), candidates.entropy.tolist()
    )
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


def _ascending(masked: Sequence[int], values: Sequence[float]) -> list[int]:
    """Masked positions by rising value; positions of equal value stay in their order."""
    return sorted(masked, key=values.__getitem__)


def _descending(masked: Sequence[int], values: Sequence[float]) -> list[int]:
    return sorted(masked, key=values.__getitem__, reverse=True)


def _of(values: Sequence[float], order: Sequence[int]) -> list[float]:
    return [values[position] for position in order]


def _bounded(order: list[int], entropies: Sequence[float], gamma: float) -> list[int]:
    """The longest prefix of `order` whose entropies, without the largest, sum to at most gamma.

    This rule is Eq. 18; if `order` is by rising entropy, the rule is Eq. 8.
    """
    # The largest is left out of the sum, not subtracted, to avoid rounding errors.
    total_of_others, largest = 0.0, 0.0
    for count, entropy in enumerate(_of(entropies, order)):
        total_of_others += min(entropy, largest) if count else 0.0
        largest = max(entropy, largest)
        if count and total_of_others > gamma:
            return order[:count]
    return order
