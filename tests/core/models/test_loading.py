"""Loading: a folder gives transformers' tokens, or one sentence says why not and what to do.

A test or row about another tool's folder names the tool, and a version of it, that writes such one.
"""

import copy
import json
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BartConfig,
    GenerationConfig,
    PreTrainedTokenizerFast,
    ViTConfig,
)

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, MissingExtraError, ModelError
from sbd_core.hf.generation import HONOURED_HERE
from sbd_core.hf.generation import generate as hf_generate
from sbd_core.models.chat import encode_turn
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.logits_processors import HONOURED
from sbd_core.models.mask_token import require_special_rows
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, WEIGHTS, read_checkpoint_info
from sbd_core.sampling import LogitStatsSpec
from sbd_core.solvers import CausalFirst
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import save_tiny, tiny_model, tiny_tokenizer

WEIGHTS_FILE = "model.safetensors"


@pytest.fixture
def folder(tmp_path: Path, tiny_folders) -> Path:
    """A good folder of one's own to damage."""
    return Path(shutil.copytree(tiny_folders["llama"], tmp_path / "model"))


def refused(source: object) -> str:
    with pytest.raises(ModelError) as caught:
        sbd_core.load(source, device="cpu")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    return message


def edit(file: Path, **changes: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_the_good_folder_loads_and_is_called_by_its_name(folder) -> None:
    model = sbd_core.load(str(folder), device="cpu")
    assert model.name == "model"
    assert model.block_range is None
    assert model.vocabulary_size == model.model.config.vocab_size
    assert model.tokenizer.convert_ids_to_tokens(model.mask_token_id) == "<m>"
    assert model.end_token_ids == {model.tokenizer.eos_token_id}
    assert not model.model.training


NAMES = ["/no/such/folder", "~/nope", "a/b/c", "", "\x00", "x" * 5000]


@pytest.mark.parametrize("source", NAMES, ids=lambda name: name[:16])
def test_a_missing_folder_is_refused(source) -> None:
    assert refused(source).startswith("model: ")


def rewrite(folder: Path, change) -> None:
    """Save what `change` makes of the weights."""
    weights = change(load_file(folder / WEIGHTS_FILE))
    save_file(weights, folder / WEIGHTS_FILE, metadata={"format": "pt"})


def pickled(folder: Path) -> None:
    torch.save(load_file(folder / WEIGHTS_FILE), folder / "pytorch_model.bin")
    (folder / WEIGHTS_FILE).unlink()


def without_a_weight(folder: Path) -> None:
    rewrite(folder, lambda weights: {n: w for n, w in weights.items() if not n.startswith(PART)})


def told(**changes: object) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "config.json", **changes)


def asking(**settings: object) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "generation_config.json", max_length=20, **settings)


def written(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text)


PART = "model.layers.0.self_attn.q_proj"
LORA, SHARD = f"{PART}.lora_A.default.weight", "model-00002-of-00004.safetensors"


