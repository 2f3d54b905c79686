"""Law 5: every rule against its definition, searched by brute force.

Measures are whole multiples of 1/64: their sums are exact, so ties and sums that meet gamma
exactly are real and not a matter of rounding.
"""

import random
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


def test_entropy_bound_is_the_longest_prefix_whose_all_but_last_sum_to_gamma() -> None:
    num_crossing = 0
    for candidates, is_masked, draw in cases(1):
        entropies, masked = candidates.entropy.tolist(), masked_in(is_masked)
        order = sorted_by(entropies, masked)
        for gamma in bounds_for(draw, [entropies[i] for i in masked]):
            in_order = [entropies[i] for i in order]
            sizes = [s for s in range(1, len(order) + 1) if sum(in_order[: s - 1]) <= gamma]
            found = reveal_order(EntropyBound(gamma=gamma), candidates, is_masked)
            assert found == order[: max(sizes)]
            num_crossing += sum(entropies[i] for i in found) > gamma
    assert num_crossing > NUM_CASES, "the token that crosses gamma was hardly ever tried"


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


@pytest.mark.parametrize(
    ("entropy", "gamma", "revealed"),
    [
        ([0.5, 0.25, 1.0], 0.0, [1]),
        ([0.5, 0.25, 1.0], 0.25, [1, 0]),
        ([0.5, 0.25, 1.0], 0.7499, [1, 0]),
        ([0.5, 0.25, 1.0], 0.75, [1, 0, 2]),
        ([0.0, 0.5, 0.0], 0.0, [0, 2, 1]),
        ([0.0, 0.5, 0.0, 0.5], 0.0, [0, 2, 1]),
        ([0.0, 0.0, 0.0], 0.0, [0, 1, 2]),
        ([0.25, 0.25, 0.25], 0.25, [0, 1]),
        ([9.0], 0.0, [0]),
    ],
)
def test_entropy_bound_by_hand(entropy, gamma, revealed) -> None:
    candidates = make(entropy)
    is_masked = torch.ones(len(entropy), dtype=torch.bool)
    assert reveal_order(EntropyBound(gamma=gamma), candidates, is_masked) == revealed


@pytest.mark.parametrize("rule", [EntropyBoundByConfidence, EntropyBoundByMargin])
def test_eq_18_is_the_longest_prefix_whose_sum_without_its_maximum_is_gamma(rule) -> None:
    num_unlike_eq8 = 0
    for candidates, is_masked, draw in cases(3):
        measure = candidates.probability if rule is EntropyBoundByConfidence else candidates.margin
        entropies, masked = candidates.entropy.tolist(), masked_in(is_masked)
        order = sorted_by([-value for value in measure.tolist()], masked)
        for gamma in bounds_for(draw, [entropies[i] for i in masked]):
            sizes = []
            for s in range(1, len(order) + 1):
                some = [entropies[i] for i in order[:s]]
                if sum(some) - max(some) <= gamma:
                    sizes.append(s)
            found = reveal_order(rule(gamma=gamma), candidates, is_masked)
            assert found == order[: max(sizes)]
            num_unlike_eq8 += found != reveal_order(EntropyBound(gamma), candidates, is_masked)
    assert num_unlike_eq8 > NUM_CASES


def test_the_bound_from_the_left_is_the_leftmost_and_the_most_others_that_sum_to_gamma() -> None:
    num_unsure = 0
    for candidates, is_masked, draw in cases(12):
        entropies, (leftmost, *others) = candidates.entropy.tolist(), masked_in(is_masked)
        order = sorted_by(entropies, others)
        for gamma in bounds_for(draw, [entropies[i] for i in [leftmost, *others]]):
            fitting = [
                n for n in range(len(order) + 1) if sum(entropies[i] for i in order[:n]) <= gamma
            ]
            found = reveal_order(EntropyBoundFromLeft(gamma=gamma), candidates, is_masked)
            assert found == [leftmost, *order[: max(fitting)]]
            some = [entropies[i] for i in found]
            assert sum(some) - max(some) <= gamma, "Eq. 18 holds as well"
            num_unsure += entropies[leftmost] > gamma
    assert num_unsure > NUM_CASES


def test_the_causal_token_comes_first_and_guesses_from_the_left_that_sum_to_gamma() -> None:
    num_stopped = 0
    for candidates, is_masked, draw in cases(13):
        entropies, masked = candidates.entropy.tolist(), masked_in(is_masked)
        for gamma in bounds_for(draw, [entropies[i] for i in masked]):
            fitting = [
                n
                for n in range(len(masked))
                if sum(entropies[i] for i in masked[1 : n + 1]) <= gamma
            ]
            found = reveal_order(CausalFirst(gamma=gamma), candidates, is_masked)
            assert found == masked[: 1 + max(fitting)]
            num_stopped += len(found) < len(masked)
    assert num_stopped > NUM_CASES


def test_entropy_threshold_takes_every_position_below_gamma_or_the_lowest() -> None:
    for candidates, is_masked, draw in cases(4):
        entropies, masked = candidates.entropy.tolist(), masked_in(is_masked)
        for gamma in [0.0, entropies[masked[0]], draw.randint(0, 200) / GRID]:
            below = {i for i in masked if entropies[i] < gamma}
            expected = below or set(sorted_by(entropies, masked)[:1])
            found = reveal_order(EntropyThreshold(gamma=gamma), candidates, is_masked)
            assert set(found) == expected
            assert found == sorted_by(entropies, found)


