"""Rows planned by expected tokens per cost: answers are NTP's, rows bounded, none spent in vain."""

import random
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest

from sbd_core import ArgumentError, DecodeConfig, Trace, generate
from sbd_core.config import RowCosts
from sbd_core.decoding import row_planners, row_plans
from sbd_core.decoding.drafts import Draft
from sbd_core.decoding.row_plans import (
    MAX_ROWS,
    ONE_A_PASS,
    PROBE_SHARE,
    Acceptance,
    RowPlan,
    plan_rows,
)
from tests.core.decoding.chance_models import chance_model
from tests.core.decoding.prompts import corpus_texts, random_ids
from tests.core.decoding.verify import test_verify_distribution as distribution
from tests.scripted import ScriptedModel

LINEAR = RowCosts(((1, 1.0), (48, 48.0)))
TWO_CORES = RowCosts(((1, 1.0), (25, 3.5), (48, 6.0)))
FREE = RowCosts(((1, 1.0), (48, 1.0)))
POLICIES: dict[str, dict[str, Any]] = {
    "fewest passes": {"row_policy": "fewest-passes"},
    "linear": {"row_policy": "fastest", "row_costs": LINEAR},
    "two cores": {"row_policy": "fastest", "row_costs": TWO_CORES},
    "free": {"row_policy": "fastest", "row_costs": FREE},
}


def planned(policy: str, **settings: Any) -> DecodeConfig:
    return DecodeConfig(strategy="verify", **POLICIES[policy], **{"max_new_tokens": 24, **settings})


def rows_of(trace: Trace) -> list[int]:
    """Rows of each forward pass, the prompt's counted as one."""
    return [
        (event.num_causal if event.index else 1)
        + event.block.size
        + sum(predraft.num_rows for predraft in event.predrafts)
        for event in trace.events
    ]


def learnt(share: float, count: int = 40, length: int = 6) -> Acceptance:
    """After drafts of which this share of tokens was accepted, each checked by itself."""
    draw, found = random.Random(3), Acceptance().having_seen([0.5] * length)
    for _ in range(count):
        accepted = next((i for i in range(length) if draw.random() >= share), length)
        found = found.after([0.5] * length, accepted, length, 1.0 + accepted)
    return found


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_verify_is_ntp_on_random_models(tiny, penalty) -> None:
    settings = {"repetition_penalty": penalty, "max_new_tokens": 24}
    for prompt in random_ids(4, tiny.vocabulary_size):
        wanted = generate(tiny, prompt, DecodeConfig(strategy="ntp", **settings))
        for policy, block_size in product(POLICIES, (2, 5)):
            found = generate(tiny, prompt, planned(policy, block_size=block_size, **settings))
            assert found.token_ids == wanted.token_ids


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("agreement", [0.0, 0.5, 0.9])
def test_every_pass_commits_a_token_and_feeds_no_more_rows_than_the_bound(
    policy, agreement
) -> None:
    for seed in range(30):
        model = chance_model(seed, agreement=agreement, end_bias=(-9.0, -2.0)[seed % 2])
        sizes = {"max_new_tokens": 1 + 3 * seed, "block_size": 1 + seed % 17}
        wanted = generate(model, "abc", DecodeConfig(strategy="ntp", **sizes))
        found = generate(model, "abc", planned(policy, **sizes))
        assert found.token_ids == wanted.token_ids
        assert all(event.committed for event in found.events)
        assert max(rows_of(found)) <= MAX_ROWS
        for event in found.events:
            assert sum(predraft.is_used for predraft in event.predrafts) <= 1
            assert all(p.is_used or not p.token_ids for p in event.predrafts)


@pytest.mark.parametrize("policy", POLICIES)
def test_any_plan_is_within_its_bounds(policy) -> None:
    costs = POLICIES[policy].get("row_costs", ONE_A_PASS)
    draw = random.Random(7)
    for _ in range(300):
        acceptance = learnt(draw.random(), draw.randrange(12), draw.randint(1, 9))
        probabilities = [draw.random() for _ in range(draw.randint(0, 20))]
        block_size, num_left = draw.randint(1, 40), draw.randint(1, 60)
        limits: dict[str, Any] = {"block_size": block_size, "num_left": num_left}
        limits["alternatives"] = [
            sorted((draw.random() * (1 - chance) for _ in range(draw.randrange(5))), reverse=True)
            for chance in probabilities[: draw.randint(0, 20)]
        ]
        plan = plan_rows(acceptance, probabilities, costs, **limits)
        assert len(plan.block_sizes) == len(probabilities) + 1
        assert plan.num_rows <= max(MAX_ROWS, len(probabilities) + 1)
        for end, size in enumerate(plan.block_sizes):
            assert size == 0 or 2 <= size <= min(block_size, num_left - end)
        places = [(place, rank) for place, rank, _ in plan.alternatives]
        assert places == sorted(set(places))
        for place, rank, size in plan.alternatives:
            assert rank < len(limits["alternatives"][place])
            assert 2 <= size <= min(block_size, num_left - place - 1)
        assert plan.draft_length < block_size
        assert plan == plan_rows(acceptance, probabilities, costs, **limits)