def with_parts(**parts: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    """Add or replace {what follows the part's name: its tensor, made of the part's own}."""

    def change(weights: dict) -> dict:
        own = weights[f"{PART}.weight"]
        return {**weights, **{f"{PART}.{name}": make(own) for name, make in parts.items()}}

    return lambda folder: rewrite(folder, change)


def of_a_wrapped_model(folder: Path) -> None:
    rewrite(folder, lambda weights: {f"module.{name}": weights[name] for name in weights})


def without_a_shard(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    (folder / WEIGHTS_FILE).unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    (folder / SHARD).unlink()


def tokenizer_with(change: Callable[[Any], object]) -> Callable[[Path], None]:
    """Save the tokenizer with a change, and the model as it was."""

    def save(folder: Path) -> None:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        change(tokenizer)
        tokenizer.save_pretrained(folder)

    return save


def with_chatml(tokenizer: Any) -> None:
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"


DAMAGED = {
    "pickled weights": (pickled, "safetensors"),
    "a weight missing": (without_a_weight, f"{PART}.weight"),
    "no config": (lambda folder: (folder / "config.json").unlink(), "config.json"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "model: "),
    "a model of the future": (written("config.json", '{"model_type": "llama9"}'), "llama9"),
    "a config that is a list": (written("config.json", "[]"), ""),
    "half a tokenizer": (written("tokenizer.json", "{"), ""),
    "weights of 500 bytes": (lambda folder: os.truncate(folder / WEIGHTS_FILE, 500), ""),
    "a vocabulary of 200": (told(vocab_size=200), "mismatch"),
    "a size that is text": (told(hidden_size="x"), ""),
    "padding without a row": (told(pad_token_id=99_999), "AssertionError: Padding_idx must be"),
    **{
        f"block sizes {value}": (told(set_block_decoding=value), "set_block_decoding")
        for value in ([2, 16], {"min_block_size": 2}, {"min_block_size": 8, "max_block_size": 4})
    },
    "state_dict() of a model under DDP": (
        of_a_wrapped_model,
        "such as lm_head.weight; it has others, such as module.",
    ),
    "a download broken off": (without_a_shard, SHARD),
    "peft 0.21.2, a LoRA saved beside a base's own weights": (
        with_parts(**{"lora_A.default.weight": lambda _: torch.ones(4, 32)}),
        f"{LORA}, without which its other weights mean nothing",
    ),
    "DeepSeek-V3's converter, fp8 with a scale a square of 128, the base's config": (
        with_parts(
            weight=lambda own: own.to(torch.float8_e4m3fn),
            weight_scale_inv=lambda _: torch.ones(1, 1),
        ),
        f"{PART}.weight_scale_inv, without which",
    ),
    "GPTQModel 7.7.0": (
        told(quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128}),
        "is quantised, and weights",
    ),
    **{
        f"{name} {value}": (asking(**{name: value}), f"its generation_config asks for {name}")
        for name, value in {
            "bad_words_ids": [[5, 6]],
            "min_new_tokens": 4,
            "forced_eos_token_id": 1,
        }.items()
    },
    **{
        f'transformers 5.23.0, add_special_tokens({{"{name}": "<new>"}}) without resizing': (
            tokenizer_with(
                lambda tokenizer, name=name: tokenizer.add_special_tokens({name: "<new>"})
            ),
            f"no embedding for its tokenizer's {name} '<new>' (285)",
        )
        for name in ("pad_token", "eos_token", "bos_token")
    },
    "transformers 5.23.0, a ChatML tokenizer beside a base that was not resized": (
        tokenizer_with(with_chatml),
        "no embedding for <|im_start|> (285)",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_refused(name, folder) -> None:
    damage, words = DAMAGED[name]
    damage(folder)
    assert words in refused(folder)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("device", value) for value in ("tpu", "", "cpu:0", "cuda:x", "cuda:99")),
        *(("dtype", value) for value in ("int7", "fp32", "")),
    ],
)
def test_an_unknown_device_or_dtype_is_named(folder, argument, value) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        sbd_core.load(folder, **{"device": "cpu", argument: value})


def test_loading_says_nothing(folder, capfd) -> None:
    sbd_core.load(folder, device="cpu")
    assert capfd.readouterr() == ("", "")


PROMPT = [10, 20, 30]


def with_settings(folder: Path, **settings: object) -> Path:
    save_tiny(folder, "llama", tiny_tokenizer(), mask_token_id=2)
    told = {"eos_token_id": 1, "pad_token_id": 0, **settings}
    (folder / "generation_config.json").write_text(json.dumps(told))
    return folder


def answers(folder: Path) -> list[tuple[int, ...]]:
    """Answers of transformers, then of both exact strategies."""
    model = sbd_core.load(folder, device="cpu", dtype="float32")
    ids = model.model.generate(input_ids=torch.tensor([PROMPT]), max_new_tokens=12, do_sample=False)
    configs = [DecodeConfig(strategy=name, max_new_tokens=12) for name in ("ntp", "verify")]
    ours = [sbd_core.generate(model, PROMPT, config).token_ids for config in configs]
    return [tuple(ids[0, 3:].tolist()), *ours]


