"""Chooses the rows (input positions) of a `verify` forward pass by their expected tokens.

A forward pass reads one exact token and then a draft, and accepts the draft's first n tokens. It
may also read rows that prepare the next draft:

- masks after the draft's first n tokens, which give the next draft if exactly n are accepted;
- an alternative to a drafted token, with masks after it. If the alternative is the right token,
  its row gives one more exact token.

All rows form a tree whose root is the exact token (after EAGLE-2, arXiv 2406.16858, and Sequoia,
arXiv 2402.12374).

A row's expected tokens are the number of tokens that the row adds to the answer on average. For a
drafted token, the number is the chance that this token and all before it are right. For a mask, the
number is the chance that the check ends just before the mask's block, times the chance that the
next draft is right up to the mask. Rows with more expected tokens are chosen first, `max_rows` rows
at most.

Above temperature 0 no row of a token depends on what was drawn for it or after it; verify.py says
why. Standard library only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from sbd_core.config import Calibration

CERTAIN = 0.99
"""Upper bound of a chance that is computed from the masked head's probability."""

Steps = list[tuple[float, int]]
"""(mean expected tokens per row, number of rows) of groups of rows that are read together."""


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The rows that a forward pass reads besides the exact token and the draft that it checks.

    block_sizes: item n is the number of masks after the draft's first n tokens.
    alternatives: (index of a drafted token, rank of its alternative from 0, number of masks after
        that) for each alternative that is read.
    """

    block_sizes: tuple[int, ...]
    alternatives: tuple[tuple[int, int, int], ...] = ()


def chances_of(probabilities: Sequence[float], scale: float) -> list[float]:
    """The chance that each token is right. scale: of the model's Calibration, for its kind."""
    return [min(CERTAIN, probability * scale) for probability in probabilities]


def draft_length(probabilities: Sequence[float], calibration: Calibration, max_rows: int) -> int:
    """Choose the largest draft length whose tokens are all right with a chance above a bound.

    The bound is 0.5 / max_rows, or the calibration's `least`. probabilities: see plan_rows().
    """
    reached = accumulate(chances_of(probabilities, calibration.drafted), mul)
    bound = max(calibration.least, 0.5 / max_rows)
    return min(sum(chance > bound for chance in reached), max_rows - 1)


def plan_rows(
    probabilities: Sequence[float],
    calibration: Calibration,
    *,
    block_size: int,
    num_left: int,
    max_rows: int,
    alternatives: Sequence[Sequence[float]] = (),
    num_sure: int = 0,
    is_end: bool = False,
) -> RowPlan:
    """Plan the rows of the forward pass that checks a draft.

    probabilities: the masked head's probability of the likeliest token at each drafted position.
    block_size: largest number of masks in a block.
    num_left: number of tokens that may still be added to the answer.
    max_rows: largest number of rows of the pass.
    alternatives: for each drafted token, the probabilities of its alternatives, likeliest first.
    num_sure: number of tokens at the draft's start whose chance counts as 1.
    is_end: whether the draft's last token is an end-of-sequence, so that no masks follow it.
    """
    chances = [1.0] * num_sure + chances_of(probabilities[num_sure:], calibration.drafted)
    others = [chances_of(each, calibration.alternatives) for each in alternatives]
    length = max(0, min(block_size, num_left) - 1)
    survival = [calibration.survival_to(depth) for depth in range(length)]
    branches = _branches(chances, others, survival, calibration.rejected)
    if is_end:
        branches.pop((len(chances), None))
    steps = [
        (chance * worth, rows, branch)
        for branch, (chance, own) in branches.items()
        for worth, rows in own
    ]
    chosen = dict.fromkeys(branches, 0)
    num_free = max_rows - 1 - len(chances)
    for worth, rows, (place, rank) in sorted(steps, key=lambda step: -step[0]):
        if num_free <= 0 or worth <= 0:
            break
        before = chosen[place, rank]
        after = min(before + min(rows, num_free), num_left - place)
        after -= after == (1 if rank is None else 2)  # A single mask brings nothing.
        if after > before:
            chosen[place, rank] = after
            num_free -= after - before
    read = [(*branch, size) for branch, size in chosen.items() if size]
    return RowPlan(
        tuple(chosen.get((place, None), 0) for place in range(len(chances) + 1)),
        tuple((place, rank, size - 1) for place, rank, size in read if rank is not None),
    )


def _branches(
    chances: Sequence[float],
    alternatives: Sequence[Sequence[float]],
    survival: Sequence[float],
    rejected: float,
) -> dict[tuple[int, int | None], tuple[float, Steps]]:
    """List the branches of the tree: an alternative or none, and then masks.

    chances, alternatives: the chance that each drafted token, and each alternative, is right.
    survival: the chance that a draft's first n tokens are right, for n = 1, 2, ...
    rejected: see Calibration.
    Returns {(number of drafted tokens before the branch, rank of the alternative or None): (chance
    that the check ends there, the branch's steps)}.

    Two branches may prepare for the rejection of the same token: masks alone, and an alternative
    with masks. At most one of these branches is used. So the branch with more expected tokens
    counts in full, and the other branch counts only with what it adds.
    """
    less = [chance * rejected for chance in survival]
    accepted, after_rejected = _steps([0.0, *survival]), _steps([0.0, *less])
    before = _steps([1.0, 0.0, *survival])
    after = _steps([max(0.0, 1 - sum(less)), 0.0, *survival])
    branches: dict[tuple[int, int | None], tuple[float, Steps]] = {}
    reached = 1.0
    for place, chance in enumerate(chances):
        left = reached * (1 - chance)
        for rank, share in enumerate(alternatives[place] if place < len(alternatives) else ()):
            other = reached * share
            is_first = other * before[0][0] > left * after_rejected[0][0]
            branches[place, rank] = other, before if is_first else after
            left = max(0.0, left - other) if is_first else left
        branches[place, None] = left, after_rejected
        reached *= chance
    branches[len(chances), None] = reached, accepted
    return branches


def _steps(gains: Sequence[float]) -> Steps:
    """Group consecutive rows, by the expected tokens of each, into steps of falling mean gain.

    A row that gains less than the next one pays only together with it, so the two form one step.
    """
    steps: Steps = []
    for gain in gains:
        worth, rows = gain, 1
        while steps and steps[-1][0] < worth:
            earlier, more = steps.pop()
            worth, rows = (worth * rows + earlier * more) / (rows + more), rows + more
        steps.append((worth, rows))
    return steps