@pytest.mark.parametrize("costs", [FREE, ONE_A_PASS])
@pytest.mark.parametrize("share", [0.2, 0.4, 0.6])
def test_where_rows_are_free_it_drafts_at_every_end(costs, share) -> None:
    acceptance = learnt(share)
    plan = plan_rows(acceptance, [], costs, block_size=16, num_left=200)
    draft = [0.5] * plan.draft_length
    plan = plan_rows(acceptance, draft, costs, block_size=16, num_left=200)
    [rate, *_] = acceptance.chances(draft)
    likely = [rate**end for end in range(len(draft) + 1)]
    assert all(size for size, chance in zip(plan.block_sizes, likely, strict=True) if chance > 0.01)
    assert 3 <= max(plan.block_sizes) <= 6
    assert 18 <= len(plan.block_sizes) + sum(plan.block_sizes) <= MAX_ROWS


def test_no_pass_is_spent_on_drafting_alone() -> None:
    """After the first, every forward pass at 40 % has a draft to check, or had the chance."""
    events = []
    for seed in range(12):
        model = chance_model(seed, agreement=0.4, end_bias=-99.0)
        trace = generate(model, "abc", planned("fewest passes", max_new_tokens=150, block_size=16))
        events += trace.events[1:]
    assert sum(event.num_causal == 1 for event in events) <= len(events) / 18


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
    for seed in range(6):
        model, settings = with_second_guesses(seed), {"max_new_tokens": 60, "block_size": 4}
        wanted = generate(model, "abc", DecodeConfig(strategy="ntp", **settings))
        found = generate(model, "abc", planned("fewest passes", **settings))
        assert found.token_ids == wanted.token_ids
        assert found.num_forwards < 0.6 * wanted.num_forwards
        assert [each.token_id for event in found.events for each in event.hindsight] == list(
            found.token_ids
        )
        used = [
            (before, event, predraft)
            for before, event in pairwise(found.events)
            for predraft in event.predrafts
            if predraft.is_used and predraft.alternative is not None
        ]
        assert len(used) > 20
        for before, event, predraft in used:
            *accepted, alternative = event.committed
            assert alternative == predraft.alternative != before.draft[len(accepted)]
            assert list(before.draft[: len(accepted)]) == accepted
            assert predraft.token_ids == event.draft


def test_the_token_behind_an_alternative_is_checked_as_its_row_may_be_rounded_otherwise() -> None:
    for seed in range(6):
        model, settings = with_second_guesses(seed), {"max_new_tokens": 60, "block_size": 4}
        wanted = generate(model, "abc", DecodeConfig(strategy="ntp", **settings))
        forward_batch = model.forward_batch

        def wrong(requests, forward_batch=forward_batch):
            found = forward_batch(requests)
            for request, logits in zip(requests, found, strict=True):
                row = request.num_causal_logits + len(request.block_ids)
                for block in request.predrafts:
                    if block.is_alternative:
                        logits[row] = -logits[row]
                    row += len(block.token_ids)
            return found

        model.forward_batch = wrong
        found = generate(model, "abc", planned("fewest passes", **settings))
        assert found.token_ids == wanted.token_ids
        assert any(event.used_alternative for event in found.events)


def test_no_masks_stand_where_a_sure_token_would_be_rejected() -> None:
    draft = [1.0, 0.9, 0.8]
    plan = plan_rows(learnt(0.3), draft, ONE_A_PASS, block_size=4, num_left=60, num_sure=1)
    assert plan.block_sizes[0] == 0
    assert any(plan.block_sizes[1:])


def test_costs_given_as_lists_are_planned_by() -> None:
    costs = RowCosts([[1, 1.0], [48, 2.0]])
    assert plan_rows(Acceptance(), [], costs, block_size=4, num_left=60).num_rows > 1