def test_what_a_folder_bans_is_never_an_answer(tmp_path) -> None:
    plain = answers(with_settings(tmp_path / "plain", suppress_tokens=[2]))
    assert len(set(plain)) == 1
    banned = plain[0][0]
    for name, setting in (
        ("suppressed", {"suppress_tokens": [2, banned]}),
        ("bad", {"bad_words_ids": [[banned]], "suppress_tokens": [2]}),
        ("penalty", {"repetition_penalty": 1.5, "suppress_tokens": [2]}),
    ):
        found = answers(with_settings(tmp_path / name, **setting))
        assert len(set(found)) == 1
        assert found != plain
        assert name == "penalty" or banned not in found[0]


def test_what_a_folder_bans_is_not_guessed_either(tmp_path) -> None:
    config = DecodeConfig(
        solver=CausalFirst(1e6), block_size=4, max_new_tokens=12, allows_untrained_block_size=True
    )

    def guessed(name: str, *banned: int) -> tuple[int, ...]:
        settings = {"repetition_penalty": 1.01, "suppress_tokens": [2, *banned]}
        model = sbd_core.load(with_settings(tmp_path / name, **settings), device="cpu")
        return sbd_core.generate(model, PROMPT, config).token_ids

    second = guessed("free")[1]  # by a mask of the first pass
    assert second not in guessed("banned", second)


@pytest.mark.parametrize(
    "settings",
    [
        {"min_p": 0.4, "suppress_tokens": [2, 30]},
        {"top_k": 20, "top_p": 0.9, "temperature": 0.6, "renormalize_logits": True},
        {"typical_p": 0.5, "epsilon_cutoff": 0.001, "top_h": 0.9},
    ],
    ids=str,
)
def test_sampling_draws_from_what_transformers_does(tmp_path, settings) -> None:
    temperature = 0.5
    told = {"do_sample": True, "suppress_tokens": [2], **settings}
    model = sbd_core.load(with_settings(tmp_path / "m", **told), device="cpu")
    asked = copy.deepcopy(model.model.generation_config)
    asked.update(temperature=temperature)
    warpers = model.model._get_logits_processor(asked, input_ids_seq_length=1, device="cpu")
    logits = 4 * torch.randn(6, model.vocabulary_size, generator=torch.Generator().manual_seed(0))
    expected = warpers(torch.zeros(6, 1, dtype=torch.long), logits.clone()).softmax(1)
    spec = LogitStatsSpec(forbidden_id=2, temperature=temperature)
    found = model.compute_logit_stats(logits.clone(), 0, 6, spec).distribution
    torch.testing.assert_close(found, expected)
    greedy = model.compute_logit_stats(logits.clone(), 0, 6, LogitStatsSpec(forbidden_id=2))
    logits[:, told["suppress_tokens"]] = -torch.inf
    assert greedy.best_ids == logits.argmax(1).tolist()


def test_vllm_names_no_limit_by_a_top_k_of_minus_1(tmp_path) -> None:
    """transformers refuses -1 where it samples, and only there."""
    config = DecodeConfig(strategy="ntp", max_new_tokens=12)
    free, unlimited = (
        sbd_core.load(with_settings(tmp_path / str(k), do_sample=True, top_k=k), device="cpu")
        for k in (0, -1)
    )
    for each in (config, replace(config, temperature=1.0)):
        wanted = sbd_core.generate(free, PROMPT, each).token_ids
        assert sbd_core.generate(unlimited, PROMPT, each).token_ids == wanted


@pytest.fixture
def card(tmp_path):
    """The small files of the bundled model, and the one that says that it has weights."""
    [weights] = [name for name in WEIGHTS if (DEFAULT_CHECKPOINT / name).is_file()]
    for name in ("config.json", "tokenizer_config.json", weights):
        shutil.copy(DEFAULT_CHECKPOINT / name, tmp_path / name)
    return tmp_path


