"""Laws 1 and 2: decoding with the cache is decoding from scratch, and the cache is exact."""

import pytest
import torch

from sbd_core import DecodeConfig, generate, stream
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.solvers import EntropyBound
from tests.core.decoding import reference
from tests.core.decoding.doubles import corpus_texts, random_ids
from tests.core.decoding.reference import Recorder


def assert_near(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal but for rounding: within 1e-5 of the largest value's size."""
    size = max(1.0, expected.abs().max().item())
    torch.testing.assert_close(found, expected, atol=1e-5 * size, rtol=1e-5)


def check_against_reference(model, prompt, block_size, gamma, num_new, temperature=0.0) -> list:
    """Same tokens, forward pass by forward pass the same block logits; gives back the events."""
    config = DecodeConfig(
        solver=EntropyBound(gamma=gamma),
        block_size=block_size,
        max_new_tokens=num_new,
        temperature=temperature,
        seed=7,
        allows_untrained_block_size=True,
    )
    recorder = Recorder(model)
    trace = generate(recorder, prompt, config)
    expected = reference.decode(
        model,
        trace.prompt_token_ids,
        block_size=block_size,
        num_new=num_new,
        gamma=gamma,
        temperature=temperature,
        seed=7,
    )
    assert list(trace.token_ids) == expected.answer
    passes = recorder.calls[1:]
    assert len(passes) == len(expected.block_logits)
    for call, logits in zip(passes, expected.block_logits, strict=True):
        assert_near(call.block_logits, logits)
    check_causal_logits(model, [*trace.prompt_token_ids, *trace.token_ids], recorder.calls)
    return list(trace.events)


def check_causal_logits(model, text, calls) -> None:
    """Riders come back with what an ordinary forward pass of the text gives there."""
    causal = reference.full_forward(model, text, [])
    for call in calls:
        rows = range(call.num_cached, call.num_cached + len(call.causal_ids))
        assert call.causal_ids == [text[row] for row in rows]
        kept = list(rows)[len(rows) - len(call.causal_logits) :]
        if kept:
            assert_near(call.causal_logits, causal[kept])


@pytest.mark.parametrize(
    ("block_size", "gamma"), [(1, 0.0), (3, 2.0), (3, 1000.0), (8, 0.0), (8, 8.0), (8, 1000.0)]
)
def test_with_cache_equals_from_scratch_on_random_models(tiny, block_size, gamma) -> None:
    sizes = set()
    for prompt in random_ids(2, tiny.vocabulary_size):
        events = check_against_reference(tiny, prompt, block_size, gamma, num_new=19)
        sizes |= {len(event.reveals) for event in events}
    if gamma == 1000.0 and block_size == 8:
        assert 8 in sizes, "a whole block was never revealed at once"


@pytest.mark.parametrize("temperature", [0.3, 1.0])
def test_with_cache_equals_from_scratch_when_sampling(tiny, temperature) -> None:
    for prompt in random_ids(2, tiny.vocabulary_size):
        check_against_reference(tiny, prompt, 5, 4.0, num_new=17, temperature=temperature)


@pytest.mark.parametrize(("block_size", "gamma"), [(2, 2.0), (5, 0.1), (16, 0.0), (16, 0.1)])
def test_with_cache_equals_from_scratch_on_the_bundled_model(nano, block_size, gamma) -> None:
    prompt = corpus_texts(6)[-1]
    check_against_reference(nano, prompt, block_size, gamma, num_new=40)


def check_cache_after_every_pass(model: HuggingFaceModel, prompt, config: DecodeConfig) -> int:
    """The cache is that of a causal forward of the text so far; gives back tokens committed."""
    recorder = Recorder(model)
    text = list(model.encode(prompt, is_raw=False)) if isinstance(prompt, str) else list(prompt)
    num_fed = []
    for event in stream(recorder, prompt, config):
        text.extend(event.committed)
        length = recorder.cache.length
        assert length <= len(text)
        num_fed.append(event.num_cached + event.num_causal - length)
        causal = reference.causal_keys_and_values(model, text[:length])
        for found, expected in zip(reference.keys_and_values(recorder.cache), causal, strict=True):
            for ours, theirs in zip(found, expected, strict=True):
                assert ours.shape == theirs[0].shape
                assert_near(ours, theirs[0])
    if config.strategy == "verify":
        # All but the token just chosen; an accepted <eos> is in the cache already.
        assert recorder.cache.length in (len(text) - 1, len(text))
    return sum(num_fed)


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
@pytest.mark.parametrize("block_size", [2, 7])
def test_the_cache_is_that_of_a_causal_forward_on_random_models(tiny, strategy, block_size) -> None:
    config = DecodeConfig(
        strategy=strategy, block_size=block_size, max_new_tokens=17, solver=EntropyBound(gamma=4.0)
    )
    num_rejected = 0
    for prompt in random_ids(3, tiny.vocabulary_size):
        num_rejected += check_cache_after_every_pass(tiny, prompt, config)
    assert (num_rejected > 0) == (strategy == "verify"), "verify truncates, the others never"


def test_the_cache_is_exact_around_pinned_blocks(llama) -> None:
    pinned = {position: 40 + position for position in (*range(4, 8), 9, 16)}
    config = DecodeConfig(block_size=4, max_new_tokens=17, pinned=pinned)
    for prompt in random_ids(2, llama.vocabulary_size):
        check_cache_after_every_pass(llama, prompt, config)
