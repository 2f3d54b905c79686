"""The rule that chooses the rows of a `verify` forward pass, by what each brings and costs.

A forward pass reads one exact token and checks a draft behind it. The check ends behind the draft's
first 0, 1, 2, ... tokens; masks behind such an end are the next draft if the check ends there.
Where a drafted token may be rejected, the forward pass can also check an alternative, with masks
behind it: if the alternative is right, its own row gives one more token. All of these rows are a
tree whose root is the exact token (after EAGLE-2, arXiv 2406.16858, and Sequoia, arXiv 2402.12374).

A row is worth the tokens expected of it. A drafted token is worth the chance that it and all before
it are right; a mask, the chance that the check ends before it times the chance that the next draft
holds up to there. Rows are taken by falling worth, each with the rows it depends on: at most
`max_rows`, or as many as bring the most tokens for their cost in seconds.

Pure, standard library only. It sees no token, only the head's confidence, its record and the cost
of rows: a draft whose length or place depended on its own tokens would no longer be a sample of the
head's distribution, and verification would not be exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul

from sbd_core.config import Calibration, RowCosts

MEMORY = 0.98
"""Factor by which each new observation lowers the weight of earlier ones."""
PRIOR_WEIGHT = 2.0
"""Number of observations that the calibration counts as."""
CERTAIN = 0.99
"""Largest chance that a head's probability may stand for."""
NUM_ALTERNATIVES = 7
"""Largest number of alternatives to a drafted token."""


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """Record of how drafts fared in this decode; old observations fade towards the calibration.

    expected, right: sum of the head's probabilities of the checked draft tokens, and how many of
    them were right; others_expected, others_right: the same for alternatives. survivals: for each
    depth, (sum, number) of the head's probabilities that a new draft is right up to there. tokens,
    seconds: of the forward passes so far, by the table of costs.
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
        """The chance of each alternative to one token to be right."""
        start = self.calibration.alternatives
        scale = _scale(start, self.others_expected, self.others_right)
        return [min(CERTAIN, probability * scale) for probability in probabilities]

    def survival(self, length: int) -> list[float]:
        """The chances that a future draft is right up to its token 1, 2, ..., `length`."""
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
        """The record after reading a block. probabilities: of all tokens that it might draft."""
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
        """The record after a forward pass.

        checked: the head's probabilities of the drafted tokens up to the first wrong one; num_right
        of them were right. others: the head's probabilities of the alternatives that were reached.
        seconds: of the pass by the table of costs, for num_tokens tokens.
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
    """The rows of a forward pass besides the exact token and the draft that it checks.

    block_sizes: masks behind the draft's first 0, 1, 2, ... tokens; 0 is no block. alternatives:
    (place in the draft, rank from 0, masks behind it) of each one read. price: tokens that a row
    must bring; the next draft ends before a token worth less.
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
    """Number of tokens to draft: as long as the chance that all are right is above the price."""
    reached = accumulate(chances, mul)
    return next((i for i, chance in enumerate(reached) if chance <= price), len(chances))


@dataclass(slots=True)
class _Branch:
    """A place for masks: behind `place` drafted tokens, or an alternative to the next one."""

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
    alternatives: for each drafted token, the probabilities of others, likeliest first. num_sure:
    leading draft tokens that are taken as right. max_rows: of the pass; None by
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
"""(minus the worth per row, branch, masks of the branch with it, rows that it adds)."""


def _within(units: Sequence[Unit], room: int) -> tuple[list[Unit], float]:
    """The units that fit, and the price: the worth of a row of the first unit that does not fit.

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
    """(masks, rows) of a unit cut to the room; no rows if too little of it is left.

    A single mask brings nothing; an alternative's own row does.
    """
    left = size - (rows - room)
    if left >= 2:
        return left, room
    return (0, 1) if rows > size and room > 0 else (0, 0)


def _by_cost(
    units: Sequence[Unit], base: int, record: DraftRecord, costs: RowCosts
) -> tuple[list[Unit], float]:
    """The leading units that bring the most for their cost, and the price of one of their rows."""
    start = costs.seconds(base)
    rate = max(1 / costs.seconds(1), record.tokens / record.seconds if record.seconds else 0.0)
    best, best_count, best_rows = 0.0, 0, 0
    total, rows = 0.0, 0
    for count, (worth, _, _, more) in enumerate(units, 1):
        total -= worth * more
        rows += more
        if base + rows > costs.points[-1][0]:
            break  # the cost of so many rows is not known
        net = total - rate * (costs.seconds(base + rows) - start)
        if net > best:
            best, best_count, best_rows = net, count, rows
    size = max(base + best_rows, 2)
    price = rate * (costs.seconds(size) - costs.seconds(1)) / (size - 1)
    return list(units[:best_count]), price


def _units(gains: Sequence[float], own: float | None) -> list[tuple[float, int, int]]:
    """(worth per row, rows, masks) of the steps by which a branch grows, by falling worth.

    Worth is what the step brings if the check ends there. The first mask stands where the check
    itself brings an exact token, so a branch has no mask or at least 2. own: the worth of an
    alternative's own row, None for a branch without one.
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
