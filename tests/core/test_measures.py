"""What the engine reads off logits is what Candidates says."""

import math
from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch
from torch.overrides import TorchFunctionMode

from sbd_core.config import DecodeConfig, StrategyName
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.sampling import Candidates, LogitStats, LogitStatsSpec, compute_logit_stats

INF = math.inf
ALL = LogitStatsSpec(num_top=5, has_entropy=True, has_margin=True)


@pytest.fixture
def measure() -> Callable[[torch.Tensor, LogitStatsSpec], LogitStats]:
    """All rows of some logits."""
    return lambda logits, spec: compute_logit_stats(logits, 0, len(logits), spec)


def drawn(rows: int, vocabulary: int, spread: float) -> torch.Tensor:
    return spread * torch.randn(rows, vocabulary, generator=torch.Generator().manual_seed(rows))


def check(found: LogitStats, logits: torch.Tensor) -> None:
    expected = Candidates.from_logits(logits)
    assert found.best_ids == expected.token_ids.tolist()
    for name in ("probability", "margin", "entropy"):
        values = getattr(expected, name).tolist()
        # Sums of thousands of terms in fp32 on either side.
        assert getattr(found, name) == pytest.approx(values, rel=3e-6, abs=1e-6), name
    top = expected.distribution.topk(min(5, logits.shape[1]), dim=-1).values
    for ids, shares, row, best in zip(
        found.top_ids, found.top_probabilities, expected.distribution, top, strict=True
    ):
        assert shares == pytest.approx(best.tolist(), rel=3e-6, abs=1e-7)
        assert row[ids].tolist() == pytest.approx(shares, rel=3e-6, abs=1e-7)
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("vocabulary", [1, 2, 16, 65, 5003])
@pytest.mark.parametrize("spread", [0.1, 3.0, 1e4])
def test_measures_are_those_of_the_candidates(measure, vocabulary, spread) -> None:
    for rows in (1, 7):
        logits = drawn(rows, vocabulary, spread)
        check(measure(logits.clone(), ALL), logits)


def test_tokens_with_minus_infinity_have_no_share_wherever_they_stand(measure) -> None:
    logits = drawn(6, 40, 2.0)
    logits[0, :20] = -INF
    logits[1, 20:] = -INF
    logits[2, 1:] = -INF
    logits[3, :-1] = -INF
    logits[4, ::2] = -INF
    check(measure(logits.clone(), ALL), logits)
    certain = measure(logits[2:4].clone(), ALL)
    assert certain.entropy == [0.0, 0.0]
    assert certain.probability == certain.margin == [1.0, 1.0]


def test_the_first_of_equals_is_best(measure) -> None:
    rows = torch.tensor([[0.0] * 70, [-1.0] * 35 + [2.0] * 35, [3.0, *[-1.0] * 68, 3.0]])
    found = measure(rows.clone(), ALL)
    assert found.best_ids == [0, 35, 0]
    assert found.margin == [0.0, 0.0, 0.0]
    check(found, rows)


def test_a_nearly_certain_row_keeps_its_small_entropy(measure) -> None:
    """What decides the order of reveals: fp32 steps of 6e-8 would make most of these equal."""
    logits = torch.zeros(1, 3)
    logits[0, 1:] = -14.0
    share = 2 * math.exp(-14)
    expected = share + share * 14
    [entropy] = measure(logits, ALL).entropy
    assert entropy == pytest.approx(expected, rel=0.02)


def test_the_forbidden_token_is_never_listed_with_a_share(measure) -> None:
    logits = drawn(4, 20, 1.0)
    logits[:, 3] = 50.0
    without = logits.clone()
    without[:, 3] = -INF
    found = measure(
        logits, LogitStatsSpec(forbidden_id=3, num_top=5, has_entropy=True, has_margin=True)
    )
    check(found, without)
    assert torch.equal(logits, without), "the logits are to be what was measured"