def test_a_token_that_was_sure_teaches_nothing_of_the_head() -> None:
    config = planned("two cores", block_size=4)
    with_sure, without = (row_planners.RowsByCost(config, TWO_CORES) for _ in range(2))
    drafted = Draft([7, 8], [0.5, 0.25], None, [(), ()])
    for planner, draft in ((with_sure, drafted.behind(6)), (without, drafted)):
        planner.plan = RowPlan((0,) * (1 + len(draft.token_ids)), 2, 0.0)
        accepted = 1 + draft.num_sure
        planner.checked(draft, accepted, has_alternative=False, reads_prompt=True)
    kept, plain = with_sure._acceptance, without._acceptance
    assert kept == replace(plain, credit=plain.credit + 1)
    with_sure.checked(drafted.behind(6), 0, has_alternative=False, reads_prompt=True)
    assert with_sure._acceptance.checked == kept.checked


@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_alternatives_leave_the_answer_and_the_cache_alone(llama, penalty, monkeypatch) -> None:
    """The model read rows as planned; then each next pass reads what the cache lacks."""
    monkeypatch.setattr(row_plans, "MAX_ROWS", 40)
    settings = {"max_new_tokens": 40, "repetition_penalty": penalty}
    num_used = 0
    for prompt in random_ids(6, llama.vocabulary_size):
        wanted = generate(llama, prompt, DecodeConfig(strategy="ntp", **settings))
        found = generate(llama, prompt, planned("fewest passes", block_size=4, **settings))
        assert found.token_ids == wanted.token_ids
        for before, event in pairwise(found.events):
            used = [p for p in before.predrafts if p.is_used and p.alternative is not None]
            num_used += len(used)
            assert event.num_causal == 1 + len(before.draft)
    assert num_used


@pytest.mark.parametrize("agreement", [0.3, 0.5, 0.7])
def test_it_takes_fewer_passes_than_drafting_in_turns(agreement) -> None:
    def passes(config: DecodeConfig) -> int:
        models = [chance_model(seed, agreement=agreement, end_bias=-99.0) for seed in range(8)]
        return sum(generate(model, "abc", config).num_forwards for model in models)

    sizes = {"max_new_tokens": 80, "block_size": 16}
    in_turns = passes(DecodeConfig(strategy="verify", **sizes))
    assert passes(planned("fewest passes", **sizes)) < 0.9 * in_turns


@pytest.mark.parametrize("agreement", [0.1, 1.0])
def test_where_rows_cost_all_they_may_bring_it_is_next_token_prediction(agreement) -> None:
    model = chance_model(2, agreement=agreement, end_bias=-99.0)
    trace = generate(model, "abc", planned("linear", max_new_tokens=60, block_size=8))
    assert rows_of(trace) == [1] * 60


def test_where_drafts_do_not_pay_it_feeds_one_row_and_probes_now_and_then() -> None:
    model = chance_model(2, agreement=0.0, end_bias=-99.0)
    trace = generate(model, "abc", planned("two cores", max_new_tokens=1200, block_size=8))
    rows = rows_of(trace)[20:]
    assert set(rows) == {1, 2, 3}, "a probe reads no alternatives"
    assert rows.count(3) >= 4
    spent = sum(map(TWO_CORES.seconds, rows_of(trace)))
    assert spent <= (1 + PROBE_SHARE) * len(trace.token_ids) + 3


def test_it_recovers_where_a_useless_head_becomes_a_good_one() -> None:
    """The text turns easy at position 150; by two cores' costs drafting then pays."""
    poor, good = (chance_model(1, agreement=share, end_bias=-99.0) for share in (0.0, 1.0))
    blocks = poor.block_logits
    poor.block_logits = lambda tokens, block: (
        good.block_logits(tokens, block) if len(tokens) > 150 else blocks(tokens, block)
    )
    trace = generate(poor, "abc", planned("two cores", max_new_tokens=400, block_size=8))
    ends, end = [], 0
    for event in trace.events:
        end += len(event.committed)
        ends.append(end)
    rows = rows_of(trace)
    hard = [count for count, end in zip(rows, ends, strict=True) if 40 < end < 147]
    easy = [count for count, end in zip(rows, ends, strict=True) if end > 300]
    assert sum(hard) < 1.6 * len(hard)
    assert len(easy) < 40, "a hundred tokens by drafts"
    assert min(easy[:-1]) >= 4


