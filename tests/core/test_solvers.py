"""Law 5: every rule against its definition, searched by brute force.

Measures are whole multiples of 1/64: their sums are exact, so ties and sums that meet gamma
exactly are real and not a matter of rounding.
"""

import random
from functools import partial
from itertools import combinations

import pytest
import torch

from sbd_core.errors import ArgumentError
from sbd_core.sampling import Candidates, ConfidenceScores
from sbd_core.solvers import (
    SOLVERS,
    CausalFirst,
    ConfidenceThreshold,
    EntropyBound,
    EntropyBoundByConfidence,
    EntropyBoundByMargin,
    EntropyBoundFromLeft,
    EntropyThreshold,
    Factor,
    LeftToRight,
    Random,
    TopK,
    reveal_order,
    reveal_order_from_scores,
    select,
)

GRID = 64
NUM_CASES = 150


def make(entropy, probability=None, margin=None) -> Candidates:
    size = len(entropy)
    return Candidates(
        token_ids=torch.zeros(size, dtype=torch.long),
        probability=torch.tensor(probability or [0.5] * size),
        margin=torch.tensor(margin or [0.25] * size),
        entropy=torch.tensor(entropy),
    )


def cases(seed: int, count: int = NUM_CASES, largest: int = 9):
    """(candidates, is_masked) with ties and zeros, some positions already known."""
    draw = random.Random(seed)
    for _ in range(count):
        size = draw.randint(1, largest)
        top = draw.choice([2, 8, 64, 200])
        entropy = [draw.randint(0, top) / GRID for _ in range(size)]
        probability = [draw.randint(1, GRID) / GRID for _ in range(size)]
        margin = [draw.randint(0, GRID) / GRID for _ in range(size)]
        is_masked = [draw.random() < 0.7 for _ in range(size)]
        is_masked[draw.randrange(size)] = True
        yield make(entropy, probability, margin), torch.tensor(is_masked), draw


def masked_in(is_masked: torch.Tensor) -> list[int]:
    return [i for i, flag in enumerate(is_masked.tolist()) if flag]


def sorted_by(values, positions) -> list[int]:
    """Ascending, equal ones left to right, by picking the least again and again."""
    left, order = list(positions), []
    while left:
        best = left[0]
        for position in left[1:]:
            if values[position] < values[best]:
                best = position
        order.append(best)
        left.remove(best)
    return order


def bounds_for(draw: random.Random, entropies: list[float]) -> list[float]:
    """Gammas between, and exactly at, sums of entropies."""
    some = draw.sample(entropies, draw.randint(0, len(entropies)))
    return [0.0, sum(some), sum(some) + 1 / 128, draw.randint(0, 300) / GRID, 1e9]


def limits_for(stop: str, draw: random.Random, entropies, tops) -> list[float]:
    """Limits between, and exactly at, the values that a stop compares."""
    if stop == "count":
        return [1, draw.randint(1, 4), draw.randint(1, 10)]
    if stop == "threshold":
        return [0.0, 1.0, tops[0], draw.choice(tops), draw.randint(0, GRID) / GRID]
    if stop == "factor":
        return [0.0, 0.5, 1.0, draw.randint(0, 400) / GRID, 100.0]
    if stop == "each":
        return [0.0, entropies[0], draw.choice(entropies), draw.randint(0, 200) / GRID, 1e9]
    return bounds_for(draw, entropies)


def leftmost_then_entropy(scores, masked) -> list[int]:
    return [masked[0], *sorted_by(scores.entropy, masked[1:])]


RANKINGS = {
    "entropy": lambda scores, masked: sorted_by(scores.entropy, masked),
    "confidence": lambda scores, masked: sorted_by([-x for x in scores.probability], masked),
    "margin": lambda scores, masked: sorted_by([-x for x in scores.margin], masked),
    "left": lambda scores, masked: masked,
    "left, entropy": leftmost_then_entropy,
}
# Whether a prefix of the order keeps to the limit, from its entropies, its top probabilities.
STOPS = {
    "all but the largest": lambda entropies, _, gamma: sum(entropies) - max(entropies) <= gamma,
    "all but the leftmost": lambda entropies, _, gamma: sum(entropies[1:]) <= gamma,
    "each": lambda entropies, _, gamma: max(entropies) < gamma,
    "threshold": lambda _, tops, tau: min(tops) >= tau,
    "factor": lambda _, tops, factor: all((n + 2) * (1 - t) < factor for n, t in enumerate(tops)),
    "count": lambda entropies, _, k: len(entropies) <= k,
}
LAWS = [
    (EntropyBound, "entropy", "all but the largest"),
    (EntropyBoundByConfidence, "confidence", "all but the largest"),
    (EntropyBoundByMargin, "margin", "all but the largest"),
    (EntropyBoundFromLeft, "left, entropy", "all but the leftmost"),
    (CausalFirst, "left", "all but the leftmost"),
    (EntropyThreshold, "entropy", "each"),
    (ConfidenceThreshold, "confidence", "threshold"),
    (Factor, "confidence", "factor"),
    (TopK, "confidence", "count"),
    (partial(TopK, by="entropy"), "entropy", "count"),
    (partial(TopK, by="margin"), "margin", "count"),
    (LeftToRight, "left", "count"),
]


