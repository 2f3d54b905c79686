# Written by sbd_core.hf.vendoring from sbd_core/decoding/row_plans.py; change that file instead.
"""How many rows a verifying forward pass feeds, and where: by expected tokens per cost.

A forward pass checks a draft of d tokens, which can end in d + 1 ways: 0 to d of them accepted. A
block of masks behind such an end is the next draft if the check ends there, so that no forward pass
drafts alone. At a token that may be rejected the forward pass can also read an alternative to it,
with masks behind that: if it is the right one, the next draft begins with the token that its own
row gives, which is as good as accepted. All of it is pure.
Nothing here sees a token: only how sure the head was, how many drafted tokens were accepted before,
and what rows cost (see drafts.py for why).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from operator import mul

from .config import RowCosts

MAX_ROWS = 47
"""Of a forward pass that reads one exact token; more bring no text faster that drafts are for."""
ONE_A_PASS = RowCosts(((1, 1.0),))
"""What a forward pass costs to whom only their number matters."""
MEMORY = 0.95
"""What an observation counts for when the next one comes."""
PRIOR, PRIOR_WEIGHT = 0.5, 2.0
"""The acceptance expected at first, and how many observations that is worth."""
SURENESS_SHARE = 0.2
"""Of the newest block in the mean of how sure the head is."""
FIRST_LENGTH = 7
"""Of the draft made while the prompt is read, at least."""
PROBE_SHARE = 0.02
"""Of next-token prediction's time: what may be spent on finding out whether drafts pay again."""
MAX_CREDIT = 4.0
GOOD_RATE = 0.8
"""Share of a good head's drafted tokens that are accepted. If even that would not pay, nothing is
spent on trying: more is rare, and trying costs every answer."""
NUM_ALTERNATIVES = 7
"""To a drafted token, at most."""
NEGLIGIBLE = 0.001
"""A gain too small to feed more rows for."""
SLOPE_ROWS = 4
"""Rows over which the cost of one more is averaged, as measured costs are uneven."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of the drafts so far, older ones counting less.

    checked and accepted: of a draft's first token, second token, ...; a token counts as checked if
    those before it were accepted, one that the head was too unsure of to draft as not accepted.
    expected and right: the head's probabilities of tokens that were checked, in sum, and how many
    of them were accepted; others_expected and others_right: of alternatives to them. sureness: the
    head's mean probability of a draft's first token, second token, ..., drafted or not. credit:
    forward passes of one row saved against next-token prediction, at most MAX_CREDIT, with
    PROBE_SHARE of every pass on top.
    """

    checked: tuple[float, ...] = ()
    accepted: tuple[float, ...] = ()
    expected: float = 0.0
    right: float = 0.0
    others_expected: float = 0.0
    others_right: float = 0.0
    sureness: tuple[float, ...] = ()
    credit: float = 0.0

    def after(
        self,
        probabilities: Sequence[float],
        num_accepted: int,
        asked_length: int,
        relative_cost: float,
        *,
        others_expected: float = 0.0,
        has_alternative: bool = False,
    ) -> "Acceptance":
        """With one more forward pass.

        probabilities: the head's, of each drafted token that it read. asked_length: how far that
        draft might have gone. relative_cost: of the pass, in passes of one row, less the tokens
        that were sure. others_expected: the head's probabilities of alternatives to tokens that
        were checked, in sum. has_alternative: whether one was right where the draft was not.
        """
        num_checked = min(num_accepted + 1, max(asked_length, len(probabilities)))
        checked, accepted = list(self.checked), list(self.accepted)
        for place in range(num_checked):
            if place == len(checked):
                checked.append(0.0)
                accepted.append(0.0)
            checked[place] = checked[place] * MEMORY + 1
            accepted[place] = accepted[place] * MEMORY + (place < num_accepted)
        memory = MEMORY if probabilities else 1.0
        saved = 1 + num_accepted - relative_cost
        return Acceptance(
            tuple(checked),
            tuple(accepted),
            self.expected * memory + sum(probabilities[:num_checked]),
            self.right * memory + num_accepted,
            self.others_expected * memory + others_expected,
            self.others_right * memory + has_alternative,
            self.sureness,
            min(self.credit + saved + PROBE_SHARE, MAX_CREDIT),
        )

    def having_seen(self, probabilities: Sequence[float]) -> "Acceptance":
        """With one more block: the head's probabilities of what might be drafted from it."""
        mean = list(self.sureness)
        for place, probability in enumerate(probabilities):
            if place == len(mean):
                mean.append(probability)
            mean[place] += (probability - mean[place]) * SURENESS_SHARE
        return replace(self, sureness=tuple(mean))

    def rates(self, length: int) -> list[float]:
        """The chance of each token of a new draft to be accepted once those before it are.

        Before any was checked, by how sure the head was there; where it was not asked, as before.
        """
        expected = self.chances(self.sureness)
        rates, prior = [], PRIOR
        for place in range(length):
            prior = expected[place] if place < len(expected) else prior
            is_known = place < len(self.checked)
            checked = self.checked[place] if is_known else 0.0
            accepted = self.accepted[place] if is_known else 0.0
            prior = (accepted + PRIOR_WEIGHT * prior) / (checked + PRIOR_WEIGHT)
            rates.append(prior)
        return rates

    def chances(self, probabilities: Sequence[float]) -> list[float]:
        """The same of drafted tokens, by how sure the head is of each and how right it was."""
        return _scaled(probabilities, self.right, self.expected)

    def chances_of_others(self, probabilities: Sequence[float]) -> list[float]:
        """The same of alternatives to one of them."""
        return _scaled(probabilities, self.others_right, self.others_expected)