@pytest.mark.parametrize("agreement", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("costs", [LINEAR, TWO_CORES])
def test_by_its_costs_it_is_hardly_ever_slower_than_ntp(agreement, costs) -> None:
    spent = saved = 0.0
    for seed in range(6):
        model = chance_model(seed, agreement=agreement, end_bias=-99.0)
        config = replace(planned("linear", max_new_tokens=150), row_costs=costs)
        trace = generate(model, "abc", config)
        spent += sum(costs.seconds(count) for count in rows_of(trace)[1:])
        saved += 149 * costs.seconds(1)
    assert spent < 1.06 * saved
    if agreement >= 0.8 and costs is TWO_CORES:
        assert spent < 0.85 * saved


@pytest.mark.parametrize(("policy", "penalty"), [("fewest passes", 1.0), ("two cores", 1.3)])
def test_answers_have_the_distribution_of_ntp(policy, penalty, monkeypatch) -> None:
    """As of drafts of one length: planning must not look at what was drawn."""
    model = distribution.tiny_vocabulary()
    if penalty != 1:
        next_logits, block_logits = model.next_logits, model.block_logits
        model.next_logits = lambda tokens: [2 + value for value in next_logits(tokens)]
        model.block_logits = lambda tokens, block: [
            [2 + value for value in row] for row in block_logits(tokens, block)
        ]
    config = planned(
        policy,
        block_size=3,
        max_new_tokens=distribution.LENGTH,
        temperature=distribution.TEMPERATURE,
        repetition_penalty=penalty,
        top_k_recorded=0,
    )
    traces = [
        generate(model, distribution.PROMPT, replace(config, seed=seed))
        for seed in range(distribution.NUM_DECODES)
    ]

    def of_ntp(answer: tuple[int, ...]) -> dict[int, float]:
        text = (*distribution.PROMPT, *answer)
        row = [
            (value * penalty if value < 0 else value / penalty) if token in text else value
            for token, value in enumerate(model.next_logits(text))
        ]
        return distribution.shares(row)

    counts = distribution.Counter(trace.token_ids for trace in traces)
    statistic, limit = distribution.chi_squared(counts, distribution.exact(of_ntp))
    assert statistic < limit
    num_tokens = sum(trace.num_tokens for trace in traces)
    assert sum(trace.num_forwards for trace in traces) < 0.9 * num_tokens


def test_bundled_answers_are_those_of_ntp(nano) -> None:
    counts = dict.fromkeys(["ntp", *POLICIES], 0)
    for text in corpus_texts(8):
        settings = {"max_new_tokens": 60}
        wanted = generate(nano, text, DecodeConfig(strategy="ntp", **settings))
        for policy in POLICIES:
            found = generate(nano, text, planned(policy, **settings))
            assert found.token_ids == wanted.token_ids
            counts[policy] += found.num_forwards
        counts["ntp"] += wanted.num_forwards
    assert counts["fewest passes"] <= counts["two cores"] < 0.5 * counts["ntp"]


def test_a_plan_is_what_is_fed(monkeypatch) -> None:
    plans: list[RowPlan] = []

    def kept(*arguments: Any, **more: Any) -> RowPlan:
        plans.append(plan_rows(*arguments, **more))
        return plans[-1]

    monkeypatch.setattr(row_planners, "plan_rows", kept)
    model = chance_model(5, agreement=0.5, end_bias=-99.0)
    trace = generate(model, "abc", planned("fewest passes", max_new_tokens=60))
    for plan, event in zip(plans, trace.events, strict=False):
        own = [p.block.size for p in event.predrafts if p.alternative is None]
        assert [n for n in plan.block_sizes if n] == [n for n in (*own, event.block.size) if n]
        others = [p.block.size for p in event.predrafts if p.alternative is not None]
        assert [size for _, _, size in plan.alternatives] == others
        assert len(event.draft) <= plan.draft_length


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"row_policy": "slowest"}, "row_policy"),
        ({"row_policy": None}, "row_policy"),
        ({"row_policy": "fastest", "strategy": "sbd"}, "row_policy"),
        ({"row_policy": "fastest", "num_predrafts": 2}, "num_predrafts"),
        ({"row_policy": "fewest-passes", "row_costs": FREE}, "row_costs"),
        ({"row_costs": FREE}, "row_costs"),
        ({"row_policy": "fastest", "row_costs": [[1, 1.0]]}, "row_costs"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, argument) -> None:
    with pytest.raises(ArgumentError, match=rf"^{argument}: "):
        DecodeConfig(**{"strategy": "verify", **settings})
