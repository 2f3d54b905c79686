"""Model folders as other tools write them: transformers' tokens, or one sentence on why not.

Each test names the tool, and a version of it, that writes such a folder.
"""

import json
import logging
import re
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


@pytest.fixture
def refused(folder, capsys):
    """Checks that each command says in one sentence why, and writes nothing."""

    def check(rule: str) -> None:
        out, data = folder.parent / "out", folder.parent / "data.jsonl"
        data.write_text('{"prompt": "a", "answer": "b"}\n')
        tuned = ["--recipe", "finetune", "--data", f"file:{data}", "--steps", "1"]
        brief, _ = ["--minutes", "1"], capsys.readouterr()
        for line in (
            ["generate", "a", "--model", str(folder)],
            ["prepare", str(folder), "--out", str(out)],
            ["train", "--stage", "sbd", "--init", str(folder), "--out", str(out), *tuned],
            [
                "train-adapter",
                "--base",
                str(folder),
                "--data",
                str(data),
                "--out",
                str(out),
                *brief,
            ],
            ["evaluate", "--model", str(folder), "--limit", "1"],
        ):
            assert main(line) == 2
            said = capsys.readouterr().err
            assert said.count("\n") == 1, said
            assert re.search(rule, said), said
            assert not out.exists()

    return check


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


def test_a_part_that_zero_3_left_empty_is_named(folder, refused) -> None:
    """DeepSpeed 0.19.8, ZeRO-3 without stage3_gather_16bit_weights_on_model_save."""
    name = "model.layers.0.self_attn.q_proj.weight"
    rewrite(folder, lambda weights: {**weights, name: torch.empty(0)})
    refused(f"has nothing in {name}: it was saved in parts, as by DeepSpeed ZeRO-3")


def test_weights_of_another_shape_than_the_config_are_named_with_both(folder, refused) -> None:
    """mergekit 0.1.5 with tokenizer_source: union, beside a config.json copied by hand."""
    edit(folder / "config.json", vocab_size=512)
    refused(r"lm_head.weight is \(285, 32\) and by its config \(512, 32\)")


@pytest.mark.parametrize(
    "prefix", ["_orig_mod.", "module.", "base_model.model."], ids=["compile", "ddp", "peft"]
)
def test_weights_under_a_wrappers_names_say_which_they_are(folder, prefix, refused) -> None:
    """state_dict() of a wrapped model: torch 2.13, compile and DDP; peft 0.21.2."""
    rewrite(folder, lambda weights: {prefix + name: each for name, each in weights.items()})
    refused(f"such as lm_head.weight; it has others, such as {prefix}")


def test_a_shard_that_is_missing_is_named(folder, refused) -> None:
    """huggingface_hub 2.4.0, hf download broken off."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    (folder / "model-00002-of-00004.safetensors").unlink()
    refused("model-00002-of-00004.safetensors")


def test_lora_weights_within_a_whole_model_are_not_left_out_in_silence(folder, refused) -> None:
    """peft 0.21.2, save_file(model.state_dict()) beside a base's own weights."""
    name = "model.layers.0.self_attn.q_proj"
    rewrite(folder, lambda weights: {**weights, f"{name}.lora_A.default.weight": torch.ones(4, 32)})
    refused("lora_A.default.weight, without which its other weights mean nothing")


@pytest.mark.parametrize("scale", ["weight_scale", "weight_scale_inv"])
def test_fp8_weights_without_their_config_are_refused(folder, scale, refused) -> None:
    """llmcompressor 0.14.0 and DeepSeek's converter, config.json replaced by that of the base."""
    name = "model.layers.0.self_attn.q_proj"
    rewrite(
        folder,
        lambda weights: {
            **weights,
            f"{name}.weight": weights[f"{name}.weight"].to(torch.float8_e4m3fn),
            f"{name}.{scale}": torch.ones(1),
        },
    )
    refused(f"{name}.{scale}, without which")


@pytest.mark.parametrize(
    "told",
    [
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "awq", "bits": 4, "version": "gemm"},
    ],
    ids=lambda told: told["quant_method"],
)
def test_quantised_weights_are_refused_by_their_method(folder, told, refused) -> None:
    """unsloth 2026.10.9 (bnb-4bit), GPTQModel 7.7.0 and AutoAWQ 0.2."""
    edit(folder / "config.json", quantization_config=told)
    refused(f"is quantised by {told['quant_method']}")


def test_a_head_for_values_is_left_out_with_a_line(folder, caplog) -> None:
    """trl 0.11, AutoModelForCausalLMWithValueHead after PPO."""
    plain = ours(folder)
    head = {"v_head.summary.weight": torch.ones(1, 32), "v_head.summary.bias": torch.ones(1)}
    rewrite(folder, lambda weights: {**weights, **head})
    with caplog.at_level(logging.WARNING, "sbd_core"):
        assert ours(folder) == plain
    assert "holds 2 weights that its config does not name, such as v_head" in caplog.text


def test_a_broken_generation_config_is_not_taken_for_none(folder, refused) -> None:
    """transformers 5.23.0, save_pretrained() on a full disk: the end tokens were in that file."""
    (folder / "generation_config.json").write_text('{"eos_token_id": [1,')
    refused("has a damaged generation_config.json")


def test_tokens_without_a_row_are_named_where_they_are_used(folder) -> None:
    """unsloth 2026.10.9, tokens added without a resize; Gemma 3's tokenizer has one such, too."""
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
    """axolotl 0.19.0, the tokenizer of chat_template: chatml beside a base that was not resized."""
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
def test_a_template_with_a_date_or_marked_answers_is_written_as_transformers_does(
    kind, folder
) -> None:
    """SmolLM3's and Llama 3.2's date; trl 1.16.0's {% generation %} for assistant_only_loss."""
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
    """unsloth 2026.10.9 and axolotl 0.19.0: use_cache off, the dtype of training, padding left."""
    plain = ours(folder)
    told = {"use_cache": False, "torch_dtype": "bfloat16", "unsloth_version": "2026.10.9"}
    edit(folder / "config.json", **told)
    edit(folder / "tokenizer_config.json", padding_side="left", clean_up_tokenization_spaces=True)
    assert ours(folder) == plain
