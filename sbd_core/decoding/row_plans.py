"""How many rows a verifying forward pass feeds, and where: by expected tokens per cost.

A forward pass checks a draft of d tokens, which can end in d + 1 ways: 0 to d of them accepted. A
block of masks behind such an end is the next draft if the check ends there, so that no forward pass
drafts alone. All of it is pure. Nothing here sees a token: only how sure the head was, how many
drafted tokens were accepted before, and what rows cost (see drafts.py for why).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul

from sbd_core.config import RowCosts

MAX_ROWS = 32
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
    of them were accepted. sureness: the head's mean probability of a draft's first token, second
    token, ..., drafted or not. credit: forward passes of one row saved against next-token
    prediction, at most MAX_CREDIT, with PROBE_SHARE of every pass on top.
    """

    checked: tuple[float, ...] = ()
    accepted: tuple[float, ...] = ()
    expected: float = 0.0
    right: float = 0.0
    sureness: tuple[float, ...] = ()
    credit: float = 0.0

    def after(
        self,
        probabilities: Sequence[float],
        num_accepted: int,
        asked_length: int,
        relative_cost: float,
    ) -> "Acceptance":
        """With one more forward pass.

        probabilities: the head's, of each drafted token that it read. asked_length: how far that
        draft might have gone. relative_cost: of the pass, in passes of one row.
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
        scale = (self.right + PRIOR_WEIGHT) / (self.expected + PRIOR_WEIGHT)
        return [min(0.99, probability * scale) for probability in probabilities]


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What a forward pass feeds besides the exact tokens and the draft that it checks.

    block_sizes: masks behind the draft's first 0, 1, 2, ... tokens; 0 is no block. draft_length:
    how far its drafts go at most. threshold: a draft ends before the token whose chance to be
    reached and accepted is below this.
    """

    block_sizes: tuple[int, ...]
    draft_length: int
    threshold: float


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
) -> RowPlan:
    """The plan of the next forward pass, which checks a draft of tokens with `probabilities`.

    block_size: masks of a block at most. num_left: tokens the answer may still grow by.
    """
    longest = max(0, min(block_size, num_left) - 1)
    shape = _best_shape(acceptance, costs, longest)
    length, num_ends = shape.length, shape.num_ends
    later = shape.num_rows + SLOPE_ROWS
    slope = max(0.0, costs.seconds(later) - costs.seconds(shape.num_rows)) / SLOPE_ROWS
    threshold = shape.rate * slope
    if not acceptance.sureness:
        # The prompt is read now: beside its rows a few masks cost next to nothing, and they tell
        # how sure the head is.
        length, num_ends = min(longest, max(length, FIRST_LENGTH)), 1
    elif not length and longest and acceptance.credit >= _probe_cost(costs):
        length, num_ends, threshold = 1, 1, 0.0
    sizes = [0] * (len(probabilities) + 1)
    room = MAX_ROWS - len(sizes)
    ends = _end_chances(acceptance.chances(probabilities))
    for end in sorted(range(len(sizes)), key=lambda end: -ends[end])[:num_ends]:
        size = min(length + 1, num_left - end, room)
        if size > 1:  # the first mask stands where the check brings an exact token
            sizes[end] = size
            room -= size
    return RowPlan(tuple(sizes), length, threshold)


def _best_shape(acceptance: Acceptance, costs: RowCosts, longest: int) -> _Shape:
    """The shape with most tokens per cost if every forward pass had it; of like ones the smallest.

    Where the check ends without a block behind it, the next forward pass has nothing to check and
    one block. Shape 0, 0 is next-token prediction.
    """
    best = _Shape(0, 0, 1, 1 / costs.seconds(1))
    rates = acceptance.rates(longest)
    for length in range(1, longest + 1):
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
