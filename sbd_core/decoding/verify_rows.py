"""Chooses the rows (input positions) of a `verify` forward pass by expected tokens and cost.

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
next draft is right up to the mask. Rows with more expected tokens are chosen first: `max_rows` rows
at most, or the number of rows that gives the most tokens per second.

The choice depends on the masked head's probabilities, the record of earlier drafts and the cost of
rows, but never on which tokens were drafted. Otherwise a draft would not be a sample of the masked
head's distribution, and verification would not be exact. Standard library only.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import accumulate
from operator import mul

from sbd_core.config import Calibration, RowCosts

MEMORY = 0.98
"""Factor by which each new observation lowers the weight of earlier ones."""
PRIOR_WEIGHT = 2.0
"""Number of observations that the calibration, as a prior, is worth."""
CERTAIN = 0.99
"""Upper bound of a chance that is computed from the masked head's probability."""

Sums = tuple[float, float]
"""(what came true, what was expected), summed over observations; older ones count less."""


def _plus(sums: Sums, true: float, expected: float) -> Sums:
    """Return the sums with one observation added and the earlier ones weighted down by MEMORY."""
    return sums[0] * MEMORY + true, sums[1] * MEMORY + expected


def _ratio(sums: Sums, usual: float) -> float:
    """Estimate (what came true) / (what was expected) from the sums and a prior ratio `usual`."""
    return (sums[0] + PRIOR_WEIGHT * usual) / (sums[1] + PRIOR_WEIGHT)


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """A record of how well this decode's drafts did. Older forward passes count less.

    calibration: the masked head's calibration, which serves as a prior.
    drafted: (number of right drafted tokens, sum of the probabilities of all checked ones).
    alternatives: (number of right alternatives, sum of the probabilities of all checked ones).
    survivals: item n - 1 is (sum over drafts of the chance that the first n tokens are right,
        number of drafts). Drafts after a rejected token are left out.
    rate: (number of tokens, seconds by RowCosts), summed over the forward passes.
    """

    calibration: Calibration
    drafted: Sums = (0.0, 0.0)
    alternatives: Sums = (0.0, 0.0)
    survivals: tuple[Sums, ...] = ()
    rate: Sums = (0.0, 0.0)

    def chances(self, probabilities: Sequence[float]) -> list[float]:
        """Estimate the chance that each token is right, from the masked head's probabilities."""
        scale = _ratio(self.drafted, self.calibration.drafted)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def chances_of_alternatives(self, probabilities: Sequence[float]) -> list[float]:
        """Estimate each alternative's chance to be right, from the masked head's probabilities."""
        scale = _ratio(self.alternatives, self.calibration.alternatives)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def survival(self, length: int) -> list[float]:
        """Estimate the chance that a draft's first n tokens are right, for n = 1 to `length`."""
        start = self.calibration.drafted
        drift = _ratio(self.drafted, start) / start if start else 0.0
        chances, last = [], 1.0
        for depth in range(length):
            own, count = self.survivals[depth] if depth < len(self.survivals) else (0.0, 0.0)
            usual = self.calibration.survival_to(depth) * drift ** (depth + 1)
            last = min(last * CERTAIN, _ratio((own, count), usual))
            chances.append(last)
        return chances

    def with_draft(self, probabilities: Sequence[float]) -> "DraftRecord":
        """Return the record with one more draft counted in `survivals`.

        probabilities: the masked head's probability of each draft token; 0 after an end token.
        """
        seen = list(accumulate(self.chances(probabilities), mul))
        known = [*self.survivals, *[(0.0, 0.0)] * (len(seen) - len(self.survivals))]
        fresh = [_plus(sums, own, 1) for sums, own in zip(known, seen, strict=False)]
        return replace(self, survivals=(*fresh, *known[len(seen) :]))

    def after(
        self,
        checked: Sequence[float],
        num_right: int,
        alternatives: Sequence[float] = (),
        *,
        has_alternative: bool = False,
        num_tokens: int = 1,
        seconds: float = 0.0,
    ) -> "DraftRecord":
        """Return the record with the result of one forward pass added.

        checked: the masked head's probabilities of the drafted tokens up to the first wrong one.
        num_right: number of the checked tokens that were right.
        alternatives: the masked head's probabilities of the alternatives that the check reached.
        has_alternative: whether one of these alternatives was right.
        num_tokens: number of tokens that the pass added to the answer.
        seconds: seconds of the pass by RowCosts; 0 leaves the pass out of `rate`.
        """
        return replace(
            self,
            drafted=_plus(self.drafted, num_right, sum(checked)),
            alternatives=_plus(self.alternatives, has_alternative, sum(alternatives)),
            rate=_plus(self.rate, num_tokens if seconds else 0, seconds),
        )


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The rows that a forward pass reads besides the exact token and the draft that it checks.

    block_sizes: item n is the number of masks after the draft's first n tokens.
    alternatives: (index of a drafted token, rank of an alternative to this token from 0, number of
        masks after the alternative) for each alternative that is read.
    price: least number of expected tokens for which a row pays; see draft_length().
    """

    block_sizes: tuple[int, ...]
    alternatives: tuple[tuple[int, int, int], ...] = ()
    price: float = 0.0

    @property
    def num_rows(self) -> int:
        """Number of rows of the forward pass: one exact token, the draft and the planned rows."""
        alternatives = sum(1 + size for _, _, size in self.alternatives)
        return len(self.block_sizes) + sum(self.block_sizes) + alternatives


def draft_length(chances: Sequence[float], price: float) -> int:
    """Choose the largest draft length at which all tokens are right with a chance above `price`.

    chances: each token's chance to be right if all tokens before are right. price: see RowPlan.
    """
    reached = accumulate(chances, mul)
    return next((i for i, chance in enumerate(reached) if chance <= price), len(chances))


@dataclass(slots=True)
class _Branch:
    """A branch of the tree of rows: an alternative, if there is one, and then masks.

    place: number of drafted tokens before the branch.
    rank: rank of the alternative to the drafted token with index `place`; None for masks alone.
    chance: the chance that exactly `place` drafted tokens are accepted and that the alternative, if
        there is one, is right.
    steps: (expected tokens per row, number of rows) of each group of rows, in the order of choice.
        These expected tokens have yet to be multiplied by `chance`.
    rows: number of rows chosen so far.
    """

    place: int
    rank: int | None
    chance: float
    steps: Sequence[tuple[float, int]]
    rows: int = 0

    @property
    def has_token(self) -> bool:
        """Whether the branch's first row is an alternative."""
        return self.rank is not None

    def units(self, index: int) -> Iterator[tuple[float, int, int]]:
        """Yield (-expected tokens per row, `index`, number of rows) for each step, to be sorted."""
        for worth, rows in self.steps:
            yield -self.chance * worth, index, rows


