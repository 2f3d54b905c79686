"""Which masked positions a forward pass reveals. Pure: same inputs and generator, same answer.

Every rule puts the masked positions in an order of preference and reveals a prefix of it, at
least one position; they differ in the order and in where the prefix ends. The rules' settings
live in sbd_core.config and are exported here.
"""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from sbd_core.config import (
    ConfidenceThreshold,
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyBoundFromLeft,
    EntropyThreshold,
    Factor,
    LeftToRight,
    Random,
    Solver,
    TopK,
)
from sbd_core.errors import ArgumentError
from sbd_core.sampling import Candidates, ConfidenceScores

__all__ = [
    "ConfidenceThreshold",
    "EntropyBound",
    "EntropyBoundByConfidence",
    "EntropyBoundByMargin",
    "EntropyBoundFromLeft",
    "EntropyThreshold",
    "Factor",
    "LeftToRight",
    "Random",
    "Solver",
    "TopK",
    "needs_margin",
    "ranked",
    "reveal_order",
    "select",
]


def select(
    solver: Solver,
    candidates: Candidates,
    is_masked: Tensor,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Bool tensor (block,), True = reveal now; a subset of is_masked with at least one True.

    generator is used by Random alone. Raises ArgumentError if is_masked is not a bool tensor
    of the candidates' length, or masks nothing.
    """
    is_revealed = torch.zeros(is_masked.shape[-1:], dtype=torch.bool)
    is_revealed[reveal_order(solver, candidates, is_masked, generator)] = True
    return is_revealed.to(is_masked.device)


def reveal_order(
    solver: Solver,
    candidates: Candidates,
    is_masked: Tensor,
    generator: torch.Generator | None = None,
) -> list[int]:
    """The positions select() reveals, the rule's first choice first. Same arguments, errors."""
    shape = tuple(candidates.entropy.shape)
    if is_masked.dtype != torch.bool or tuple(is_masked.shape) != shape:
        raise ArgumentError("is_masked", f"must be a bool tensor of shape {shape}", is_masked)
    masked = is_masked.nonzero()[:, 0].tolist()
    if not masked:
        raise ArgumentError("is_masked", "must mask at least one position", is_masked.tolist())
    scores = ConfidenceScores(
        candidates.probability.tolist(), candidates.margin.tolist(), candidates.entropy.tolist()
    )
    return ranked(solver, scores, masked, generator)


def needs_margin(solver: Solver) -> bool:
    """Whether the rule looks at margins."""
    return isinstance(solver, EntropyBoundByMargin) or (
        isinstance(solver, TopK) and solver.by == "margin"
    )


def ranked(
    solver: Solver,
    scores: ConfidenceScores,
    masked: Sequence[int],
    generator: torch.Generator | None = None,
) -> list[int]:
    """reveal_order() of plain numbers: `masked` holds the masked positions left to right."""
    entropy, probability = scores.entropy, scores.probability
    match solver:
        case EntropyBound(gamma):
            return _bounded(sorted(masked, key=entropy.__getitem__), entropy, gamma)
        case EntropyBoundByConfidence(gamma):
            return _bounded(_descending(masked, probability), entropy, gamma)
        case EntropyBoundByMargin(gamma):
            return _bounded(_descending(masked, scores.margin), entropy, gamma)
        case EntropyBoundFromLeft(gamma):
            leftmost, *rest = masked
            order = sorted(rest, key=entropy.__getitem__)
            sums = accumulate(_of(entropy, order))
            return [leftmost, *order[: sum(total <= gamma for total in sums)]]
        case EntropyThreshold(gamma):
            order = sorted(masked, key=entropy.__getitem__)
            return order[: max(1, sum(value < gamma for value in _of(entropy, order)))]
        case ConfidenceThreshold(tau):
            order = _descending(masked, probability)
            return order[: max(1, sum(top >= tau for top in _of(probability, order)))]
        case Factor(factor):
            order = _descending(masked, probability)
            return order[: _count_factor(_of(probability, order), factor)]
        case TopK(k, "entropy"):
            return sorted(masked, key=entropy.__getitem__)[:k]
        case TopK(k, by):
            return _descending(masked, scores.margin if by == "margin" else probability)[:k]
        case Random(k):
            shuffle = torch.randperm(len(masked), generator=generator).tolist()
            return [masked[index] for index in shuffle[:k]]
        case LeftToRight(k):
            return list(masked[:k])
        case _:
            raise ArgumentError("solver", "must be a rule of sbd_core.solvers", solver)


def _descending(masked: Sequence[int], values: Sequence[float]) -> list[int]:
    """Masked positions by falling value; equal ones left to right, as sorted() keeps them."""
    return sorted(masked, key=values.__getitem__, reverse=True)


def _of(values: Sequence[float], order: Sequence[int]) -> list[float]:
    return [values[position] for position in order]


def _bounded(order: list[int], entropies: Sequence[float], gamma: float) -> list[int]:
    """The longest prefix whose (sum of entropies) - (their maximum) is at most gamma, Eq. 18.

    For entropies in ascending order the maximum is the last, which makes it Eq. 8. Summed
    without the maximum rather than by subtraction, so that no rounding creeps in.
    """
    total_of_others, largest = 0.0, 0.0
    for count, entropy in enumerate(_of(entropies, order)):
        total_of_others += min(entropy, largest) if count else 0.0
        largest = max(entropy, largest)
        if count and total_of_others > gamma:
            return order[:count]
    return order


def _count_factor(confidences: list[float], factor: float) -> int:
    """Largest n with (n + 1)(1 - c_n) < factor, stopping at the first failure; at least 1."""
    holds = [(n + 1) * (1 - c) < factor for n, c in enumerate(confidences, start=1)]
    return max(1, sum(accumulate(holds, lambda so_far, now: so_far and now)))