def test_confidence_threshold_takes_every_position_from_tau_or_the_highest() -> None:
    for candidates, is_masked, draw in cases(5):
        tops, masked = candidates.probability.tolist(), masked_in(is_masked)
        for tau in [0.0, 1.0, tops[masked[0]], draw.randint(0, GRID) / GRID]:
            above = {i for i in masked if tops[i] >= tau}
            expected = above or set(sorted_by([-top for top in tops], masked)[:1])
            found = reveal_order(ConfidenceThreshold(tau=tau), candidates, is_masked)
            assert set(found) == expected


def test_factor_goes_on_while_n_plus_1_times_doubt_stays_below_the_factor() -> None:
    lengths = set()
    for candidates, is_masked, draw in cases(6):
        tops = candidates.probability.tolist()
        order = sorted_by([-top for top in tops], masked_in(is_masked))
        for factor in [0.0, 0.5, 1.0, draw.randint(0, 400) / GRID, 100.0]:
            n = 0
            while n < len(order) and (n + 2) * (1 - tops[order[n]]) < factor:
                n += 1
            found = reveal_order(Factor(factor=factor), candidates, is_masked)
            assert found == order[: max(1, n)]
            lengths.add(len(found))
    assert lengths >= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("by", ["confidence", "entropy", "margin"])
def test_top_k_takes_the_k_best_by_its_measure(by) -> None:
    for candidates, is_masked, draw in cases(7):
        values = {
            "confidence": [-value for value in candidates.probability.tolist()],
            "entropy": candidates.entropy.tolist(),
            "margin": [-value for value in candidates.margin.tolist()],
        }[by]
        k = draw.randint(1, 10)
        expected = sorted_by(values, masked_in(is_masked))[:k]
        assert reveal_order(TopK(k=k, by=by), candidates, is_masked) == expected


def test_left_to_right_takes_the_first_k_masked_positions() -> None:
    for candidates, is_masked, draw in cases(8):
        k = draw.randint(1, 10)
        found = reveal_order(LeftToRight(k=k), candidates, is_masked)
        assert found == masked_in(is_masked)[:k]


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


def test_random_uses_the_generator_and_nothing_else() -> None:
    candidates, is_masked = make([0.1] * 12), torch.ones(12, dtype=torch.bool)
    state = torch.random.get_rng_state()
    first, again, other = (
        reveal_order(Random(k=5), candidates, is_masked, torch.Generator().manual_seed(s))
        for s in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("rule", SOLVERS.values())
def test_a_rule_reveals_masked_positions_at_least_one_each_once(rule) -> None:
    for candidates, is_masked, _ in cases(9, count=60):
        generator = torch.Generator().manual_seed(0)
        order = reveal_order(rule(), candidates, is_masked, generator)
        assert order
        assert len(set(order)) == len(order)
        assert set(order) <= set(masked_in(is_masked))
        chosen = select(rule(), candidates, is_masked, torch.Generator().manual_seed(0))
        assert (chosen.dtype, masked_in(chosen)) == (torch.bool, sorted(order))


@pytest.mark.parametrize("rule", SOLVERS.values())
def test_a_rule_is_pure(rule) -> None:
    for candidates, is_masked, _ in cases(10, count=20):
        fields = ("token_ids", "probability", "margin", "entropy")
        before = [getattr(candidates, name).clone() for name in fields]
        mask_before = is_masked.clone()
        generator = torch.Generator().manual_seed(3)
        first = select(rule(), candidates, is_masked, generator)
        second = select(rule(), candidates, is_masked, torch.Generator().manual_seed(3))
        assert torch.equal(first, second)
        assert torch.equal(is_masked, mask_before)
        for name, value in zip(fields, before, strict=True):
            assert torch.equal(getattr(candidates, name), value)
        if rule is not Random:
            assert torch.equal(generator.get_state(), torch.Generator().manual_seed(3).get_state())


@pytest.mark.parametrize("rule", [*(rule() for rule in SOLVERS.values()), TopK(by="margin")])
def test_a_rule_that_looks_at_margins_says_so(rule) -> None:
    scores = ConfidenceScores([0.5, 0.9], [0.1, 0.8] if rule.needs_margin else [], [0.7, 0.1])
    assert reveal_order_from_scores(rule, scores, [0, 1], torch.Generator())


@pytest.mark.parametrize(
    "is_masked",
    [
        torch.zeros(4, dtype=torch.bool),
        torch.ones(4, dtype=torch.long),
        torch.ones(3, dtype=torch.bool),
        torch.ones(1, 4, dtype=torch.bool),
    ],
)
def test_a_bad_mask_is_named(is_masked) -> None:
    with pytest.raises(ArgumentError) as caught:
        select(EntropyBound(), make([0.1] * 4), is_masked)
    assert caught.value.argument == "is_masked"


@pytest.mark.parametrize("solver", [None, "entropy-bound", EntropyBound])
def test_an_unknown_solver_is_refused_and_reveals_nothing(solver) -> None:
    with pytest.raises(ArgumentError) as caught:
        select(solver, make([0.1] * 4), torch.ones(4, dtype=torch.bool))
    assert caught.value.argument == "solver"
