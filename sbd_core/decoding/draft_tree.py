"""The rule that chooses the rows of a forward pass of `verify`: by what each brings and costs.

A forward pass reads one exact token and checks a draft behind it. The check ends behind the
draft's first 0, 1, 2, ... tokens; masks behind such an end are the next draft if the check ends
there. Where a token may be rejected the forward pass can also read an alternative to it, with masks
behind that: if it is the right one, its own row gives one token more. All of these rows are a tree
whose root is the exact token (after EAGLE-2, arXiv 2406.16858, and Sequoia, arXiv 2402.12374).

Each row is worth the tokens that are expected of it. A drafted token: the chance that it and all
before it are right. A mask: the chance that the check ends before it, times the chance that the
next draft holds up to there. Rows are taken by falling worth, each with those that it hangs on: at
most `max_rows` of them, or as many as bring the most tokens for their cost in seconds.

Pure, standard library only. Nothing here sees a token: only how sure the head was, how it fared
before, and what rows cost. A draft whose length or place depended on its own tokens would no longer
be a sample of the head's distribution, and verifying it not exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul

from sbd_core.config import Calibration, RowCosts

MEMORY = 0.98
"""Weight of an observation once the next one is there."""
PRIOR_WEIGHT = 2.0
"""Number of observations that the committed calibration counts as."""
CERTAIN = 0.99
"""Largest chance that a head's probability is taken for."""
NUM_ALTERNATIVES = 7
"""Largest number of alternatives to a drafted token."""


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """How drafts fared in this decode; it fades, and what is left is the calibration's.

    expected, right: the head's probabilities of drafted tokens that were checked, in sum, and how
    many of them were right; others_expected, others_right: the same of alternatives. survivals: of
    each depth, (sum, number) of the head's probabilities that a new draft is right up to there.
    tokens, seconds: of the passes so far, by the table of costs.
    """

    calibration: Calibration
    expected: float = 0.0
    right: float = 0.0
    others_expected: float = 0.0
    others_right: float = 0.0
    survivals: tuple[tuple[float, float], ...] = ()
    tokens: float = 0.0
    seconds: float = 0.0

    def chances(self, probabilities: Sequence[float]) -> list[float]:
        """The chance of each drafted token to be right, by the head's probabilities."""
        scale = _scale(self.calibration.drafted, self.expected, self.right)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def chances_of_others(self, probabilities: Sequence[float]) -> list[float]:
        """The same of alternatives to one token."""
        start = self.calibration.alternatives
        scale = _scale(start, self.others_expected, self.others_right)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def survival(self, length: int) -> list[float]:
        """The chance that a draft not made yet holds up to its token 1, 2, ..., `length`."""
        start = self.calibration.drafted
        scale = _scale(start, self.expected, self.right)
        chances, last = [], 1.0
        for depth in range(length):
            total, count = self.survivals[depth] if depth < len(self.survivals) else (0.0, 0.0)
            own = total * scale ** (depth + 1)
            usual = self.calibration.survival_to(depth)
            usual *= (scale / start) ** (depth + 1) if start else 0.0
            chance = (own + PRIOR_WEIGHT * usual) / (count + PRIOR_WEIGHT)
            last = min(last * CERTAIN, chance)
            chances.append(last)
        return chances

    def having_seen(self, probabilities: Sequence[float]) -> "DraftRecord":
        """With a block read: the head's probabilities of all that might be drafted from it."""
        survivals = list(self.survivals)
        for depth, reached in enumerate(accumulate(probabilities, mul)):
            if depth == len(survivals):
                survivals.append((0.0, 0.0))
            total, count = survivals[depth]
            survivals[depth] = (total * MEMORY + reached, count * MEMORY + 1)
        return replace(self, survivals=tuple(survivals))

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
        """With a forward pass.

        checked: the head's probabilities of the drafted tokens up to the first wrong one; num_right
        of them were right. others: of the alternatives to tokens that were reached. seconds: of the
        pass by the table of costs, for num_tokens tokens.
        """
        return replace(
            self,
            expected=self.expected * MEMORY + sum(checked),
            right=self.right * MEMORY + num_right,
            others_expected=self.others_expected * MEMORY + sum(others),
            others_right=self.others_right * MEMORY + has_alternative,
            tokens=self.tokens * MEMORY + num_tokens,
            seconds=self.seconds * MEMORY + seconds,
        )


def _scale(start: float, expected: float, right: float) -> float:
    return (right + PRIOR_WEIGHT * start) / (expected + PRIOR_WEIGHT)


@dataclass(frozen=True, slots=True)
class RowPlan:
    """Rows of a forward pass besides the exact token and the draft that it checks.

    block_sizes: masks behind the draft's first 0, 1, 2, ... tokens; 0 is no block. alternatives:
    (place in the draft, rank from 0 on, masks behind it) of each that is read. price: tokens that a
    row has to bring; the next draft ends before a token that is not worth it.
    """

    block_sizes: tuple[int, ...]
    alternatives: tuple[tuple[int, int, int], ...] = ()
    price: float = 0.0

    @property
    def num_rows(self) -> int:
        """Rows of the forward pass, with one exact token."""
        alternatives = sum(1 + size for _, _, size in self.alternatives)
        return len(self.block_sizes) + sum(self.block_sizes) + alternatives


def draft_length(chances: Sequence[float], price: float) -> int:
    """How many tokens to draft: as long as the chance that all are right is above the price."""
    reached = accumulate(chances, mul)
    return next((i for i, chance in enumerate(reached) if chance <= price), len(chances))


