"""Decoding many prompts together gives each what it gets alone, in as many forward passes."""

from dataclasses import replace

import pytest
import torch

from sbd_core import ArgumentError, DecodeConfig, generate
from sbd_core.config import RowCosts
from sbd_core.decoding.api import generate_batch, stream_batch
from sbd_core.models.protocol import ForwardRequest
from sbd_core.solvers import EntropyBound, Random
from tests.conftest import unfused
from tests.core.decoding.doubles import chance_model, corpus_texts, random_ids

STRATEGIES = ("ntp", "sbd", "verify")


def check_together_is_alone(model, prompts, config, batch_size) -> int:
    """Same answers, reveals and counts; gives back the forward passes of all prompts."""
    together = generate_batch(model, prompts, config, batch_size=batch_size)
    assert len(together) == len(prompts)
    for prompt, trace in zip(prompts, together, strict=True):
        alone = generate(model, prompt, config)
        assert trace.token_ids == alone.token_ids
        assert trace.text == alone.text
        assert trace.finish == alone.finish
        assert trace.num_forwards == alone.num_forwards
        for ours, theirs in zip(trace.events, alone.events, strict=True):
            assert [(r.position, r.rank) for r in ours.reveals] == [
                (r.position, r.rank) for r in theirs.reveals
            ]
            assert (ours.num_cached, ours.num_causal) == (theirs.num_cached, theirs.num_causal)
            assert ours.predrafts == theirs.predrafts
            assert ours.seconds > 0
    return sum(trace.num_forwards for trace in together)


PENALISED = {"repetition_penalty": 1.3}
FEW_ROWS = {"strategy": "verify", "max_rows": 7}
BY_COST = {"strategy": "verify", "max_rows": None}
BY_COST["row_costs"] = RowCosts(((1, 1.0), (25, 3.5), (48, 6.0)))
SETTINGS = [
    *({"strategy": name, "temperature": t} for name in STRATEGIES for t in (0.0, 1.0)),
    {"strategy": "ntp", **PENALISED},
    {"strategy": "sbd", "temperature": 1.0, **PENALISED},
    *({**FEW_ROWS, "temperature": temperature} for temperature in (0.0, 1.0)),
    {**FEW_ROWS, "temperature": 1.0, **PENALISED},
    BY_COST,
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda each: " ".join(map(str, each.values())))
def test_prompts_of_any_length_decode_together_as_alone(tiny, settings) -> None:
    prompts = random_ids(5, tiny.vocabulary_size) + random_ids(3, tiny.vocabulary_size, 100)
    sizes = {"block_size": 5, "max_new_tokens": 13}
    config = DecodeConfig(solver=EntropyBound(gamma=4.0), **sizes, **settings)
    check_together_is_alone(tiny, prompts[::2] + prompts[1::2], config, 4)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_corpus_prompts_decode_together_as_alone(nano, strategy) -> None:
    config = DecodeConfig(strategy=strategy, max_new_tokens=40)
    num_passes = check_together_is_alone(nano, corpus_texts(7), config, 3)
    assert strategy == "ntp" or num_passes < 7 * 40 / 2, "blocks hardly helped"


@pytest.mark.parametrize("batch_size", [1, 3, 50])
def test_events_are_those_of_stream_whatever_the_batch(batch_size) -> None:
    model = chance_model(5, agreement=0.5)
    for strategy in STRATEGIES:
        config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=15)
        traces = generate_batch(model, ["ab", "c", "hhg"] * 4, config, batch_size=batch_size)
        for prompt, trace in zip(["ab", "c", "hhg"] * 4, traces, strict=True):
            alone = generate(model, prompt, config)
            assert [replace(e, seconds=0) for e in trace.events] == [
                replace(e, seconds=0) for e in alone.events
            ]


def test_each_prompt_has_a_random_stream_of_its_own() -> None:
    config = DecodeConfig(solver=Random(k=2), block_size=6, max_new_tokens=12, temperature=1.0)
    first, *others = generate_batch(chance_model(2), ["ab"] * 5, config, batch_size=3)
    assert all(trace.token_ids == first.token_ids for trace in others)


def test_bad_input_is_refused_before_the_first_pass() -> None:
    model = chance_model(0)
    with pytest.raises(ArgumentError, match=r"^batch_size: "):
        stream_batch(model, ["ab"], DecodeConfig(), batch_size=0)
    with pytest.raises(ArgumentError, match=r"^prompt: "):
        stream_batch(model, ["ab", ""], DecodeConfig())
    with pytest.raises(ArgumentError, match=r"^seeds: must be one seed per prompt \(2\); got 1"):
        stream_batch(model, ["a", "b"], DecodeConfig(), seeds=[1])
    assert not model.calls
    assert generate_batch(model, [], DecodeConfig()) == []


def test_a_ragged_pass_gives_the_logits_of_single_ones(llama) -> None:
    """Every mix of causal rows and block rows, long and short, and slots that sit out."""
    plain = unfused(llama)
    caches, single = llama.new_caches(5), plain.new_caches(5)
    prompts = [*random_ids(4, llama.vocabulary_size), list(range(40, 101))]
    passes = [
        {i: (prompt, (), 1) for i, prompt in enumerate(prompts)},
        {0: ((), (7, 8), 0), 1: ((9,), (), 1), 3: ((5, 6, 7), (2, 2, 9), 3)},
        {4: ((5, 6), (2,) * 5, 1), 2: (tuple(range(50)), (2, 2), 2), 0: ((8,), (3, 4), 1)},
        {3: ((4,), (2,), 0)},
    ]
    for shares in passes:
        found = llama.forward_batch(
            [ForwardRequest(caches[i], *share) for i, share in shares.items()]
        )
        for logits, (i, share) in zip(found, shares.items(), strict=True):
            expected = plain.forward(single[i], *share)
            assert caches[i].length == single[i].length
            torch.testing.assert_close(logits, expected, atol=1e-4, rtol=1e-5)
