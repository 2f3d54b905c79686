"""Verify's answers are NTP's, token for token or in distribution (law 9); its rows are bounded.

The distribution: chi-squared over whole answers of up to three tokens, against the products of
NTP's own probabilities. Every decode has its own fixed seed, so the outcome is the same each time.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, product
from operator import mul
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TopPLogitsWarper

from sbd_core import ArgumentError, DecodeConfig, Trace, generate
from sbd_core.config import Calibration
from sbd_core.decoding import verify
from sbd_core.decoding.state import DecodingState
from sbd_core.decoding.verify_rows import RowPlan, chances_of, draft_length, plan_rows
from sbd_core.models.logits_processors import LogitsRules, with_processors
from tests.core.decoding.doubles import chance_model, penalised, used_alternative
from tests.scripted import ScriptedModel

CASES = Path(__file__).with_name("row_plans.json")
ROWS = (41, 17, 7, 3)


def planned(max_rows: int, **settings: Any) -> DecodeConfig:
    return DecodeConfig(strategy="verify", max_rows=max_rows, **settings)


def rows_of(trace: Trace) -> list[int]:
    """Rows of each forward pass, the prompt's counted as one."""
    return [
        (event.num_causal if event.index else 1)
        + event.block.size
        + sum(predraft.num_rows for predraft in event.predrafts)
        for event in trace.events
    ]


def num_rows(plan: RowPlan) -> int:
    others = sum(1 + size for _, _, size in plan.alternatives)
    return len(plan.block_sizes) + sum(plan.block_sizes) + others


def calibrated(draw: random.Random, length: int = 6) -> Calibration:
    """A calibration of a head whose drafts are right as often as chance says."""
    survival = accumulate([draw.random()] * length, mul)
    return Calibration(tuple(survival), draw.uniform(0.5, 1.2), draw.uniform(0.5, 1.2), 0.8)


def limits_of(draw: random.Random) -> tuple[list[float], dict[str, Any]]:
    """A draft's probabilities, and what a plan is asked with."""
    probabilities = [draw.random() for _ in range(draw.randint(0, 20))]
    limits: dict[str, Any] = {"block_size": draw.randint(1, 40), "num_left": draw.randint(1, 60)}
    limits["alternatives"] = [
        sorted((draw.random() * (1 - chance) for _ in range(draw.randrange(5))), reverse=True)
        for chance in probabilities[: draw.randint(0, 20)]
    ]
    return probabilities, limits


@pytest.mark.parametrize("max_rows", ROWS)
def test_any_plan_is_within_its_bounds(max_rows) -> None:
    draw = random.Random(7)
    for _ in range(200):
        calibration = calibrated(draw, draw.randint(1, 9))
        probabilities, limits = limits_of(draw)
        plan = plan_rows(probabilities, calibration, max_rows=max_rows, **limits)
        assert len(plan.block_sizes) == len(probabilities) + 1
        assert num_rows(plan) <= max(max_rows, len(probabilities) + 1)
        for end, size in enumerate(plan.block_sizes):
            assert size == 0 or 2 <= size <= min(limits["block_size"], limits["num_left"] - end)
        places = [(place, rank) for place, rank, _ in plan.alternatives]
        assert places == sorted(set(places))
        for place, rank, size in plan.alternatives:
            assert rank < len(limits["alternatives"][place])
            most = min(limits["block_size"], limits["num_left"] - place - 1)
            assert size == 0 or 2 <= size <= most
        assert plan == plan_rows(probabilities, calibration, max_rows=max_rows, **limits)