def plan_rows(
    record: DraftRecord,
    probabilities: Sequence[float],
    *,
    block_size: int,
    num_left: int,
    alternatives: Sequence[Sequence[float]] = (),
    num_sure: int = 0,
    is_end: bool = False,
    max_rows: int | None = None,
    costs: RowCosts | None = None,
    num_causal: int = 1,
    price: float = 0.0,
) -> RowPlan:
    """Plan the rows of the forward pass that checks a draft.

    probabilities: the masked head's probability of each drafted token.
    block_size: largest number of masks in a block.
    num_left: number of tokens that may still be added to the answer.
    alternatives: for each drafted token, the probabilities of its alternatives, likeliest first.
    num_sure: number of tokens at the draft's start whose chance counts as 1.
    is_end: whether the draft's last token is an end-of-sequence.
    max_rows: largest number of rows of the pass; used only if costs is None.
    costs: seconds of a forward pass by its number of rows; None plans by max_rows instead.
    num_causal: number of final tokens that the pass reads before the draft.
    price: RowPlan.price of the last plan; 0 for the first.
    """
    chances = [1.0] * num_sure + record.chances(probabilities[num_sure:])
    survival = record.survival(max(0, min(block_size, num_left) - 1))
    branches = _branches(record, chances, alternatives, survival, price)
    if is_end:
        branches.pop()
    base = 1 + len(probabilities)
    most = (max_rows or 1) if costs is None else costs.points[-1][0]
    worth, rows, least = 0.0, 0, 0.0
    chosen: list[tuple[_Branch, int]] = []
    points = [(worth, rows)]
    for minus_worth, index, more in merge(*(each.units(i) for i, each in enumerate(branches))):
        if base + rows >= most or minus_worth == 0:
            least = -minus_worth
            break
        branch = branches[index]
        to = min(branch.rows + min(more, most - base - rows), num_left - branch.place)
        to -= to == 1 + branch.has_token  # A single mask brings nothing.
        if to > branch.rows:
            worth -= minus_worth * (to - branch.rows)
            rows += to - branch.rows
            branch.rows = to
            chosen.append((branch, to))
            points.append((worth, rows))
    if costs is not None:
        expected = [(1 + worth, costs.seconds(base + rows)) for worth, rows in points]
        rate = max(_rate(record, expected), 1 / costs.seconds(1))
        # Rows pay only if passes of that many rows give a token sooner than next-token prediction.
        nets = [
            worth - rate * costs.seconds(num_causal + len(probabilities) + rows)
            if rows == 0 or tokens * costs.seconds(1) > seconds
            else -math.inf
            for (worth, rows), (tokens, seconds) in zip(points, expected, strict=True)
        ]
        chosen = chosen[: nets.index(max(nets))]
        # The mean cost of a row, not that of one more: from one row to two the cost rises most.
        size = max(2, base + points[len(chosen)][1] if chosen else most)
        least = max(least, rate * (costs.seconds(size) - costs.seconds(1)) / (size - 1))
    sizes = {(branch.place, branch.rank): to - branch.has_token for branch, to in chosen}
    return RowPlan(
        tuple(sizes.pop((place, None), 0) for place in range(len(probabilities) + 1)),
        tuple(sorted((place, rank or 0, size) for (place, rank), size in sizes.items())),
        least,
    )