@pytest.mark.parametrize("bad", [math.nan, INF])
@pytest.mark.parametrize("place", [0, 3, 64, 199])
def test_logits_that_are_no_numbers_are_refused_wherever_they_stand(measure, bad, place) -> None:
    for forbidden_id in (None, 3):
        logits = drawn(3, 200, 1.0)
        logits[:, 0] = 90.0
        logits[1, place] = bad
        with pytest.raises(ArgumentError, match=r"^logits: must be finite or -inf"):
            measure(logits, LogitStatsSpec(forbidden_id=forbidden_id))


def test_a_row_without_a_token_is_refused(measure) -> None:
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(torch.full((2, 30), -INF), ALL)
    only = torch.full((1, 30), -INF)
    only[0, 3] = 1.0
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(only, LogitStatsSpec(forbidden_id=3))
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(torch.zeros(2, 0), ALL)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 4.0])
def test_shares_are_those_of_the_softmax_for_any_token(measure, temperature) -> None:
    logits = drawn(30, 25, 2.0)
    logits[:, 7] = -INF
    expected = Candidates.from_logits(logits, temperature, torch.Generator()).distribution
    found = measure(logits.clone(), LogitStatsSpec(temperature=temperature))
    ids = [row % 25 for row in range(30)]
    shares = [expected[row, token].item() for row, token in enumerate(ids)]
    assert found.token_probabilities(ids) == pytest.approx(shares, rel=1e-5)
    assert found.token_probabilities(found.best_ids) == found.probability
    some = found.rows(4, 9)
    assert some.token_probabilities(ids[4:9]) == pytest.approx(shares[4:9], rel=1e-5)
    assert (some.distribution is None) == (temperature == 0)


def test_tokens_are_drawn_as_candidates_draws_them(measure) -> None:
    logits = drawn(50, 9, 1.0)
    found = measure(logits.clone(), LogitStatsSpec(temperature=0.8))
    drawn_ids = found.sample(torch.Generator().manual_seed(4))
    candidates = Candidates.from_logits(logits, 0.8, torch.Generator().manual_seed(4))
    assert drawn_ids == candidates.token_ids.tolist()
    still = measure(logits, LogitStatsSpec())
    assert still.sample(torch.Generator()) == still.best_ids


def test_rows_before_the_first_and_behind_the_last_are_left_alone() -> None:
    logits = drawn(9, 30, 2.0)
    logits[0], logits[8] = math.nan, INF
    before = logits.clone()
    found = compute_logit_stats(
        logits,
        2,
        7,
        LogitStatsSpec(forbidden_id=4, num_top=5, has_entropy=True, has_margin=True),
    )
    assert torch.equal(logits[7:], before[7:])
    assert torch.equal(logits[1], before[1])
    assert logits[2:7, 4].tolist() == [-INF] * 5
    check(found, logits[2:7])
    other = [(best + 1) % 4 for best in found.best_ids]
    whole = compute_logit_stats(logits[2:7].clone(), 0, 5, LogitStatsSpec())
    assert found.token_probabilities(other) == pytest.approx(
        whole.token_probabilities(other), rel=1e-5
    )
    assert found.rows(1, 3).token_probabilities(other[1:3]) == found.token_probabilities(other)[1:3]


class Fetched(TorchFunctionMode):
    """The shapes of the tensors that are read off their device."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        to_cpu = name == "to" and "cpu" in map(str, args[1:])
        if to_cpu or name in ("tolist", "item", "cpu", "numpy", "__array__"):
            self.shapes.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("strategy", get_args(StrategyName))
def test_no_row_of_logits_leaves_the_device(nano, strategy) -> None:
    with Fetched() as fetched:
        trace = generate(nano, "2 + 2", DecodeConfig(strategy=strategy, max_new_tokens=24))
    assert len(fetched.shapes) >= trace.num_forwards
    assert not [shape for shape in fetched.shapes if nano.vocabulary_size in shape]
