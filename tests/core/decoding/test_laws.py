"""Laws 1 to 3: a decode is what it is from scratch, by transformers' greedy, and in any batch."""

import math
from itertools import product

import pytest
import torch

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, generate, stream
from sbd_core.decoding.api import generate_batch, stream_batch
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.solvers import EntropyBound, Random
from tests.core.decoding import reference
from tests.core.decoding.doubles import chance_model, corpus_texts, random_ids
from tests.core.decoding.reference import Recorder
from tests.scripted import by_position


def assert_near(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Equal but for rounding: within 1e-5 of the largest value's size."""
    size = max(1.0, expected.abs().max().item())
    torch.testing.assert_close(found, expected, atol=1e-5 * size, rtol=1e-5)


def check_against_reference(model, prompt, block_size, gamma, num_new, temperature=0.0) -> list:
    """Same tokens, forward pass by forward pass the same block logits; gives back the events."""
    shared = {"block_size": block_size, "temperature": temperature, "seed": 7}
    config = DecodeConfig(
        solver=EntropyBound(gamma),
        max_new_tokens=num_new,
        allows_untrained_block_size=True,
        **shared,
    )
    recorder = Recorder(model)
    trace = generate(recorder, prompt, config)
    prompt_ids = trace.prompt_token_ids
    expected = reference.decode(model, prompt_ids, num_new=num_new, gamma=gamma, **shared)
    assert list(trace.token_ids) == expected.answer
    passes = recorder.calls[1:]
    assert len(passes) == len(expected.block_logits)
    for call, logits in zip(passes, expected.block_logits, strict=True):
        assert_near(call.block_logits, logits)
    text = [*prompt_ids, *trace.token_ids]
    check_causal_logits(model, text, recorder.calls)
    causal = reference.full_forward(model, text, [])[len(prompt_ids) - 1 :]
    for item in (item for event in trace.events for item in event.hindsight):
        row = causal[item.position].index_fill(0, torch.tensor([model.mask_token_id]), -math.inf)
        assert row[item.argmax_id] >= row.max() - 1e-4
    return list(trace.events)


def check_causal_logits(model, text, calls) -> None:
    """Riders come back with what an ordinary forward pass of the text gives there."""
    causal = reference.full_forward(model, text, [])
    for call in calls:
        ids = list(call.request.causal_ids)
        rows = range(call.num_cached, call.num_cached + len(ids))
        assert ids == [text[row] for row in rows]
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


def greedy(model: HuggingFaceModel, prompt_ids, num_new: int, **settings) -> tuple[int, ...]:
    """transformers' own greedy decoding, the mask token suppressed."""
    ids = torch.tensor([list(prompt_ids)])
    found = model.model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=num_new,
        do_sample=False,
        suppress_tokens=[model.mask_token_id],
        eos_token_id=sorted(model.end_token_ids),
        pad_token_id=0,
        **settings,
    )
    return tuple(found[0, ids.shape[1] :].tolist())


def answer(
    model, prompt, strategy: str, num_new: int, block_size: int = 16, **settings
) -> tuple[int, ...]:
    sizes = {"max_new_tokens": num_new, "block_size": block_size}
    config = DecodeConfig(strategy=strategy, top_k_recorded=0, **sizes, **settings)
    trace = generate(model, prompt, config)
    if strategy == "ntp":
        assert trace.num_forwards == trace.num_tokens
    return trace.token_ids


@pytest.mark.parametrize("penalty", [0.8, 1.0, 1.3])
def test_ntp_and_verify_are_greedy_generate_on_random_models(tiny, penalty) -> None:
    answers, num_other = set(), 0
    drafting = [*product((2, 5, 16), (3, 7, 17, 41))]
    prompts = random_ids(len(drafting), tiny.vocabulary_size, 20)
    for prompt, (block_size, max_rows) in zip(prompts, drafting, strict=True):
        expected = greedy(tiny, prompt, 16, repetition_penalty=penalty)
        assert answer(tiny, prompt, "ntp", 16, repetition_penalty=penalty) == expected
        settings = {"max_rows": max_rows, "repetition_penalty": penalty}
        assert answer(tiny, prompt, "verify", 16, block_size, **settings) == expected
        answers.add(expected)
        num_other += expected != greedy(tiny, prompt, 16)
    assert len(answers) > 6, "the prompts hardly mattered"
    assert num_other > 6 or penalty == 1, "the penalty hardly changed an answer"