@pytest.mark.parametrize(("rule", "ranking", "stop"), LAWS)
def test_a_rule_reveals_the_longest_prefix_of_its_order_within_its_limit_or_one(
    rule, ranking, stop
) -> None:
    counts = {"one": 0, "some": 0, "all": 0}
    for candidates, is_masked, draw in cases(1):
        masked = masked_in(is_masked)
        scores = ConfidenceScores(
            *(getattr(candidates, name).tolist() for name in ("probability", "margin", "entropy"))
        )
        order = RANKINGS[ranking](scores, masked)
        entropies = [scores.entropy[i] for i in order]
        tops = [scores.probability[i] for i in order]
        for limit in limits_for(stop, draw, entropies, tops):
            fits = (
                n for n in range(len(order), 0, -1) if STOPS[stop](entropies[:n], tops[:n], limit)
            )
            found = reveal_order(rule(limit), candidates, is_masked)
            assert found == order[: next(fits, 1)]
            counts["one" if len(found) == 1 else "all" if len(found) == len(order) else "some"] += 1
    assert min(counts.values()) > NUM_CASES // 3


def test_every_rule_but_random_has_a_law() -> None:
    assert {getattr(rule, "func", rule) for rule, *_ in LAWS} == {*SOLVERS.values()} - {Random}


def test_entropy_bound_reveals_as_many_as_any_subset_may() -> None:
    """Eq. 8 as a search over all subsets: sum of H minus the largest H at most gamma."""
    for candidates, is_masked, draw in cases(2, count=60, largest=7):
        entropies, masked = candidates.entropy.tolist(), masked_in(is_masked)
        for gamma in bounds_for(draw, [entropies[i] for i in masked]):
            best = max(
                size
                for size in range(1, len(masked) + 1)
                for some in combinations([entropies[i] for i in masked], size)
                if sum(some) - max(some) <= gamma
            )
            found = select(EntropyBound(gamma=gamma), candidates, is_masked)
            assert int(found.sum()) == best


def test_random_draws_every_subset_of_k_equally_often() -> None:
    generator = torch.Generator().manual_seed(0)
    is_masked = torch.tensor([True, False, True, True, True])
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        found = reveal_order(Random(k=2), make([0.1] * 5), is_masked, generator)
        pair = tuple(sorted(found))
        counts[pair] = counts.get(pair, 0) + 1
    assert set(counts) == set(combinations([0, 2, 3, 4], 2))
    assert all(count == pytest.approx(1000, abs=130) for count in counts.values())


@pytest.mark.parametrize("rule", SOLVERS.values())
def test_a_rule_is_pure_and_reveals_masked_positions_at_least_one_each_once(rule) -> None:
    for candidates, is_masked, _ in cases(9, count=60):
        fields = ("token_ids", "probability", "margin", "entropy")
        given = [is_masked, *(getattr(candidates, name) for name in fields)]
        before = [each.clone() for each in given]
        first, again = (torch.Generator().manual_seed(3) for _ in range(2))
        order = reveal_order(rule(), candidates, is_masked, first)
        assert order
        assert len(set(order)) == len(order)
        assert set(order) <= set(masked_in(is_masked))
        chosen = select(rule(), candidates, is_masked, again)
        assert (chosen.dtype, masked_in(chosen)) == (torch.bool, sorted(order))
        assert all(map(torch.equal, given, before))
        if rule is not Random:
            assert torch.equal(first.get_state(), torch.Generator().manual_seed(3).get_state())


@pytest.mark.parametrize("rule", [*(rule() for rule in SOLVERS.values()), TopK(by="margin")])
def test_a_rule_that_looks_at_margins_says_so(rule) -> None:
    scores = ConfidenceScores([0.5, 0.9], [0.1, 0.8] if rule.needs_margin else [], [0.7, 0.1])
    assert reveal_order_from_scores(rule, scores, [0, 1], torch.Generator())


ALL = torch.ones(4, dtype=torch.bool)


@pytest.mark.parametrize(
    ("argument", "solver", "is_masked"),
    [
        *(("is_masked", EntropyBound(), mask) for mask in (~ALL, ALL.long(), ALL[:3], ALL[None])),
        *(("solver", solver, ALL) for solver in (None, "entropy-bound", EntropyBound)),
    ],
)
def test_a_bad_mask_and_an_unknown_solver_are_named(argument, solver, is_masked) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        select(solver, make([0.1] * 4), is_masked)
