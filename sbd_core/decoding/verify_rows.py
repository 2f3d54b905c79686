"""The rule that chooses the rows of a `verify` forward pass by their expected tokens and cost.

A forward pass reads one exact token and checks a draft after it. The check accepts the draft's
first 0, 1, 2, ... tokens and ends there. For each possible end the forward pass may read masks,
which become the next draft if the check ends there. It may also check alternatives to a drafted
token, with masks after them: if an alternative is right, its own row gives one more token. All of
these rows are a tree whose root is the exact token (after EAGLE-2, arXiv 2406.16858, and Sequoia,
arXiv 2402.12374).

A row is worth the tokens expected of it. A drafted token is worth the chance that it and all tokens
before it are right. A mask is worth the chance that the check ends just before the mask's block,
times the chance that the next draft is right up to the mask. The latter chance is lower after a
rejected token, as the masks do not see the right one. Rows are taken by falling worth, each with
the rows it depends on: at most `max_rows`, or as many as bring the most tokens for their cost in
seconds.

Pure, standard library only. The rule sees no token, only the head's confidence, the record of
drafts and the cost of rows: a draft whose length or place depended on its own tokens would no
longer be a sample of the head's distribution, and verification would not be exact.
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
"""Number of observations that the calibration counts as."""
CERTAIN = 0.99
"""Largest chance that is derived from a head's probability."""

Sums = tuple[float, float]
"""Fading sums over observations: of what came true, and of what was expected."""


def _plus(sums: Sums, true: float, expected: float) -> Sums:
    """Add one observation to the sums, in which the earlier observations lose weight."""
    return sums[0] * MEMORY + true, sums[1] * MEMORY + expected


def _ratio(sums: Sums, usual: float) -> float:
    """The ratio of true to expected, after PRIOR_WEIGHT imaginary observations of ratio `usual`."""
    return (sums[0] + PRIOR_WEIGHT * usual) / (sums[1] + PRIOR_WEIGHT)


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """Record of how drafts fared in this decode: fading sums, with the calibration as a prior.

    drafted: number of right drafted tokens, and the summed probabilities of all checked ones.
    others: the same for alternatives.
    survivals: per depth, the summed chances that a new draft is right up to there, and the number
        of drafts. Only drafts after accepted tokens count.
    rate: tokens of the forward passes so far, and their seconds by the table of costs.
    """

    calibration: Calibration
    drafted: Sums = (0.0, 0.0)
    others: Sums = (0.0, 0.0)
    survivals: tuple[Sums, ...] = ()
    rate: Sums = (0.0, 0.0)

    def chances(self, probabilities: Sequence[float]) -> list[float]:
        """The chance that each drafted token is right. probabilities: the masked head's."""
        scale = _ratio(self.drafted, self.calibration.drafted)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def chances_of_others(self, probabilities: Sequence[float]) -> list[float]:
        """The chance that each alternative to a drafted token is right; see chances()."""
        scale = _ratio(self.others, self.calibration.alternatives)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def survival(self, length: int) -> list[float]:
        """The chances that a future draft is right up to its token 1, 2, ..., `length`."""
        start = self.calibration.drafted
        drift = _ratio(self.drafted, start) / start if start else 0.0
        chances, last = [], 1.0
        for depth in range(length):
            own, count = self.survivals[depth] if depth < len(self.survivals) else (0.0, 0.0)
            usual = self.calibration.survival_to(depth) * drift ** (depth + 1)
            last = min(last * CERTAIN, _ratio((own, count), usual))
            chances.append(last)
        return chances

    def having_seen(self, probabilities: Sequence[float]) -> "DraftRecord":
        """The record with one more block after accepted tokens counted in `survivals`.

        probabilities: the head's, per token that the block could draft; 0 after an end-of-sequence.
        """
        seen = list(accumulate(self.chances(probabilities), mul))
        known = [*self.survivals, *[(0.0, 0.0)] * (len(seen) - len(self.survivals))]
        fresh = [_plus(sums, own, 1) for sums, own in zip(known, seen, strict=False)]
        return replace(self, survivals=(*fresh, *known[len(seen) :]))

    def after(
        self,
        checked: Sequence[float],
        num_right: int,
        others: Sequence[float] = (),
        *,
        has_alternative: bool = False,
        num_tokens: int = 1,
        seconds: float = 0.0,
    ) -> "DraftRecord":
        """The record after a forward pass.

        checked: the head's probabilities of the drafted tokens, through the first wrong one.
        num_right: number of the checked tokens that were right.
        others: the head's probabilities of the alternatives that the check reached.
        has_alternative: whether one of these alternatives was right.
        num_tokens: number of tokens that the pass added to the answer.
        seconds: cost of the pass by the table of costs; 0 leaves the pass out of `rate`.
        """
        return replace(
            self,
            drafted=_plus(self.drafted, num_right, sum(checked)),
            others=_plus(self.others, has_alternative, sum(others)),
            rate=_plus(self.rate, num_tokens if seconds else 0, seconds),
        )


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The rows that a forward pass reads besides the exact token and the draft that it checks.

    block_sizes: number of masks after the draft's first 0, 1, 2, ... tokens.
    alternatives: (index of the drafted token, rank from 0, number of masks after) of each one read.
    price: expected tokens from which a row pays; the next draft ends before a token worth less.
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
    """Number of tokens to draft: the most that are all correct with a chance above the price."""
    reached = accumulate(chances, mul)
    return next((i for i, chance in enumerate(reached) if chance <= price), len(chances))


