"""Chooses the masked positions that a forward pass reveals: sbd_core.rules for tensors.

Pure: same inputs and generator, same answer. Every rule's class is exported here.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.rules import *  # noqa: F403
from sbd_core.rules import SOLVERS, ConfidenceScores, Solver
from sbd_core.rules import __all__ as RULES
from sbd_core.sampling import Candidates

__all__ = ["ranked", "reveal_order", "select"]
__all__ += RULES


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
    """The positions that select() reveals, the rule's first choice first. See select()."""
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


def ranked(
    solver: Solver,
    scores: ConfidenceScores,
    masked: Sequence[int],
    generator: torch.Generator | None = None,
) -> list[int]:
    """reveal_order() for plain numbers. masked: the masked positions, left to right."""
    if type(solver) not in SOLVERS.values():
        raise ArgumentError("solver", "must be a rule of sbd_core.solvers", solver)
    return solver.order(
        scores, masked, lambda count: torch.randperm(count, generator=generator).tolist()
    )