def worth_of(
    plan: RowPlan, calibration: Calibration, probabilities: list[float], **limits: Any
) -> float:
    """The tokens expected of a plan's rows, as the module says it in words."""
    chances = chances_of(probabilities, calibration.drafted)
    reached = [1.0, *accumulate(chances, mul)]
    worth = 0.0

    def masks(size: int, share: float = 1.0) -> float:
        return sum(share * calibration.survival_to(depth) for depth in range(max(0, size - 1)))

    left = [reached[i] * (1 - chance) for i, chance in enumerate(chances)]
    for place, rank, size in plan.alternatives:
        other = chances_of(limits["alternatives"][place], calibration.alternatives)[rank]
        worth += reached[place] * other * (1 + masks(size))
        left[place] -= reached[place] * other
    for ends, size in zip(left, plan.block_sizes, strict=False):
        worth += max(0.0, ends) * masks(size, calibration.rejected)
    return worth + reached[-1] * masks(plan.block_sizes[-1])


def every_plan(num_ends: int, others: list[tuple[int, int]], longest: int, room: int):
    """All plans of so many rows: a branch has 0, 2, 3, ... masks, an alternative may be absent."""
    sizes = [0, *range(2, longest + 1)]
    choices = [*[sizes] * num_ends, *[[-1, *sizes]] * len(others)]
    for chosen in product(*choices):
        ends, rest = chosen[:num_ends], chosen[num_ends:]
        taken = [(*place, size) for place, size in zip(others, rest, strict=True) if size >= 0]
        plan = RowPlan(tuple(ends), tuple(taken))
        if num_rows(plan) - num_ends <= room:
            yield plan


def test_no_other_set_of_rows_brings_more_than_a_little_more() -> None:
    """Compares with all sets of rows of small trees that hold what they hang on."""
    draw = random.Random(5)
    shortfalls = []
    for _ in range(40):
        calibration = calibrated(draw, 3)
        probabilities = [draw.random() for _ in range(draw.randint(0, 2))]
        alternatives = [[(1 - chance) * draw.random()] for chance in probabilities]
        limits = {"block_size": 4, "num_left": 40, "alternatives": alternatives}
        others = [(place, 0) for place in range(len(probabilities))]
        for room in (2, 4, 7):
            rows = 1 + len(probabilities) + room
            plan = plan_rows(probabilities, calibration, max_rows=rows, **limits)
            own = worth_of(plan, calibration, probabilities, **limits)
            best = max(
                worth_of(each, calibration, probabilities, **limits)
                for each in every_plan(len(probabilities) + 1, others, 4, room)
            )
            assert own <= best + 1e-9
            shortfalls.append(best - own)
    assert max(shortfalls) < 0.5, "tokens"
    assert sum(shortfalls) / len(shortfalls) < 0.02


@pytest.mark.parametrize("case", json.loads(CASES.read_text()), ids=lambda case: case["name"])
def test_plans_are_those_that_the_browser_makes_too(case) -> None:
    """ui/web/tests/engine/verify_rows.test.ts reads the same cases."""
    calibration, asked = Calibration(**case["calibration"]), case["asked"]
    probabilities, max_rows = asked.pop("probabilities"), asked["max_rows"]
    length = draft_length(probabilities[asked["num_sure"] :], calibration, max_rows)
    plan = plan_rows(probabilities, calibration, **asked)
    assert length == case["draft_length"]
    assert list(plan.block_sizes) == case["block_sizes"]
    assert [list(each) for each in plan.alternatives] == case["alternatives"]


@pytest.mark.parametrize("max_rows", ROWS)
def test_every_pass_commits_a_token_and_feeds_no_more_rows_than_the_bound(max_rows) -> None:
    for seed in range(20):
        model = chance_model(seed, agreement=0.5, end_bias=(-9.0, -2.0)[seed % 2])
        sizes = {"max_new_tokens": 1 + 3 * seed, "block_size": 1 + seed % 17}
        decoded = generate(model, "abc", planned(max_rows, **sizes))
        assert all(event.committed for event in decoded.events)
        assert max(rows_of(decoded)) <= max_rows
        for event in decoded.events:
            assert sum(predraft.is_used for predraft in event.predrafts) <= 1
            assert all(p.is_used or not p.token_ids for p in event.predrafts)


