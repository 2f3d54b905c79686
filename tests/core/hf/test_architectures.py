"""Every architecture of docs/hugging-face.md, as a tiny random-weight model in fp32."""

import pytest
import torch

import sbd_core
from sbd_core import DecodeConfig, ModelError
from sbd_core.decoding.api import generate_batch
from sbd_core.hf import generate
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.decoding.prompts import random_ids
from tests.core.decoding.test_cache_laws import check_against_reference
from tests.core.decoding.test_greedy_laws import answer, greedy
from tests.core.models.tiny_models import save_tiny, tiny_model, tiny_tokenizer

FULL_ATTENTION = (
    "llama",
    "qwen2",
    "qwen3",
    "qwen3_moe",
    "mistral",
    "phi3",
    "olmo2",
    "smollm3",
    "granite",
    "gpt2",
    "gpt_neox",
)
SLIDING_WINDOW = ("gemma2", "gemma3", "sliding")
NUM_NEW = 6


@pytest.fixture(scope="module", params=FULL_ATTENTION)
def model(request, tmp_path_factory) -> HuggingFaceModel:
    folder = tmp_path_factory.mktemp("models") / request.param
    save_tiny(folder, request.param, tiny_tokenizer(), mask_token_id=2)
    return sbd_core.load(folder, device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def prompts(model) -> list[list[int]]:
    return random_ids(12, model.vocabulary_size)


def with_padding(prompts: list[list[int]]) -> dict[str, torch.Tensor]:
    """Padded on the left, as transformers wants it."""
    longest = max(map(len, prompts))
    ids = [[0] * (longest - len(prompt)) + prompt for prompt in prompts]
    kept = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(kept)}


def test_cached_is_uncached(model, prompts) -> None:
    for prompt in prompts[:6]:
        check_against_reference(model, prompt, block_size=3, gamma=0.5, num_new=NUM_NEW)


def test_ntp_is_generate_and_verify_is_ntp(model, prompts) -> None:
    answers = []
    for index, prompt in enumerate(prompts):
        expected = greedy(model, prompt, NUM_NEW)
        assert answer(model, prompt, "ntp", NUM_NEW) == expected
        settings = {"num_predrafts": 2 * (index % 2), "draft_threshold": 0.5 * (index % 3)}
        assert answer(model, prompt, "verify", NUM_NEW, 5, **settings) == expected
        answers.append(expected)
    assert len(set(answers)) > len(prompts) // 2, "the prompts hardly mattered"


CONFIG = DecodeConfig(block_size=4, max_new_tokens=NUM_NEW, top_k_recorded=0)
BATCH_SIZES = (1, 3, 8)


@pytest.fixture(scope="module")
def alone(model, prompts) -> list[tuple[int, ...]]:
    """The answers to the first prompts, each decoded by itself."""
    return [sbd_core.generate(model, text, CONFIG).token_ids for text in prompts[:8]]


def test_no_batch_changes_an_answer(model, prompts, alone) -> None:
    for size in BATCH_SIZES:
        traces = generate_batch(model, prompts[: len(alone)], CONFIG, batch_size=size)
        assert [trace.token_ids for trace in traces] == alone


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_no_attention_changes_an_answer_of_generate(model, prompts, alone, attention) -> None:
    plain = tiny_model(model.name, model.vocabulary_size)
    plain.set_attn_implementation(attention)
    plain.config.mask_token_id = 2
    for size in BATCH_SIZES:
        inputs = with_padding(prompts[:size])
        output = plain.generate(
            **inputs, custom_generate=generate, block_size=4, max_new_tokens=NUM_NEW
        )
        for row, expected in zip(output[:, inputs["input_ids"].shape[1] :], alone, strict=False):
            assert tuple(row[: len(expected)].tolist()) == expected


@pytest.mark.parametrize("architecture", SLIDING_WINDOW)
def test_a_sliding_window_is_refused_in_one_sentence(architecture, tmp_path) -> None:
    save_tiny(tmp_path, architecture, tiny_tokenizer())
    with pytest.raises(
        ModelError, match=r"in every layer; .* sliding|not support an attention"
    ) as caught:
        sbd_core.load(tmp_path, device="cpu")
    assert "\n" not in str(caught.value)
    plain = tiny_model(architecture, 300)
    with pytest.raises(ModelError, match="sliding"):
        plain.generate(
            input_ids=torch.tensor([[5, 6]]),
            custom_generate=generate,
            mask_token_id=2,
            max_new_tokens=4,
        )