def _scaled(probabilities: Sequence[float], right: float, expected: float) -> list[float]:
    scale = (right + PRIOR_WEIGHT) / (expected + PRIOR_WEIGHT)
    return [min(0.99, probability * scale) for probability in probabilities]


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What a forward pass feeds besides the exact tokens and the draft that it checks.

    block_sizes: masks behind the draft's first 0, 1, 2, ... tokens; 0 is no block. draft_length:
    how far its drafts go at most. threshold: a draft ends before the token whose chance to be
    reached and accepted is below this. alternatives: (place in the draft, rank from 0 on, masks
    behind it) of each that is read.
    """

    block_sizes: tuple[int, ...]
    draft_length: int
    threshold: float
    alternatives: tuple[tuple[int, int, int], ...] = ()

    @property
    def num_rows(self) -> int:
        """Rows of the forward pass, with one exact token."""
        alternatives = sum(1 + size for _, _, size in self.alternatives)
        return len(self.block_sizes) + sum(self.block_sizes) + alternatives


@dataclass(frozen=True, slots=True)
class _Shape:
    """Drafts of one length with blocks behind so many of their ends; rate: tokens per cost."""

    length: int
    num_ends: int
    num_rows: int
    rate: float


def plan_rows(
    acceptance: Acceptance,
    probabilities: Sequence[float],
    costs: RowCosts,
    *,
    block_size: int,
    num_left: int,
    alternatives: Sequence[Sequence[float]] = (),
    num_sure: int = 0,
) -> RowPlan:
    """The plan of the next forward pass, which checks a draft of tokens with `probabilities`.

    block_size: masks of a block at most. num_left: tokens the answer may still grow by.
    alternatives: of each drafted token, the probabilities of others, likeliest first. num_sure:
    drafted tokens, first in the draft, that are as good as accepted.
    """
    longest = max(0, min(block_size, num_left) - 1)
    shape = _best_shape(acceptance.rates(longest), costs)
    length, num_ends = shape.length, shape.num_ends
    later = shape.num_rows + SLOPE_ROWS
    slope = max(0.0, costs.seconds(later) - costs.seconds(shape.num_rows)) / SLOPE_ROWS
    threshold = shape.rate * slope
    may_pay = _may_pay(longest, costs)
    if may_pay and not acceptance.sureness:
        # The prompt is read now: beside its rows a few masks cost next to nothing, and they tell
        # how sure the head is.
        length, num_ends = min(longest, max(length, FIRST_LENGTH)), 1
    elif may_pay and not length and not probabilities and acceptance.credit >= _probe_cost(costs):
        length, num_ends, threshold = 1, 1, 0.0
    chances = [1.0] * num_sure + acceptance.chances(probabilities[num_sure:])
    ends = _end_chances(chances)
    likeliest = sorted(range(len(ends)), key=lambda end: -ends[end])[:num_ends]
    branches = [_Branch(end, None, ends[end]) for end in likeliest]
    branches += [
        _Branch(place, rank, reached * chance)
        for place, (own, reached) in enumerate(
            zip(alternatives, accumulate([1.0, *chances], mul), strict=False)
        )
        for rank, chance in enumerate(acceptance.chances_of_others(own))
    ]
    worth = threshold if acceptance.sureness else 0.0
    found = _branch_sizes(branches, acceptance.rates(length), MAX_ROWS - len(ends), worth, num_left)
    sizes, chosen = [0] * len(ends), []
    for branch, size in zip(branches, found, strict=True):
        if size and branch.rank is None:
            sizes[branch.place] = size
        elif size and branch.rank is not None:
            chosen.append((branch.place, branch.rank, size))
    return RowPlan(tuple(sizes), length, threshold, tuple(sorted(chosen)))


@dataclass(frozen=True, slots=True)
class _Branch:
    """Where masks may stand: behind `place` drafted tokens, and behind an alternative to the next
    one if a rank is given. chance: that the check ends there."""

    place: int
    rank: int | None
    chance: float

    def most_masks(self, num_left: int) -> int:
        """As many as the answer may still grow by behind it."""
        return num_left - self.place - (self.rank is not None)


def _branch_sizes(
    branches: Sequence[_Branch],
    rates: Sequence[float],
    room: int,
    worth: float,
    num_left: int,
) -> list[int]:
    """Masks of each branch: rows go where most tokens are expected of them, down to `worth` a row.

    rates: of the draft that a branch's masks make; see Acceptance.rates.
    """
    steps_of = {own: _steps(rates, own) for own in (0, 1)}
    wanted = sorted(
        (-branch.chance * rate, index, size)
        for index, branch in enumerate(branches)
        for rate, size in steps_of[branch.rank is not None]
    )
    sizes = [0] * len(branches)
    for value, index, size in wanted:
        branch = branches[index]
        size = min(size, branch.most_masks(num_left))
        own = branch.rank is not None and not sizes[index]
        num_rows = size - sizes[index] + own
        if -value > worth and size > max(1, sizes[index]) and num_rows <= room:
            sizes[index] = size
            room -= num_rows
    return sizes


def _steps(rates: Sequence[float], own: int) -> list[tuple[float, int]]:
    """(tokens a row, masks) by which a branch grows, falling, if the check is sure to end there.

    The first mask stands where the check brings an exact token, so a branch has 2 or none. own: the
    row and the token of an alternative.
    """
    gains = list(accumulate(accumulate(rates, mul), initial=0.0))
    steps: list[tuple[float, int]] = []
    size, gain, rows = 0, 0.0, 0
    while size <= len(rates) and len(rates):
        steps.append(
            max(
                ((gains[to - 1] + own - gain) / (to + own - rows), to)
                for to in range(max(2, size + 1), len(rates) + 2)
            )
        )
        size = steps[-1][1]
        gain, rows = gains[size - 1] + own, size + own
    return steps


@lru_cache
def _may_pay(longest: int, costs: RowCosts) -> bool:
    """Whether a good head's drafts would: costs alone decide whether drafts are tried at all."""
    return _best_shape([GOOD_RATE] * longest, costs).length > 0


