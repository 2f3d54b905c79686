"""Every architecture of docs/hugging-face.md, as a tiny random-weight model in fp32."""

import re

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError
from sbd_core.hf import generate
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.cli.commands import refusal
from tests.core.decoding.doubles import random_ids
from tests.core.decoding.test_laws import answer, check_against_reference, greedy
from tests.core.models.tiny_models import GROUPED, REACH, save_tiny, tiny_model, tiny_tokenizer

FULL_ATTENTION = (
    *("llama", "qwen2", "qwen3", "qwen3_moe", "mistral", "phi3", "olmo2", "smollm3", "granite"),
    *("gpt2", "gpt_neox"),
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
    return random_ids(8, model.vocabulary_size)


def with_padding(prompts: list[list[int]]) -> dict[str, torch.Tensor]:
    """Padded on the left, as transformers wants it."""
    longest = max(map(len, prompts))
    ids = [[0] * (longest - len(prompt)) + prompt for prompt in prompts]
    kept = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(kept)}


def test_cached_is_uncached(model, prompts) -> None:
    for prompt in prompts[:3]:
        check_against_reference(model, prompt, block_size=3, gamma=0.5, num_new=NUM_NEW)


def test_ntp_is_generate_and_verify_is_ntp(model, prompts) -> None:
    answers = []
    for index, prompt in enumerate(prompts):
        expected = greedy(model, prompt, NUM_NEW)
        assert answer(model, prompt, "ntp", NUM_NEW) == expected
        settings = {"max_rows": (3, 7, 41)[index % 3]}
        assert answer(model, prompt, "verify", NUM_NEW, 5, **settings) == expected
        answers.append(expected)
    assert len(set(answers)) > len(prompts) // 2, "the prompts hardly mattered"


CONFIG = DecodeConfig(block_size=4, max_new_tokens=NUM_NEW, top_k_recorded=0)
BATCH_SIZES = (1, 3, 8)


@pytest.fixture(scope="module")
def alone(model, prompts) -> list[tuple[int, ...]]:
    """The answers to the first prompts, each decoded by itself."""
    return [sbd_core.generate(model, text, CONFIG).token_ids for text in prompts[:8]]


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


@pytest.mark.parametrize("window", [REACH, 10 * REACH])
@pytest.mark.parametrize("architecture", ["sliding", "phi3"])
def test_a_sliding_window_that_no_text_fills_is_none(architecture, window, tmp_path) -> None:
    """Phi-3.5's: 262,144 tokens, of which its short rotary angles reach 4,096."""
    for name, size in (("without", None), ("with", window)):
        save_tiny(tmp_path / name, architecture, tiny_tokenizer(), sliding_window=size)
    plain, model = (
        sbd_core.load(tmp_path / name, device="cpu", dtype="float32")
        for name in ("without", "with")
    )
    prompt = random_ids(1, model.vocabulary_size)[0] * 3
    for strategy in ("ntp", "sbd"):
        config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=40)
        wanted = sbd_core.generate(plain, prompt, config).token_ids
        assert sbd_core.generate(model, prompt, config).token_ids == wanted
    save_tiny(tmp_path / "short", architecture, tiny_tokenizer(), sliding_window=REACH - 1)
    with pytest.raises(ModelError, match="a sliding window"):
        sbd_core.load(tmp_path / "short", device="cpu")


@pytest.mark.parametrize("architecture", SLIDING_WINDOW)
def test_a_sliding_window_is_refused_in_one_sentence(architecture, tmp_path) -> None:
    save_tiny(tmp_path, architecture, tiny_tokenizer())
    with pytest.raises(
        ModelError, match=r"in every layer; .* sliding|does not support an attention"
    ) as caught:
        sbd_core.load(tmp_path, device="cpu")
    assert "\n" not in str(caught.value)
    plain = tiny_model(architecture, 300)
    ours = {"custom_generate": generate, "mask_token_id": 2, "max_new_tokens": 4}
    with pytest.raises(ModelError, match="sliding"):
        plain.generate(input_ids=torch.tensor([[5, 6]]), **ours)


SMALL: dict[str, int] = {"vocab_size": 300, "hidden_size": 32}
ENDS = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4}
OTHERS = {
    "gpt_neo": {**SMALL, "num_layers": 2, "num_heads": 4, "attention_types": [[["global"], 2]]},
    "bloom": {**SMALL, "n_layer": 2, "n_head": 4},
    "mpt": {"vocab_size": 300, "d_model": 32, "n_layers": 2, "n_heads": 4},
    "falcon": {**SMALL, **SIZES, "alibi": True},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OTHERS)
def test_what_reads_no_block_is_refused_alike_by_every_way_in(name, tmp_path, capsys) -> None:
    torch.manual_seed(0)
    config = AutoConfig.for_model(name, **OTHERS[name], **ENDS)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.2 * torch.randn(weight.shape)  # far from a model without opinions
    folder = tmp_path / "model"
    model.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    (tmp_path / "a.jsonl").write_text('{"prompt": "a", "answer": "b"}')
    rule = "must (read|keep|place) |does not support an attention implementation"
    with pytest.raises(ModelError, match=rule) as caught:
        sbd_core.load(folder, device="cpu")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match=rule):
        model.generate(input_ids=torch.tensor([[5, 6]]), custom_generate=generate, mask_token_id=2)
    train = ["train", "--recipe", "finetune", "--tasks", "", "--data", f"file:{tmp_path}/a.jsonl"]
    for words in (
        ["prepare", str(folder)],
        [*train, "--stage", "sbd", "--init", str(folder), "--steps", "1"],
    ):
        assert re.search(rule, refusal(capsys, [*words, "--out", str(tmp_path / "out")]))


FACTORS = {"short_factor": [1.0] * 4, "long_factor": [1.5, 2.0, 4.0, 8.0]}
ROTARY = {
    "phi3": (
        {"max_position_embeddings": 64, "original_max_position_embeddings": 32},
        {"rope_type": "longrope", "rope_theta": 1e4, **FACTORS},
    ),
    "llama": (
        {"max_position_embeddings": 32},
        {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    ),
}


@pytest.mark.parametrize("kind", ROTARY)
def test_angles_that_change_with_the_length_are_the_same_for_a_whole_decode(kind, tmp_path):
    torch.manual_seed(0)
    reach, rope = ROTARY[kind]
    sizes = {**GROUPED, **reach, "vocab_size": 300, "rope_parameters": rope}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes))
    with torch.no_grad():
        model.get_output_embeddings().weight *= 3
    model.save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    ours = sbd_core.load(tmp_path, device="cpu", dtype="float32")
    assert ours.max_positions == 32
    for prompt in random_ids(3, 300):
        num_new = 32 - len(prompt)
        expected = greedy(ours, prompt, num_new)
        assert answer(ours, prompt, "ntp", num_new) == expected
        assert answer(ours, prompt, "verify", num_new, 5, max_rows=12) == expected
        with pytest.raises(ArgumentError, match="at most 32, the reach of"):
            answer(ours, prompt, "verify", num_new + 1)
