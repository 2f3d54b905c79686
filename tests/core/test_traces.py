"""Laws 8 and 10: traces come back exactly from JSON, count what happened, and repeat."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, zip_longest

import pytest

from sbd_core import ArgumentError, DecodeConfig, Trace, generate, stream
from sbd_core.rules import SOLVERS, EntropyBound, Random, TopK
from tests.conftest import unfused
from tests.core.decoding.chance_models import END, chance_model
from tests.core.decoding.prompts import corpus_texts, random_ids


def many_configs(count: int) -> Iterator[tuple[int, DecodeConfig]]:
    """Every strategy and solver, with odd but allowed settings."""
    draw = random.Random(4)
    rules = list(SOLVERS.values())
    for seed in range(count):
        strategy = ("sbd", "sbd", "verify", "ntp")[seed % 4]
        num_new = draw.randint(1, 20)
        pins = draw.sample(range(num_new), draw.randint(0, num_new // 2))
        rule = rules[seed % len(rules)]
        can_pin = strategy == "sbd" and not rule.reads_causal_row
        yield (
            seed,
            DecodeConfig(
                strategy=strategy,
                solver=rule(),
                block_size=draw.randint(1, 9),
                max_new_tokens=num_new,
                temperature=draw.choice([0.0, 1.0, 0.25, 1e-3, 40.0]),
                seed=draw.choice([0, 7, 2**63 - 1]),
                top_k_recorded=draw.choice([0, 1, 5, 50]),
                pinned={p: draw.randrange(1, 10) for p in pins} if can_pin else {},
                is_raw_prompt=draw.random() < 0.5,
                allows_untrained_block_size=draw.random() < 0.5,
            ),
        )


def without_seconds(trace: Trace) -> Trace:
    return replace(trace, events=tuple(replace(event, seconds=0.0) for event in trace.events))


def test_a_trace_comes_back_equal_from_its_json() -> None:
    for seed, config in many_configs(120):
        model = chance_model(seed, agreement=0.5)
        prompt = "ab" if seed % 2 else [2, 3, 4]
        trace = generate(model, prompt, config)
        text = trace.to_json()
        back = Trace.from_json(text)
        assert back == trace
        assert back.to_json() == text
        assert "\n" not in text
        json.loads(text, parse_constant=pytest.fail)


def test_a_token_is_of_the_forward_pass_that_revealed_it_or_committed_it_unrevealed() -> None:
    out_of_order = 0
    for seed, config in many_configs(60):
        trace = generate(chance_model(seed, agreement=0.5), "ab", config)
        assert len(trace.token_passes) == trace.num_tokens
        out_of_order += [*trace.token_passes] != sorted(trace.token_passes)
        before = 0
        for index, event in enumerate(trace.events):
            revealed = {reveal.position for reveal in event.reveals}
            fixed = {at for at, found in enumerate(trace.token_passes) if found == index}
            assert revealed & {*range(trace.num_tokens)} <= fixed
            assert fixed - revealed <= {*range(before, before + len(event.committed))} & {
                *config.pinned
            }
            before += len(event.committed)
    assert out_of_order


def test_a_trace_of_the_bundled_model_comes_back_equal(nano) -> None:
    for strategy in ("sbd", "verify", "ntp"):
        config = DecodeConfig(strategy=strategy, max_new_tokens=24, temperature=0.7)
        trace = generate(nano, corpus_texts(1)[0] + ' "\u00e9\u2028\\\U0001f600', config)
        assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize(
    "settings",
    [
        {"strategy": "ntp", "temperature": 1},
        {"strategy": "ntp", "temperature": 1e30},
        {"strategy": "ntp", "block_size": 2**60},
        {"solver": EntropyBound(gamma=1e300)},
        {"solver": EntropyBound(gamma=2**60)},
        {"solver": TopK(k=2**60)},
        {"max_new_tokens": 2**60},
    ],
)
def test_whatever_a_config_allows_comes_back(settings) -> None:
    try:
        config = DecodeConfig(**settings)
    except ArgumentError:
        return  # not allowed to begin with
    trace = generate(chance_model(0, end_bias=9.0), "ab", config)
    assert Trace.from_json(trace.to_json()) == trace


def test_a_trace_left_early_comes_back_and_says_so() -> None:
    model = chance_model(1, end_bias=-99.0)
    config = DecodeConfig(block_size=4, max_new_tokens=12)
    for num_taken in (0, 1, 3):
        events = stream(model, "ab", config)
        taken = tuple(islice(events, num_taken))
        trace = events.trace()
        assert trace.events == taken
        assert trace.finish == "stopped"
        assert trace.num_forwards == num_taken
        assert Trace.from_json(trace.to_json()) == trace
    assert stream(model, "ab", config).trace().tokens_per_forward == 0.0


def test_counts_are_the_models_own_forward_calls() -> None:
    for seed, config in many_configs(60):
        model = chance_model(seed, agreement=0.5)
        trace = generate(model, "ab", config)
        assert trace.num_forwards == len(trace.events) == len(model.calls)
        contexts = [(event.num_cached, event.num_causal) for event in trace.events]
        assert contexts == [(cached, causal) for cached, causal, _ in model.calls]
        committed = [token for event in trace.events for token in event.committed]
        assert list(trace.token_ids) == committed
        assert trace.num_tokens == len(committed)
        assert trace.tokens_per_forward == trace.num_tokens / trace.num_forwards
        assert trace.seconds == sum(event.seconds for event in trace.events)
        assert [event.index for event in trace.events] == list(range(trace.num_forwards))
        kinds = [event.kind for event in trace.events]
        assert kinds == ["prefill"] + ["decode"] * (len(kinds) - 1)


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_num_forwards_counts_the_networks_calls_prefill_included(llama, strategy) -> None:
    llama, num_calls = unfused(llama), []
    assert llama.exactness  # tried out before the calls are counted
    hook = llama.model.register_forward_hook(lambda *_: num_calls.append(1))
    config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=11)
    try:
        trace = generate(llama, random_ids(1, llama.vocabulary_size)[0], config)
    finally:
        hook.remove()
    assert trace.num_forwards == len(num_calls)


def test_hindsight_is_what_next_token_prediction_gives_the_answer(llama) -> None:
    """One number for every token but the last block's, and the numbers are NTP's own."""
    import torch

    from tests.core.decoding.reference import full_forward

    prompt = random_ids(1, llama.vocabulary_size)[0]
    for strategy in ("sbd", "verify", "ntp"):
        config = DecodeConfig(
            strategy=strategy, block_size=5, max_new_tokens=17, pinned={}, temperature=1.0
        )
        trace = generate(llama, prompt, config)
        text = [*prompt, *trace.token_ids]
        logits = full_forward(llama, text, [])
        logits[:, llama.mask_token_id] = -torch.inf
        chances = logits.softmax(dim=-1)
        given = [item for event in trace.events for item in event.hindsight]
        num_given = 15 if strategy == "sbd" else trace.num_tokens
        assert [item.position for item in given] == list(range(min(num_given, trace.num_tokens)))
        for item in given:
            row = chances[len(prompt) + item.position - 1]
            assert item.token_id == trace.token_ids[item.position]
            assert item.probability == pytest.approx(row[item.token_id].item(), abs=1e-5)
            assert item.argmax_probability == pytest.approx(row.max().item(), abs=1e-5)


def test_every_token_a_trace_mentions_has_its_text() -> None:
    for seed, config in many_configs(40):
        model = chance_model(seed, agreement=0.5)
        trace = generate(model, "ab", config)
        for event in trace.events:
            for item in event.masked:
                assert set(item.top_token_ids) <= set(trace.tokens)
            assert {*event.committed, *event.draft} <= set(trace.tokens)
        assert trace.text == "".join(trace.tokens[t] for t in trace.token_ids if t != END)


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    num_different = 0
    for seed, config in many_configs(60):
        model = chance_model(seed, agreement=0.5, end_bias=-99.0)
        first, again = (generate(model, "ab", config) for _ in range(2))
        assert without_seconds(first) == without_seconds(again)
        if config.temperature == 1:
            other = generate(model, "ab", replace(config, seed=12345))
            num_different += other.token_ids != first.token_ids
    assert num_different > 5


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_decodes_that_run_pass_by_pass_in_turn_are_those_run_alone(llama, strategy) -> None:
    """One model, many visitors: nothing of a decode lives in the model."""
    config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=9, temperature=1.0)
    prompts = random_ids(3, llama.vocabulary_size)
    alone = [without_seconds(generate(llama, prompt, config)) for prompt in prompts]
    streams = [stream(llama, prompt, config) for prompt in prompts]
    for _ in zip_longest(*streams):
        pass
    assert [without_seconds(events.trace()) for events in streams] == alone


def test_a_decode_leaves_the_global_random_state_alone() -> None:
    import torch

    state = torch.random.get_rng_state()
    for strategy in ("sbd", "verify", "ntp"):
        config = DecodeConfig(
            strategy=strategy, solver=Random(k=2), temperature=1.0, max_new_tokens=9
        )
        generate(chance_model(0), "ab", config)
    assert torch.equal(state, torch.random.get_rng_state())