@dataclass(slots=True)
class _Branch:
    """Rows that may follow the draft's first `place` tokens: an alternative, if any, then masks.

    rank: rank of the alternative to the token at `place`; None for masks alone.
    chance: the chance that the check ends at `place`, with the alternative right if there is one.
    steps: (expected tokens per row in that case, number of rows) by which the branch grows in turn.
    rows: number of rows taken so far.
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
        """Yield steps as (minus the worth per row, `index`, rows), for heapq.merge() to order."""
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

    probabilities: the head's probabilities of the drafted tokens.
    block_size: largest number of masks in a block.
    num_left: number of tokens that the answer may still grow by.
    alternatives: for each drafted token, its alternatives' probabilities, likeliest first.
    num_sure: number of leading draft tokens that are taken as right.
    is_end: whether the draft's last token ends the text.
    max_rows: largest number of rows of the pass, used if costs is None.
    costs: table of costs from which the number of rows is chosen.
    num_causal: number of exact tokens that the pass reads.
    price: RowPlan.price of the last plan.
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
    """All branches that rows may be taken from; the last one follows the whole draft.

    chances: the chance that each drafted token is right. survival: see DraftRecord.survival().
    alternatives, price: see plan_rows().

    If an alternative is right, the masks after the rejected token go unused. So the better of these
    two branches counts in full, the other only for what it adds.
    """
    gains = [max(0.0, chance - price) for chance in survival]
    less = [max(0.0, chance * record.calibration.rejected - price) for chance in survival]
    accepted, after_rejected = _steps([0.0, *gains]), _steps([0.0, *less])
    before = _steps([1 - price, 0.0, *gains])
    after = _steps([max(0.0, 1 - price - sum(less)), 0.0, *gains])
    branches, reached = [], 1.0
    for place, chance in enumerate(chances):
        left = reached * (1 - chance)
        listed = alternatives[place] if place < len(alternatives) else ()
        for rank, share in enumerate(record.chances_of_others(listed)):
            other = reached * share
            is_first = other * before[0][0] > left * after_rejected[0][0]
            branches.append(_Branch(place, rank, other, before if is_first else after))
            left = max(0.0, left - other) if is_first else left
        branches.append(_Branch(place, None, left, after_rejected))
        reached *= chance
    return [*branches, _Branch(len(chances), None, reached, accepted)]


def _rate(record: DraftRecord, points: Sequence[tuple[float, float]]) -> float:
    """Tokens per second so far, averaged with the best rate of `points` (tokens, seconds).

    Without `points`, the first forward passes would assume the rate of next-token prediction, and
    read too many rows.
    """
    tokens, seconds = max(points, key=lambda point: point[0] / point[1])
    tokens, seconds = (
        record.rate[0] + PRIOR_WEIGHT * tokens,
        record.rate[1] + PRIOR_WEIGHT * seconds,
    )
    return tokens / seconds


def _steps(gains: Sequence[float]) -> list[tuple[float, int]]:
    """Group rows, taken in order, into steps of falling worth: (mean gain per row, rows).

    gains: expected tokens of row 1, 2, ... A row that gains less than the next one is worth taking
    only together with the next one, so the two form one step.
    """
    steps: list[tuple[float, int]] = []
    for gain in gains:
        worth, rows = gain, 1
        while steps and steps[-1][0] < worth:
            earlier, more = steps.pop()
            worth, rows = (worth * rows + earlier * more) / (rows + more), rows + more
        steps.append((worth, rows))
    return steps