def test_more_rows_take_fewer_passes() -> None:
    def passes(max_rows: int) -> int:
        config = DecodeConfig(strategy="verify", max_rows=max_rows, max_new_tokens=80)
        models = [chance_model(seed, agreement=0.5, end_bias=-99.0) for seed in range(6)]
        return sum(generate(model, "abc", config).num_forwards for model in models)

    counts = [passes(rows) for rows in (1, 2, 3, 7, 19, 47)]
    assert counts == sorted(counts, reverse=True)
    assert counts[:2] == [480, 480], "two rows hold no draft: a token a pass"
    assert counts[-1] < 0.55 * counts[0]


def with_second_guesses(seed: int) -> ScriptedModel:
    """A masked head whose first guess is always wrong and whose second guess is always right."""
    model = chance_model(seed, agreement=1.0, end_bias=-99.0)
    blocks = model.block_logits

    def block_logits(tokens: tuple[int, ...], block: tuple[int, ...]) -> list[list[float]]:
        rows = [list(row) for row in blocks(tokens, block)]
        for row in rows:
            second = sorted(range(2, len(row)), key=row.__getitem__)[-2]
            row[second] = max(row[1:]) + 0.5
        return rows

    model.block_logits = block_logits
    return model


def test_behind_an_alternative_that_is_right_the_draft_begins_with_what_its_row_gives() -> None:
    num_used = 0
    for seed in range(6):
        model, settings = with_second_guesses(seed), {"max_new_tokens": 60, "block_size": 4}
        wanted = generate(model, "abc", DecodeConfig(strategy="ntp", **settings))
        decoded = generate(model, "abc", planned(41, **settings))
        assert decoded.token_ids == wanted.token_ids
        assert decoded.num_forwards < 0.6 * wanted.num_forwards
        assert [each.token_id for event in decoded.events for each in event.hindsight] == list(
            decoded.token_ids
        )
        for before, event in pairwise(decoded.events):
            for predraft in event.predrafts:
                if not predraft.is_used or predraft.alternative is None:
                    continue
                num_used += 1
                *accepted, alternative = event.committed
                assert alternative == predraft.alternative != before.draft[len(accepted)]
                assert list(before.draft[: len(accepted)]) == accepted
                assert predraft.token_ids == event.draft
                assert event.draft, "its own row gives a token"
    assert num_used > 120


def test_the_token_behind_an_alternative_is_checked_as_its_row_may_be_rounded_otherwise() -> None:
    for seed in range(6):
        model, settings = with_second_guesses(seed), {"max_new_tokens": 60, "block_size": 4}
        wanted = generate(model, "abc", DecodeConfig(strategy="ntp", **settings))
        forward_batch = model.forward_batch

        def wrong(requests, forward_batch=forward_batch):
            given = forward_batch(requests)
            for request, logits in zip(requests, given, strict=True):
                row = request.num_causal_logits + len(request.block_ids)
                for block in request.predrafts:
                    if block.is_alternative:
                        logits[row] = -logits[row]
                    row += len(block.token_ids)
            return given

        model.forward_batch = wrong
        decoded = generate(model, "abc", planned(41, **settings))
        assert decoded.token_ids == wanted.token_ids
        assert used_alternative(decoded)


def test_a_plan_is_what_is_fed(monkeypatch) -> None:
    plans: list[RowPlan] = []

    def kept(*arguments: Any, **more: Any) -> RowPlan:
        plans.append(plan_rows(*arguments, **more))
        return plans[-1]

    monkeypatch.setattr(verify, "plan_rows", kept)
    model = chance_model(5, agreement=0.5, end_bias=-99.0)
    trace = generate(model, "abc", planned(41, max_new_tokens=60))
    for plan, event in zip(plans, trace.events, strict=False):
        own = [p.block.size for p in event.predrafts if p.alternative is None]
        assert [n for n in plan.block_sizes if n] == [n for n in (*own, event.block.size) if n]
        others = [p.block.size for p in event.predrafts if p.alternative is not None]
        assert [size for _, _, size in plan.alternatives] == others