@dataclass(slots=True)
class _Branch:
    """Where masks may stand: behind `place` drafted tokens, or an alternative to the next one."""

    place: int
    rank: int | None
    chance: float
    size: int = 0
    is_taken: bool = False


def plan_rows(
    record: DraftRecord,
    probabilities: Sequence[float],
    *,
    block_size: int,
    num_left: int,
    alternatives: Sequence[Sequence[float]] = (),
    num_sure: int = 0,
    max_rows: int | None = None,
    costs: RowCosts | None = None,
    num_causal: int = 1,
    price: float = 0.0,
) -> RowPlan:
    """The plan of the forward pass that checks a draft of tokens with `probabilities`.

    block_size: masks of a block at most. num_left: tokens that the answer may still grow by.
    alternatives: of each drafted token, the probabilities of others, likeliest first. num_sure:
    drafted tokens, first in the draft, that are as good as right. max_rows: of the pass; None by
    costs. num_causal: exact tokens that the pass reads. price: of the last plan.
    """
    chances = [1.0] * num_sure + record.chances(probabilities[num_sure:])
    reached = [1.0, *accumulate(chances, mul)]
    ends = [now - then for now, then in zip(reached, [*reached[1:], 0.0], strict=True)]
    branches = [_Branch(place, None, chance) for place, chance in enumerate(ends)]
    for place, own in enumerate(alternatives):
        for rank, chance in enumerate(record.chances_of_others(own)):
            branches.append(_Branch(place, rank, reached[place] * chance))
    survival = record.survival(max(0, min(block_size, num_left) - 1))
    gains = [max(0.0, chance - price) for chance in survival]
    units = []
    for index, branch in enumerate(branches):
        is_other = branch.rank is not None
        longest = num_left - branch.place - is_other
        for worth, rows, size in _units(gains, 1 - price if is_other else None):
            if size <= longest:
                units.append((-branch.chance * worth, index, size, rows))
    units.sort()
    base = num_causal + len(probabilities)
    if max_rows is not None:
        chosen, price = _within(units, max_rows - base)
    else:
        assert costs is not None
        chosen, price = _by_cost(units, base, record, costs)
    for _, index, size, _ in chosen:
        branches[index].size, branches[index].is_taken = size, True
    return RowPlan(
        tuple(branch.size for branch in branches[: len(ends)]),
        tuple(
            (branch.place, branch.rank, branch.size)
            for branch in branches[len(ends) :]
            if branch.is_taken and branch.rank is not None
        ),
        price,
    )


Unit = tuple[float, int, int, int]
"""(- worth a row, branch, masks of the branch with it, rows that it adds)."""


def _within(units: Sequence[Unit], room: int) -> tuple[list[Unit], float]:
    """Units that fit, and the price: what a row of the first that does not is worth.

    A unit that does not fit is cut to the room, and its branch grows no further.
    """
    chosen: list[Unit] = []
    price, closed = 0.0, set()
    for worth, index, size, rows in units:
        if worth >= 0:
            break
        if index in closed:
            continue
        if rows > room:
            price = price or -worth
            closed.add(index)
            size, rows = _cut(size, rows, room)
        if rows:
            chosen.append((worth, index, size, rows))
            room -= rows
    return chosen, price


def _cut(size: int, rows: int, room: int) -> tuple[int, int]:
    """(masks, rows) of a unit cut to the room; no rows where too little of it is left.

    A single mask brings nothing; an alternative's own row does.
    """
    left = size - (rows - room)
    if left >= 2:
        return left, room
    return (0, 1) if rows > size and room > 0 else (0, 0)


def _by_cost(
    units: Sequence[Unit], base: int, record: DraftRecord, costs: RowCosts
) -> tuple[list[Unit], float]:
    """The first units, as many as bring most for their cost, and the price of one of their rows."""
    start = costs.seconds(base)
    rate = max(1 / costs.seconds(1), record.tokens / record.seconds if record.seconds else 0.0)
    best, best_count, best_rows = 0.0, 0, 0
    total, rows = 0.0, 0
    for count, (worth, _, _, more) in enumerate(units, 1):
        total -= worth * more
        rows += more
        if base + rows > costs.points[-1][0]:
            break  # what so many rows cost is not known
        net = total - rate * (costs.seconds(base + rows) - start)
        if net > best:
            best, best_count, best_rows = net, count, rows
    size = max(base + best_rows, 2)
    price = rate * (costs.seconds(size) - costs.seconds(1)) / (size - 1)
    return list(units[:best_count]), price


def _units(gains: Sequence[float], own: float | None) -> list[tuple[float, int, int]]:
    """(worth a row, rows, masks) by which a branch grows, falling, if the check ends there.

    The first mask stands where the check brings an exact token, so a branch has 2 masks or none.
    own: what an alternative's own row brings, None for a branch without one.
    """
    total = [0.0, 0.0, *accumulate(gains)]
    """Gain of 0, 1, 2, ... masks."""
    own_row = own is not None
    units: list[tuple[float, int, int]] = []
    masks, value, rows = 0, 0.0, 0
    first = [0] if own_row else []
    while masks < len(total) - 1:
        steps = [*first, *range(max(2, masks + 1), len(total))]
        first = []
        if not steps:
            break
        worth, to = max(
            ((total[to] + (own or 0.0) - value) / (to + own_row - rows), to) for to in steps
        )
        units.append((worth, to + own_row - rows, to))
        masks, value, rows = to, total[to] + (own or 0.0), to + own_row
    return units
