"""Law 3: ntp is transformers' greedy generate, and verify is ntp, token for token."""

import pytest
import torch

from sbd_core import DecodeConfig, generate
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.decoding.doubles import chance_model, corpus_texts, random_ids
from tests.scripted import ScriptedModel

NUM_PROMPTS = 40
BLOCK_SIZES = (2, 5, 16)


def greedy(model: HuggingFaceModel, prompt_ids, num_new: int) -> tuple[int, ...]:
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


def test_ntp_and_verify_are_greedy_generate_on_random_models(tiny) -> None:
    answers = []
    for index, prompt in enumerate(random_ids(NUM_PROMPTS, tiny.vocabulary_size)):
        expected = greedy(tiny, prompt, 6)
        assert answer(tiny, prompt, "ntp", 6) == expected
        size = BLOCK_SIZES[index % len(BLOCK_SIZES)]
        assert answer(tiny, prompt, "verify", 6, size) == expected
        answers.append(expected)
    assert len(set(answers)) > NUM_PROMPTS // 2, "the prompts hardly mattered"


def test_ntp_and_verify_are_greedy_generate_on_the_bundled_model(nano) -> None:
    num_drafted = num_passes = 0
    for index, text in enumerate(corpus_texts(NUM_PROMPTS // 2)):
        expected = greedy(nano, nano.encode(text, is_raw=False), 8)
        assert answer(nano, text, "ntp", 8) == expected
        size = BLOCK_SIZES[index % len(BLOCK_SIZES)]
        config = DecodeConfig(strategy="verify", max_new_tokens=8, block_size=size)
        trace = generate(nano, text, config)
        assert trace.token_ids == expected
        num_drafted += trace.num_tokens - trace.num_forwards
        num_passes += trace.num_forwards
    assert num_drafted > num_passes / 10, "hardly a draft was ever accepted"


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
    row = [0.0] * 50
    model = ScriptedModel(
        texts=["<m>", "<eos>", *(chr(200 + i) for i in range(48))],
        next_logits=lambda tokens: [-9.0, -9.0, *row[2:]],
        block_logits=lambda tokens, block: [[-9.0, -9.0, *row[2:]]] * len(block),
        mask_token_id=0,
        end_token_ids=frozenset({1}),
    )
    expected = answer(model, [5], "ntp", 9)
    assert expected == (2,) * 9
    assert answer(model, [5], "verify", 9, 4) == expected


def test_ntp_is_greedy_generate_in_bfloat16_where_logits_tie(tiny_folders) -> None:
    import sbd_core

    model = sbd_core.load(tiny_folders["llama"], device="cpu", dtype="bfloat16")
    for prompt in random_ids(40, model.vocabulary_size):
        assert answer(model, prompt, "ntp", 8) == greedy(model, prompt, 8)