@pytest.mark.parametrize("max_rows", [3, 9, 41])
@pytest.mark.parametrize("penalty", [1.0, 1.3])
@pytest.mark.parametrize("agreement", [0.0, 0.6, 0.9, 1.0])
def test_verify_is_ntp_whatever_the_drafts_are_worth(agreement, penalty, max_rows) -> None:
    num_saved = 0
    for seed in range(60):
        num_new, block_size = 1 + seed % 23, 1 + seed % 9
        end_bias = (-9.0, -2.0, 1.0)[seed % 3]
        model = chance_model(seed, agreement=agreement, end_bias=end_bias)
        expected = answer(model, "abc", "ntp", num_new, repetition_penalty=penalty)
        drafting = {"max_rows": max_rows, "repetition_penalty": penalty}
        num_before = len(model.calls)
        assert answer(model, "abc", "verify", num_new, block_size, **drafting) == expected
        num_saved += len(expected) - (len(model.calls) - num_before)
    assert agreement < 0.5 or num_saved > 60, "good drafts saved no passes"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_verify_ends_at_the_length_asked_for_even_when_every_draft_is_right(temperature) -> None:
    for num_new in range(1, 20):
        for block_size in (1, 2, 4, 16):
            model = chance_model(3, agreement=1.0, end_bias=-99.0)
            sizes = {"max_new_tokens": num_new, "block_size": block_size}
            config = DecodeConfig(strategy="verify", temperature=temperature, **sizes)
            trace = generate(model, "abc", config)
            assert trace.num_tokens == num_new
            assert all(cached + causal <= 3 + num_new for cached, causal, _ in model.calls)


def test_verify_is_ntp_where_logits_are_equal() -> None:
    """Coarse dtypes tie; both must take the same one of the equals, as generate() does."""
    texts = ["<m>", "<eos>", *(chr(200 + i) for i in range(48))]
    model = by_position(texts, lambda _: [-9.0, -9.0, *[0.0] * 48])
    expected = answer(model, [5], "ntp", 9)
    assert expected == (2,) * 9
    assert answer(model, [5], "verify", 9, 4) == expected


def test_ntp_is_greedy_generate_in_bfloat16_where_logits_tie(tiny_folders) -> None:
    model = sbd_core.load(tiny_folders["llama"], device="cpu", dtype="bfloat16")
    for prompt in random_ids(40, model.vocabulary_size):
        assert answer(model, prompt, "ntp", 8) == greedy(model, prompt, 8)


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
SETTINGS = [
    *({"strategy": name, "temperature": t} for name in STRATEGIES for t in (0.0, 1.0)),
    {"strategy": "ntp", **PENALISED},
    {"strategy": "sbd", "temperature": 1.0, **PENALISED},
    *({**FEW_ROWS, "temperature": temperature} for temperature in (0.0, 1.0)),
    {**FEW_ROWS, "temperature": 1.0, **PENALISED},
    {"strategy": "verify", "max_rows": 17},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda each: " ".join(map(str, each.values())))
def test_prompts_of_any_length_decode_together_as_alone(tiny, settings) -> None:
    prompts = random_ids(5, tiny.vocabulary_size) + random_ids(3, tiny.vocabulary_size, 100)
    sizes = {"block_size": 5, "max_new_tokens": 13}
    config = DecodeConfig(solver=EntropyBound(gamma=4.0), **sizes, **settings)
    check_together_is_alone(tiny, prompts[::2] + prompts[1::2], config, 4)


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