def test_no_masks_are_fed_behind_a_drafted_end() -> None:
    model = chance_model(0, agreement=1.0, end_bias=2.0)
    trace = generate(model, "abc", planned(41, max_new_tokens=60))
    assert trace.token_ids[-1] in model.end_token_ids
    ends = [
        event
        for before, event in pairwise(trace.events)
        if before.draft[-1:] == (trace.token_ids[-1],)
    ]
    assert ends
    assert all(event.block.size == 0 for event in ends)


def test_events_say_where_branches_hang_and_which_was_used() -> None:
    model = chance_model(0, agreement=0.7, end_bias=-9.0)
    trace = generate(model, "abc", planned(41, max_new_tokens=40))
    assert any(predraft.is_used for event in trace.events for predraft in event.predrafts)
    start, draft = 0, ()
    for event in trace.events:
        num_accepted = len(event.committed) - 1
        for predraft in event.predrafts:
            place = predraft.block.start - start - (predraft.alternative is not None)
            assert 0 <= place < len(draft)
            assert predraft.block.stop <= 40
        used = [predraft for predraft in event.predrafts if predraft.is_used]
        if num_accepted < len(draft):
            assert event.draft == (used[0].token_ids if used else ())
        else:
            assert not used
        start, draft = start + len(event.committed), event.draft
    assert Trace.from_json(trace.to_json()) == trace


def test_a_calibration_that_is_none_is_refused() -> None:
    survivals = [("survival", value) for value in ((), (1.5,), 0.5)]
    for name, value in [*survivals, ("drafted", math.nan), ("alternatives", -1), ("least", 2)]:
        with pytest.raises(ArgumentError, match=rf"^{name}: "):
            Calibration(**{name: value})


MASK, END, A, B = range(4)
LENGTH = 3
NUM_DECODES = 2500
TEMPERATURE = 0.5
TOP_P = 0.6
PROMPT = (A,)

Tokens = tuple[int, ...]


def row_after(key: object, spread: float) -> list[float]:
    draw = random.Random(repr(key))
    return [draw.uniform(-spread, spread) for _ in range(4)]


def next_logits(tokens: Tokens) -> list[float]:
    return row_after(("causal", tokens), 0.3)


def block_logits(tokens: Tokens, block: Tokens) -> list[list[float]]:
    """Drafts that are often right and clearly biased."""
    return [row_after(("masked", tokens, offset), 0.6) for offset in range(len(block))]


def tiny_vocabulary() -> ScriptedModel:
    texts = ["<m>", "<eos>", "a", "b"]
    return ScriptedModel(texts=texts, next_logits=next_logits, block_logits=block_logits)


def shares(logits: Sequence[float]) -> dict[int, float]:
    """Softmax at TEMPERATURE without the mask token."""
    powers = {t: math.exp(value / TEMPERATURE) for t, value in enumerate(logits) if t != MASK}
    return {t: power / sum(powers.values()) for t, power in powers.items()}


def exact(chances: Callable[[Tokens], dict[int, float]]) -> dict[Tokens, float]:
    """Probability of every answer when each token is drawn from chances(answer so far)."""
    found: dict[Tokens, float] = {}
    growing: dict[Tokens, float] = {(): 1.0}
    while growing:
        answer, probability = growing.popitem()
        for token, share in chances(answer).items():
            longer = (*answer, token)
            is_whole = token == END or len(longer) == LENGTH
            (found if is_whole else growing)[longer] = probability * share
    return found