def _best_shape(rates: Sequence[float], costs: RowCosts) -> _Shape:
    """The shape with most tokens per cost if every forward pass had it; of like ones the smallest.

    rates: the chance of each token of a draft, as long as it may be, once those before it hold.
    Where the check ends without a block behind it, the next forward pass has nothing to check and
    one block. Shape 0, 0 is next-token prediction.
    """
    best = _Shape(0, 0, 1, 1 / costs.seconds(1))
    for length in range(1, len(rates) + 1):
        tokens = 1 + sum(accumulate(rates[:length], mul))
        ends = sorted(_end_chances(rates[:length]), reverse=True)
        without_draft = costs.seconds(2 + length)
        uncovered = 1.0
        for num_ends in range(1, length + 2):
            num_rows = 1 + length + num_ends * (length + 1)
            if num_rows > MAX_ROWS:
                break
            uncovered = max(0.0, uncovered - ends[num_ends - 1])
            cost = costs.seconds(num_rows) + uncovered * without_draft
            rate = (tokens + uncovered) / cost
            if rate > best.rate * (1 + NEGLIGIBLE):
                best = _Shape(length, num_ends, num_rows, rate)
    return best


def _end_chances(rates: Sequence[float]) -> list[float]:
    """How likely a check of a draft ends behind its first 0, 1, 2, ... tokens."""
    reached = [1.0, *accumulate(rates, mul)]
    return [*(now * (1 - rate) for now, rate in zip(reached, rates, strict=False)), reached[-1]]


def _probe_cost(costs: RowCosts) -> float:
    """What a block of two masks, and then the token that it drafts, cost in passes of one row."""
    return (costs.seconds(3) + costs.seconds(2)) / costs.seconds(1) - 2
