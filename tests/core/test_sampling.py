"""Logits to candidates: every measure against its definition, and what the engine reads off."""

import math
from dataclasses import replace
from typing import Any, get_args

import pytest
import torch
from torch.overrides import TorchFunctionMode

from sbd_core import sampling
from sbd_core.config import DecodeConfig, StrategyName
from sbd_core.decoding import repetition
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.models.sampler_head import NUM_CANDIDATES, SamplerHead, sampler_change
from sbd_core.sampling import Candidates, LogitStats, LogitStatsSpec, compute_logit_stats

INF = math.inf


def drawn(rows: int, vocabulary: int, seed: int = 0) -> torch.Tensor:
    return 3 * torch.randn(rows, vocabulary, generator=torch.Generator().manual_seed(seed))


def softmax(row: list[float], temperature: float) -> list[float]:
    """The softmax in plain floats; temperature 0 means the plain one."""
    scaled = [value / (temperature or 1.0) for value in row]
    top = max(scaled)
    powers = [math.exp(value - top) for value in scaled]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0, 4.0])
def test_measures_are_those_of_the_softmax_at_the_temperature(temperature) -> None:
    logits = drawn(6, 11)
    logits[2, 3:] = -INF
    found = Candidates.from_logits(logits, temperature, torch.Generator().manual_seed(0))
    for row, values in enumerate(logits.tolist()):
        shares = softmax(values, temperature)
        best, second = sorted(shares, reverse=True)[:2]
        entropy = -sum(share * math.log(share) for share in shares if share)
        assert found.probability[row].item() == pytest.approx(best, rel=1e-5)
        assert found.margin[row].item() == pytest.approx(best - second, abs=1e-6)
        assert found.entropy[row].item() == pytest.approx(entropy, rel=1e-4, abs=1e-6)
        assert found.distribution[row].tolist() == pytest.approx(shares, rel=1e-4)


def test_logits_one_rounding_apart_still_go_to_the_larger() -> None:
    """Their softmax is equal in fp32; argmax of the logits is what transformers takes."""
    low = torch.tensor(0.001)
    for best in range(20):
        row = low.repeat(20)
        row[best] = torch.nextafter(low, torch.tensor(1.0))
        assert row.softmax(dim=-1).unique().numel() == 1
        assert Candidates.from_logits(row[None]).token_ids.tolist() == [best]


@pytest.mark.parametrize("temperature", [1e-30, 1e-44, 5e-324])
def test_huge_logits_and_a_tiny_temperature_are_the_argmax(temperature) -> None:
    logits = torch.tensor([[3e38, -3e38, 1e38, 0.0], [-INF, -3e38, -2e38, -INF]])
    found = Candidates.from_logits(logits, temperature, torch.Generator().manual_seed(0))
    assert found.token_ids.tolist() == [0, 2]
    assert found.entropy.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("temperature", [1e30, 1e308])