def chi_squared(counts: Counter[Tokens], expected: dict[Tokens, float]) -> tuple[float, float]:
    """(statistic, value that chance alone exceeds once in 10,000 times)."""
    total = sum(counts.values())
    statistic = sum(
        (counts[answer] - total * share) ** 2 / (total * share)
        for answer, share in expected.items()
    )
    degrees = len(expected) - 1
    spread = 2 / (9 * degrees)
    return statistic, degrees * (1 - spread + 3.719 * math.sqrt(spread)) ** 3


def sampled(model: ScriptedModel, max_rows: int, penalty: float) -> list[Trace]:
    config = planned(
        max_rows,
        block_size=3,
        max_new_tokens=LENGTH,
        temperature=TEMPERATURE,
        repetition_penalty=penalty,
        top_k_recorded=0,
    )
    return [generate(model, PROMPT, replace(config, seed=seed)) for seed in range(NUM_DECODES)]


def nucleus(chances: dict[int, float]) -> dict[int, float]:
    """The likeliest tokens that together have at least TOP_P, as transformers keeps them."""
    rest, kept = 0.0, dict[int, float]()
    for token, share in sorted(chances.items(), key=lambda item: item[1]):
        rest += share
        if rest > 1 - TOP_P:
            kept[token] = share
    return {token: share / sum(kept.values()) for token, share in kept.items()}


def test_a_draft_has_the_distributions_that_its_tokens_were_drawn_from() -> None:
    """Drawn row by row with a penalty; top-p, were it applied twice, would cut twice."""
    model, penalty = tiny_vocabulary(), 1.3
    warpers = [TopPLogitsWarper(TOP_P)]
    model.compute_logit_stats = with_processors(LogitsRules(1.0, [], 1.0, [], warpers))
    config = DecodeConfig(
        strategy="verify", temperature=TEMPERATURE, repetition_penalty=penalty, top_k_recorded=0
    )
    state = DecodingState(model, model.new_caches(1)[0], PROMPT, config)
    state.request(PROMPT, (MASK,) * 4, 1)
    logits = torch.randn(4, 12, generator=torch.Generator().manual_seed(0))
    stats, chosen = state.draft(logits.clone(), 0, 4, [B], is_recorded=False)
    assert stats.distribution is not None
    before = [*PROMPT]
    for own, found, token in zip(logits.tolist(), stats.distribution, chosen, strict=True):
        expected = nucleus(shares(penalised(own, before, penalty)))
        assert [expected.get(i, 0) for i in range(12)] == pytest.approx(found.tolist(), abs=1e-6)
        assert token in expected or token == B
        before.append(token)


@pytest.mark.parametrize(("max_rows", "penalty"), [(41, 1.0), (7, 1.0), (3, 1.0), (7, 1.3)])
def test_answers_have_the_distribution_of_ntp(max_rows, penalty) -> None:
    """Planning must not look at what was drawn: drafts of one length give the same."""
    model = tiny_vocabulary()
    if penalty != 1:
        model.next_logits = lambda tokens: [2 + value for value in next_logits(tokens)]
        model.block_logits = lambda tokens, block: [
            [2 + value for value in row] for row in block_logits(tokens, block)
        ]
    traces = sampled(model, max_rows, penalty)

    def of_ntp(answer: Tokens) -> dict[int, float]:
        text = (*PROMPT, *answer)
        return shares(penalised(model.next_logits(text), text, penalty))

    expected, counts = exact(of_ntp), Counter(trace.token_ids for trace in traces)
    assert sum(expected.values()) == pytest.approx(1)
    assert set(counts) <= set(expected)
    statistic, limit = chi_squared(counts, expected)
    assert statistic < limit
    if penalty == 1:
        assert min(expected.values()) * NUM_DECODES > 5
        used = [p for t in traces for e in t.events for p in e.predrafts if p.is_used]
        assert max_rows == 3 or sum(bool(p.token_ids) for p in used) > NUM_DECODES / 20
    num_tokens = sum(trace.num_tokens for trace in traces)
    assert sum(trace.num_forwards for trace in traces) < 0.9 * num_tokens
