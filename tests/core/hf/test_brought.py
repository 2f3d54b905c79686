"""Model folders as other tools write them: transformers' tokens, or one sentence on why not.

Each test or row names the tool, and a version of it, that writes such a folder.
"""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError
from sbd_core.__main__ import main
from sbd_core.models.chat import encode_turn
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

WEIGHTS = "model.safetensors"
QUESTION = "Tara has 49 pencils."
CONFIG = DecodeConfig(strategy="ntp", max_new_tokens=8)


@pytest.fixture
def folder(tmp_path) -> Path:
    return save_tiny(tmp_path / "model", "llama", tiny_tokenizer())


def edit(file: Path, **changes: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def rewrite(folder: Path, change) -> None:
    """Save what `change` makes of the weights."""
    weights = change(load_file(folder / WEIGHTS))
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def refused(folder: Path, rule: str, capsys) -> None:
    """The command line says in one sentence why."""
    capsys.readouterr()
    assert main(["generate", "a", "--model", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert re.search(rule, said), said


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


PART = "model.layers.0.self_attn.q_proj"
LORA, SHARD = f"{PART}.lora_A.default.weight", "model-00002-of-00004.safetensors"


def with_parts(**parts: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    """Add or replace {what follows the part's name: its tensor, made of the part's own}."""

    def change(weights: dict) -> dict:
        own = weights[f"{PART}.weight"]
        return {**weights, **{f"{PART}.{name}": make(own) for name, make in parts.items()}}

    return lambda folder: rewrite(folder, change)


def in_fp8(scale: str, *shape: int) -> Callable[[Path], None]:
    made = {"weight": lambda own: own.to(torch.float8_e4m3fn), scale: lambda _: torch.ones(shape)}
    return with_parts(**made)


def under(prefix: str) -> Callable[[Path], None]:
    return lambda folder: rewrite(folder, lambda w: {prefix + name: w[name] for name in w})


def quantised(**told: object) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "config.json", quantization_config=told)


def without_a_shard(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    (folder / SHARD).unlink()


BROUGHT = {
    "DeepSpeed 0.19.8, ZeRO-3 not gathered": (
        with_parts(weight=lambda _: torch.empty(0)),
        f"has nothing in {PART}.weight: it was saved in parts, as by DeepSpeed ZeRO-3",
    ),
    "mergekit 0.1.5, tokenizer_source: union, beside a config copied by hand": (
        lambda folder: edit(folder / "config.json", vocab_size=512),
        r"lm_head.weight is \(285, 32\) and by its config \(512, 32\)",
    ),
    **{
        f"state_dict() of a wrapped model, {name}": (
            under(prefix),
            f"such as lm_head.weight; it has others, such as {prefix}",
        )
        for name, prefix in (
            ("torch 2.13, compile", "_orig_mod."),
            ("torch 2.13, DDP", "module."),
            ("peft 0.21.2", "base_model.model."),
        )
    },
    "huggingface_hub 2.4.0, hf download broken off": (without_a_shard, SHARD),
    "peft 0.21.2, a LoRA saved beside a base's own weights": (
        with_parts(**{"lora_A.default.weight": lambda _: torch.ones(4, 32)}),
        f"{LORA}, without which its other weights mean nothing",
    ),
    "llmcompressor 0.14.0.1, fp8 with a scale a channel, the base's config": (
        in_fp8("weight_scale", 32, 1),
        f"{PART}.weight_scale, without which",
    ),
    "DeepSeek-V3's converter, fp8 with a scale a square of 128, the base's config": (
        in_fp8("weight_scale_inv", 1, 1),
        f"{PART}.weight_scale_inv, without which",
    ),
    "unsloth's bnb-4bit": (
        quantised(quant_method="bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type="nf4"),
        "is quantised by bitsandbytes",
    ),
    "GPTQModel 7.7.0": (
        quantised(quant_method="gptq", bits=4, group_size=128),
        "is quantised by gptq",
    ),
    "AutoAWQ 0.2.9": (
        quantised(quant_method="awq", zero_point=True, group_size=128, bits=4, version="gemm"),
        "is quantised by awq",
    ),
    "transformers 5.23.0, save_pretrained() on a full disk": (
        lambda folder: (folder / "generation_config.json").write_text('{"eos_token_id": [1,'),
        "has a damaged generation_config.json",
    ),
}


@pytest.mark.parametrize("tool", BROUGHT)
def test_a_folder_that_cannot_be_read_says_which_part_and_why(tool, folder, capsys) -> None:
    damage, rule = BROUGHT[tool]
    damage(folder)
    refused(folder, rule, capsys)


def test_every_command_says_so_and_writes_nothing(folder, capsys) -> None:
    edit(folder / "config.json", vocab_size=512)
    out, data = folder.parent / "out", folder.parent / "data.jsonl"
    data.write_text('{"prompt": "a", "answer": "b"}\n')
    tuned = ["--recipe", "finetune", "--data", f"file:{data}", "--steps", "1"]
    adapted = ["--data", str(data), "--minutes", "1", "--out", str(out)]
    for line in (
        ["prepare", str(folder), "--out", str(out)],
        ["train", "--stage", "sbd", "--init", str(folder), "--out", str(out), *tuned],
        ["train-adapter", "--base", str(folder), *adapted],
        ["evaluate", "--model", str(folder), "--limit", "1"],
    ):
        capsys.readouterr()
        assert main(line) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1, said
        assert "and by its config (512, 32)" in said
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
    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = ours(folder)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(folder)
    assert ours(folder) == plain == by_transformers(folder, QUESTION)
    with pytest.raises(ArgumentError, match="has no embedding for; got 'zebra'"):
        ours(folder, "a zebra")
    model = sbd_core.load(folder, device="cpu")
    with pytest.raises(ArgumentError, match="must hold token ids from 0 to 284"):
        sbd_core.generate(model, [285], CONFIG)


def test_a_template_of_tokens_without_a_row_is_refused_at_once(folder) -> None:
    """transformers 5.23.0: a ChatML tokenizer saved beside a base that was not resized."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.chat_template = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"
    tokenizer.save_pretrained(folder)
    with pytest.raises(ModelError, match=r"no embedding for <\|im_start\|> \(285\)"):
        sbd_core.load(folder, device="cpu")


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


def test_what_trainers_leave_in_a_config_changes_no_token(folder) -> None:
    """unsloth 2026.10.9: its version (models/llama.py), padding on the left (save.py); axolotl
    0.19.0: use_cache off (loaders/utils.py); transformers 4.45: torch_dtype and the clean-up.
    """
    plain = ours(folder)
    told = {"use_cache": False, "torch_dtype": "bfloat16", "unsloth_version": "2026.10.9"}
    edit(folder / "config.json", **told)
    edit(folder / "tokenizer_config.json", padding_side="left", clean_up_tokenization_spaces=True)
    assert ours(folder) == plain