def test_a_huge_temperature_is_uniform_over_what_is_allowed(temperature) -> None:
    found = Candidates.from_logits(
        torch.tensor([[5.0, -INF, 0.0]]), temperature, torch.Generator().manual_seed(0)
    )
    assert found.distribution[0].tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_sampling_draws_from_the_generator_alone() -> None:
    logits = drawn(30, 9)
    first, again, other = (
        Candidates.from_logits(logits, 1.0, torch.Generator().manual_seed(s)).token_ids
        for s in (3, 3, 4)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    state = torch.random.get_rng_state()
    Candidates.from_logits(logits, 1.0, torch.Generator().manual_seed(3))
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize(
    "logits",
    [
        torch.full((1, 3), -INF),
        torch.tensor([[0.0, math.nan]]),
        torch.tensor([[0.0, INF]]),
        torch.zeros(3),
        torch.zeros(2, 0),
        torch.zeros(1, 2, 3),
    ],
)
def test_logits_that_allow_nothing_are_refused(logits) -> None:
    with pytest.raises(ArgumentError) as caught:
        Candidates.from_logits(logits)
    assert caught.value.argument == "logits"


@pytest.mark.parametrize("temperature", [-0.1, math.nan, INF, True, "1", None])
def test_a_bad_temperature_is_refused(temperature) -> None:
    with pytest.raises(ArgumentError) as caught:
        Candidates.from_logits(torch.zeros(1, 2), temperature)
    assert caught.value.argument == "temperature"


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_sampler_head_weighs_the_likeliest_anew_by_the_hidden_state_behind_the_logits(noise):
    """noise: of logits, as quantized weights bring it."""
    embedding, head = drawn(9000, 48), drawn(9000, 48, 1) / 12
    into, out, hidden = drawn(32, 96, 2) / 20, drawn(48, 16, 3), drawn(1, 48, 4)[0]
    plain = head @ hidden
    row = plain + noise * drawn(1, 9000, 5)[0] / 3
    given = row.clone()
    SamplerHead(into, out, embedding, head).begin(row[None]).add_to(0, 77)
    changed = given.topk(NUM_CANDIDATES).indices
    wanted = given[changed] + head[changed] @ sampler_change(hidden, embedding[77], into, out)
    torch.testing.assert_close(row[changed], wanted, atol=1e-3 + 2 * noise, rtol=1e-3)
    assert (wanted - given[changed]).abs().max() > 1
    kept = torch.ones(9000, dtype=torch.bool).index_fill(0, changed, value=False)
    assert torch.equal(row[kept], given[kept])


ALL = LogitStatsSpec(num_top=5, has_entropy=True, has_margin=True)


def measure(logits: torch.Tensor, spec: LogitStatsSpec) -> LogitStats:
    """All rows of some logits."""
    return compute_logit_stats(logits, 0, len(logits), spec)


def spread_logits(rows: int, vocabulary: int, spread: float) -> torch.Tensor:
    return spread / 3 * drawn(rows, vocabulary, rows)


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
def test_measures_are_those_of_the_candidates(vocabulary, spread) -> None:
    for rows in (1, 7):
        logits = spread_logits(rows, vocabulary, spread)
        check(measure(logits.clone(), ALL), logits)


def test_tokens_with_minus_infinity_have_no_share_wherever_they_stand() -> None:
    logits = spread_logits(6, 40, 2.0)
    logits[0, :20] = -INF
    logits[1, 20:] = -INF
    logits[2, 1:] = -INF
    logits[3, :-1] = -INF
    logits[4, ::2] = -INF
    check(measure(logits.clone(), ALL), logits)
    certain = measure(logits[2:4].clone(), ALL)
    assert certain.entropy == [0.0, 0.0]
    assert certain.probability == certain.margin == [1.0, 1.0]


def test_the_first_of_equals_is_best() -> None:
    rows = torch.tensor([[0.0] * 70, [-1.0] * 35 + [2.0] * 35, [3.0, *[-1.0] * 68, 3.0]])
    found = measure(rows.clone(), ALL)
    assert found.best_ids == [0, 35, 0]
    assert found.margin == [0.0, 0.0, 0.0]
    check(found, rows)


def test_a_nearly_certain_row_keeps_its_small_entropy() -> None:
    """Entropies decide the order of reveals: fp32 steps of 6e-8 would make most of these equal."""
    logits = torch.zeros(1, 3)
    logits[0, 1:] = -14.0
    share = 2 * math.exp(-14)
    expected = share + share * 14
    [entropy] = measure(logits, ALL).entropy
    assert entropy == pytest.approx(expected, rel=0.02)


def test_the_forbidden_token_is_never_listed_with_a_share() -> None:
    logits = spread_logits(4, 20, 1.0)
    logits[:, 3] = 50.0
    without = logits.clone()
    without[:, 3] = -INF
    check(measure(logits, replace(ALL, forbidden_id=3)), without)
    assert torch.equal(logits, without), "the logits are to be what was measured"


@pytest.mark.parametrize("bad", [math.nan, INF])
@pytest.mark.parametrize("place", [0, 3, 64, 199])
def test_logits_that_are_no_numbers_are_refused_wherever_they_stand(bad, place) -> None:
    for forbidden_id in (None, 3):
        logits = spread_logits(3, 200, 1.0)
        logits[:, 0] = 90.0
        logits[1, place] = bad
        with pytest.raises(ArgumentError, match=r"^logits: must be finite or -inf"):
            measure(logits, LogitStatsSpec(forbidden_id=forbidden_id))


def test_a_row_without_a_token_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(torch.full((2, 30), -INF), ALL)
    only = torch.full((1, 30), -INF)
    only[0, 3] = 1.0
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(only, LogitStatsSpec(forbidden_id=3))
    with pytest.raises(ArgumentError, match=r"^logits: "):
        measure(torch.zeros(2, 0), ALL)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 4.0])
def test_shares_are_those_of_the_softmax_for_any_token(temperature) -> None:
    logits = spread_logits(30, 25, 2.0)
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


def test_rows_before_the_first_and_behind_the_last_are_left_alone() -> None:
    logits = spread_logits(9, 30, 2.0)
    logits[0], logits[8] = math.nan, INF
    before = logits.clone()
    found = compute_logit_stats(logits, 2, 7, replace(ALL, forbidden_id=4))
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
        self.num_lists = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        to_cpu = name == "to" and "cpu" in map(str, args[1:])
        if to_cpu or name in ("tolist", "item", "cpu", "numpy", "__array__"):
            self.shapes.append(tuple(args[0].shape))
            self.num_lists += name == "tolist"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("strategy", get_args(StrategyName))
def test_few_numbers_and_no_row_of_logits_leave_the_device(nano, strategy, monkeypatch) -> None:
    for module in (sampling, repetition):
        monkeypatch.setattr(module, "is_on_cpu", lambda _: False)
    with Fetched() as fetched:
        trace = generate(nano, "2 + 2", DecodeConfig(strategy=strategy, max_new_tokens=24))
    # One for the causal rows, one for a block's; hindsight on unlikely tokens takes another.
    most = {"ntp": 1, "sbd": 3, "verify": 2}[strategy]
    assert trace.num_forwards <= fetched.num_lists <= most * trace.num_forwards
    assert not [shape for shape in fetched.shapes if nano.vocabulary_size in shape]