def test_a_card_says_what_the_loaded_model_says(nano: HuggingFaceModel, card: Path) -> None:
    for folder, name in ((None, nano.name), (card, card.name)):
        info = read_checkpoint_info(folder)
        assert info is not None
        assert (info.name, info.block_range) == (name, nano.block_range)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "["),
        ("config.json", '{"model_type": "llama"}'),
        ("config.json", '{"set_block_decoding": {"min_block_size": 4, "max_block_size": 2}}'),
        ("tokenizer_config.json", '{"mask_token": null}'),
    ],
)
def test_what_a_folder_does_not_tell_is_left_to_loading(card, file, text) -> None:
    (card / file).write_text(text)
    assert read_checkpoint_info(card) is None
    (card / file).unlink()
    assert read_checkpoint_info(card) is None


def test_what_the_hub_answers_is_said_after_the_name_and_is_the_cause() -> None:
    """Tests are offline, so the answer is that there is none."""
    with pytest.raises(ModelError) as caught:
        sbd_core.load("some/model", device="cpu")
    message, cause = str(caught.value), caught.value.__cause__
    assert message.startswith("model: 'some/model' cannot be read: OSError: We couldn't connect")
    assert isinstance(cause, OSError)
    assert " ".join(str(cause).split())[:200] in message


def test_code_of_a_folder_is_refused_and_not_run(tmp_path) -> None:
    auto_map = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": auto_map}))
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert "custom code" in refused(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("kind", "rule"), [(BartConfig, "must be a decoder alone"), (ViTConfig, "ViTConfig")]
)
def test_what_is_no_decoder_is_refused_by_its_config(kind, rule, tmp_path) -> None:
    kind().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    assert rule in refused(tmp_path)


def test_an_adapter_without_peft_says_what_to_install(tmp_path, monkeypatch) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sbd-core\[lora\]"'):
        sbd_core.load(tmp_path, device="cpu")


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: x")]
)
def test_memory_that_runs_out_is_one_line_with_what_to_change(error, nano, capsys) -> None:
    with (
        mock.patch.object(sbd_core, "load", return_value=nano),
        mock.patch.object(type(nano), "forward_batch", side_effect=error),
        mock.patch.object(type(nano), "forward", side_effect=error),
    ):
        said = refusal(capsys, ["generate", "What is 1 + 2?"])
    assert said.startswith("out of memory: ask for a smaller batch size")


QUESTION = "Tara has 49 pencils."
CONFIG = DecodeConfig(strategy="ntp", max_new_tokens=8)


def by_transformers(folder: Path, question: str) -> list[int]:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], add_generation_prompt=True, return_tensors="pt"
    )
    model = AutoModelForCausalLM.from_pretrained(folder)
    made = model.generate(**inputs, max_new_tokens=8, do_sample=False)
    return made[0, inputs["input_ids"].shape[1] :].tolist()


def ours(folder: Path, question: str = QUESTION) -> list[int]:
    model = sbd_core.load(folder, device="cpu", dtype="float32")
    return list(sbd_core.generate(model, question, CONFIG).token_ids)


def test_every_command_says_so_in_a_line_and_writes_nothing(folder, capsys) -> None:
    edit(folder / "config.json", vocab_size=512)
    out, data = folder.parent / "out", folder.parent / "data.jsonl"
    data.write_text('{"prompt": "a", "answer": "b"}\n')
    tuned = ["--recipe", "finetune", "--data", f"file:{data}", "--steps", "1"]
    adapted = ["--data", str(data), "--minutes", "1"]
    for line in (
        ["generate", "a", "--model", str(folder)],
        ["prepare", str(folder), "--out", str(out)],
        ["train", "--stage", "sbd", "--init", str(folder), "--out", str(out), *tuned],
        ["train-adapter", "--base", str(folder), "--out", str(out), *adapted],
        ["evaluate", "--model", str(folder), "--limit", "1"],
    ):
        assert "cannot be read: " in refusal(capsys, line)
        assert not out.exists()


def test_a_head_for_values_is_left_out_with_a_line(folder, caplog) -> None:
    """trl 0.11, models/modeling_value_head.py, after PPO; trl 1.16.0 has no such head."""
    plain = ours(folder)
    head = {"v_head.summary.weight": torch.ones(1, 32), "v_head.summary.bias": torch.ones(1)}
    rewrite(folder, lambda weights: {**weights, **head})
    with caplog.at_level(logging.WARNING, "sbd_core"):
        assert ours(folder) == plain
    assert "holds 2 weights that its config does not name, such as v_head" in caplog.text