def _branches(
    record: DraftRecord,
    chances: Sequence[float],
    alternatives: Sequence[Sequence[float]],
    survival: Sequence[float],
    price: float,
) -> list[_Branch]:
    """List all branches that rows may be chosen from; the last one follows the whole draft.

    chances: the chance that each drafted token is right.
    survival: result of DraftRecord.survival().
    alternatives, price: see plan_rows().

    Two branches may prepare for the rejection of the same token: masks alone, and an alternative
    with masks. At most one of these branches is used. So the branch with more expected tokens
    counts in full, and the other branch counts only with what it adds.
    """
    gains = [max(0.0, chance - price) for chance in survival]
    # Masks after a rejected token do not see the right one, so their draft is less often right.
    less = [max(0.0, chance * record.calibration.rejected - price) for chance in survival]
    accepted, after_rejected = _steps([0.0, *gains]), _steps([0.0, *less])
    before = _steps([1 - price, 0.0, *gains])
    after = _steps([max(0.0, 1 - price - sum(less)), 0.0, *gains])
    branches, reached = [], 1.0
    for place, chance in enumerate(chances):
        left = reached * (1 - chance)
        listed = alternatives[place] if place < len(alternatives) else ()
        for rank, share in enumerate(record.chances_of_alternatives(listed)):
            other = reached * share
            is_first = other * before[0][0] > left * after_rejected[0][0]
            branches.append(_Branch(place, rank, other, before if is_first else after))
            left = max(0.0, left - other) if is_first else left
        branches.append(_Branch(place, None, left, after_rejected))
        reached *= chance
    return [*branches, _Branch(len(chances), None, reached, accepted)]


def _rate(record: DraftRecord, points: Sequence[tuple[float, float]]) -> float:
    """Estimate the decode's tokens per second from its forward passes so far and a prior.

    points: (expected tokens, seconds) of the next forward pass, for each number of rows. The prior
        is the best rate of a point, as a lower prior would make the first passes too large.
    """
    tokens, seconds = max(points, key=lambda point: point[0] / point[1])
    tokens, seconds = (
        record.rate[0] + PRIOR_WEIGHT * tokens,
        record.rate[1] + PRIOR_WEIGHT * seconds,
    )
    return tokens / seconds


def _steps(gains: Sequence[float]) -> list[tuple[float, int]]:
    """Group consecutive rows into steps (mean gain per row, number of rows) of falling mean gain.

    gains: expected tokens of each row. A row that gains less than the next one pays only together
        with the next one, so the two form one step.
    """
    steps: list[tuple[float, int]] = []
    for gain in gains:
        worth, rows = gain, 1
        while steps and steps[-1][0] < worth:
            earlier, more = steps.pop()
            worth, rows = (worth * rows + earlier * more) / (rows + more), rows + more
        steps.append((worth, rows))
    return steps
