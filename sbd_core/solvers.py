"""Which masked positions a pass reveals. Pure: same inputs and generator, same answer.

Every rule puts the masked positions in an order of preference and reveals a prefix of it, at
least one position; they differ in the order and in where the prefix ends. The rules' settings
live in sbd_core.config and are exported here.
"""

from itertools import accumulate

import torch
from torch import Tensor

from sbd_core.config import (
    ConfidenceThreshold,
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyThreshold,
    Factor,
    LeftToRight,
    Random,
    Solver,
    TopK,
)
from sbd_core.errors import ArgumentError
from sbd_core.sampling import Candidates

__all__ = [
    "ConfidenceThreshold",
    "EntropyBound",
    "EntropyBoundByConfidence",
    "EntropyBoundByMargin",
    "EntropyThreshold",
    "Factor",
    "LeftToRight",
    "Random",
    "Solver",
    "TopK",
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
    match solver:
        case EntropyBound(gamma):
            order = _ascending(masked, candidates.entropy)
            return order[: _count_entropy_bound(_values(candidates.entropy, order), gamma)]
        case EntropyBoundByConfidence(gamma):
            order = _ascending(masked, -candidates.probability)
            return order[: _count_entropy_bound(_values(candidates.entropy, order), gamma)]
        case EntropyBoundByMargin(gamma):
            order = _ascending(masked, -candidates.margin)
            return order[: _count_entropy_bound(_values(candidates.entropy, order), gamma)]
        case EntropyThreshold(gamma):
            order = _ascending(masked, candidates.entropy)
            below = [entropy < gamma for entropy in _values(candidates.entropy, order)]
            return order[: max(1, sum(below))]
        case ConfidenceThreshold(tau):
            order = _ascending(masked, -candidates.probability)
            above = [top >= tau for top in _values(candidates.probability, order)]
            return order[: max(1, sum(above))]
        case Factor(factor):
            order = _ascending(masked, -candidates.probability)
            return order[: _count_factor(_values(candidates.probability, order), factor)]
        case TopK(k, by):
            measures = {
                "confidence": -candidates.probability,
                "entropy": candidates.entropy,
                "margin": -candidates.margin,
            }
            return _ascending(masked, measures[by])[:k]
        case Random(k):
            shuffle = torch.randperm(len(masked), generator=generator).tolist()
            return [masked[index] for index in shuffle[:k]]
        case LeftToRight(k):
            return masked[:k]
        case _:
            raise ArgumentError("solver", "must be a rule of sbd_core.solvers", solver)


def _ascending(masked: list[int], measure: Tensor) -> list[int]:
    """Masked positions by growing measure; equal ones left to right."""
    values = measure.tolist()
    return sorted(masked, key=values.__getitem__)


def _values(measure: Tensor, order: list[int]) -> list[float]:
    values = measure.tolist()
    return [values[position] for position in order]


def _count_entropy_bound(entropies: list[float], gamma: float) -> int:
    """Largest s with (sum of the first s) - (their maximum) <= gamma, Eq. 18.

    For entropies in ascending order the maximum is the last, which makes it Eq. 8. Summed
    without the maximum rather than by subtraction, so that no rounding creeps in.
    """
    total_of_others, largest = 0.0, 0.0
    for count, entropy in enumerate(entropies):
        total_of_others += min(entropy, largest) if count else 0.0
        largest = max(entropy, largest)
        if count and total_of_others > gamma:
            return count
    return len(entropies)


def _count_factor(confidences: list[float], factor: float) -> int:
    """Largest n with (n + 1)(1 - c_n) < factor, stopping at the first failure; at least 1."""
    holds = [(n + 1) * (1 - c) < factor for n, c in enumerate(confidences, start=1)]
    return max(1, sum(accumulate(holds, lambda so_far, now: so_far and now)))