def test_tokens_without_a_row_are_named_where_they_are_used(folder) -> None:
    """transformers 5.23.0, add_tokens() without resize_token_embeddings(). Gemma 3's tokenizer has
    one such token, too; unsloth's and axolotl's own ways to add tokens resize the model.
    """
    plain = ours(folder)
    tokenizer_with(lambda tokenizer: tokenizer.add_tokens(["zebra"]))(folder)
    assert ours(folder) == plain == by_transformers(folder, QUESTION)
    with pytest.raises(ArgumentError, match="has no embedding for; got 'zebra'"):
        ours(folder, "a zebra")
    model = sbd_core.load(folder, device="cpu")
    with pytest.raises(ArgumentError, match="must hold token ids from 0 to 284"):
        sbd_core.generate(model, [285], CONFIG)


@pytest.mark.parametrize("writes", [True, False])
def test_an_unknown_token_needs_a_row_only_where_the_tokenizer_writes_it(writes) -> None:
    words = WordLevel({"a": 0, "b": 1, "<unk>": 2}, unk_token="<unk>")
    inner = Tokenizer(words if writes else BPE({"a": 0, "b": 1, "<unk>": 2}, []))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")
    expected = pytest.raises(ModelError, match="no embedding for its tokenizer's unk_token '<unk>'")
    with expected if writes else nullcontext():
        require_special_rows(tiny_model("llama", 2), tokenizer, "it")


TEMPLATES = {
    "date": "{{ strftime_now('%Y') }}{% for m in messages %}<user>{{ m.content }}{% endfor %}",
    "generation": (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
        "<eos>{% endgeneration %}{% else %}<user>{{ m.content }}<assistant>{% endif %}{% endfor %}"
    ),
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_template_with_a_date_or_marked_answers_is_written_as_transformers_does(kind, folder):
    """SmolLM3's and Llama 3.2's date; {% generation %} of trl 1.16.0's
    chat_templates/*_training.jinja, for assistant_only_loss.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATES[kind]
    tokenizer.save_pretrained(folder)
    assert ours(folder) == by_transformers(folder, QUESTION)
    turns = [("user", QUESTION)]
    prompt, answer = encode_turn(tokenizer, turns, "Seven.", "model")
    chat = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "Seven."}]
    whole = tokenizer.apply_chat_template(chat)["input_ids"]
    ending = [] if kind == "generation" else [tokenizer.eos_token_id]
    assert [*prompt, *answer] == [*whole, *ending]


FIELDS = sorted(set(GenerationConfig().to_dict()) - HONOURED)


@pytest.mark.parametrize("setting", FIELDS)
def test_every_setting_that_decoding_would_ignore_is_refused_by_name(setting, nano, tmp_path):
    value = {} if setting == "watermarking_config" else 2
    folder = with_settings(tmp_path / "m", **{setting: value})
    said = refused(folder)
    assert setting in said
    if setting not in HONOURED_HERE:
        config = copy.deepcopy(nano.model.generation_config)
        setattr(config, setting, True)
        with pytest.raises(ArgumentError, match=f"^{setting}: "):
            hf_generate(nano.model, torch.tensor([PROMPT]), generation_config=config)


@pytest.mark.parametrize("names", [["default", "tool_use"], ["rag", "tool_use"]])
def test_of_several_templates_the_default_is_used(folder, names) -> None:
    """transformers 4.45, tokenizers of Command R: chat_template as a list of names."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = ours(folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    told = [{"name": name, "template": "{{ 1 }}"} for name in names]
    told[0]["template"] = tokenizer.chat_template
    edit(folder / "tokenizer_config.json", chat_template=told)
    if names[0] == "default":
        assert ours(folder) == plain
    else:
        with pytest.raises(ModelError, match="multiple chat templates with no default"):
            sbd_core.load(folder, device="cpu")
