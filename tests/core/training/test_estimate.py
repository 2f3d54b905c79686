"""`train --estimate`: it counts what a real forward pass keeps, and says what fits."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AttentionInterface

from sbd_core.__main__ import main
from sbd_core.training import estimate as counting
from sbd_core.training.estimate import GIB, KNOWN, Setup, dry_run, estimate, read_config
from sbd_core.training.recipe import read_recipe
from sbd_core.training.step import LossModule
from tests.core.models.tiny_models import MAKERS, save_tiny, tiny_tokenizer

RECIPE = read_recipe("sbd", Path("finetune"), {"data": ("file:a.jsonl",), "row_tokens": 64})


def config_of(architecture: str, **more):
    return MAKERS[architecture][1](vocab_size=300, **more)


@pytest.mark.parametrize("architecture", ["qwen3", "llama", "gpt2"])
@pytest.mark.parametrize("is_bf16", [False, True])
def test_the_dry_run_counts_what_a_real_forward_pass_keeps(architecture, is_bf16) -> None:
    found = dry_run(config_of(architecture), RECIPE, 2, base_bytes=4, is_bf16=is_bf16)
    kind, _ = MAKERS[architecture]
    model = kind(config_of(architecture))
    AttentionInterface.register(counting.ATTENTION, counting._attention)
    model.set_attn_implementation(counting.ATTENTION)
    kept = counting._kept(LossModule(model).train(), 2, 64, is_bf16=is_bf16)
    assert found.num_layers * found.kept_by_layer + found.kept_by_rest == kept
    assert found.num_weights == sum(weight.numel() for weight in model.parameters())
    assert found.kept_by_layer > found.layer_input == 2 * 64 * 32 * 4


def test_an_adapter_is_counted_apart() -> None:
    pytest.importorskip("peft", reason="peft is of the optional part lora")
    lora = replace(RECIPE, lora_rank=4)
    found = dry_run(config_of("qwen3"), lora, 1, base_bytes=2, is_bf16=True)
    widths = [(32, 32), (32, 16), (32, 16), (32, 32), (32, 64), (32, 64), (64, 32)]
    assert found.num_trained == 2 * 4 * sum(map(sum, widths)) + 32, "and the mask's embedding"
    whole = estimate(config_of("qwen3"), RECIPE, Setup())
    beside = estimate(config_of("qwen3"), lora, Setup())
    assert beside.weights == 2 * found.num_weights + 4 * found.num_trained
    assert beside.optimizer == 8 * found.num_trained < whole.optimizer == 8 * found.num_weights


def test_gpus_share_out_what_they_hold() -> None:
    config = config_of("qwen3")
    one, ddp, fsdp = (
        estimate(config, RECIPE, Setup(num_gpus=count, sharding=kind))
        for count, kind in ((1, "none"), (4, "ddp"), (4, "fsdp"))
    )
    assert (one.num_rows, ddp.num_rows, fsdp.num_rows) == (32, 8, 8)
    assert ddp.weights == one.weights == 4 * fsdp.weights
    assert ddp.communication == ddp.gradients
    assert one.activations > 3 * ddp.activations
    saved = estimate(config, RECIPE, Setup(is_checkpointed=True))
    assert saved.activations < one.activations
    assert saved.total < one.total


def test_a_known_model_has_the_weights_that_its_makers_count() -> None:
    recipe = read_recipe("sbd", Path("finetune"), {"data": ("file:a.jsonl",)})
    config, _ = read_config(str(KNOWN / "Qwen3-8B.json"), recipe)
    setup = Setup(num_gpus=8, sharding="fsdp", num_parts=4)
    found = estimate(config, recipe, setup)
    assert found.num_trained == 8_190_735_360
    assert 32 * GIB < found.total < 80 * GIB


def test_the_command_names_flags_that_fit(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = save_tiny(tmp_path / "model", "qwen3", tiny_tokenizer())
    words = ["train", "--stage", "sbd", "--recipe", "finetune", "--estimate", "--json"]
    assert main([*words, "--init", str(folder), "--gpus", "2", "--sharding", "ddp"]) == 0
    printed = capsys.readouterr().out
    assert "ddp.yaml --num_processes 2 -m sbd_core train" in printed
    assert "with gradient checkpointing" in printed
    whole = json.loads(printed.splitlines()[-1])["total"]
    needed = (whole / GIB + 1.5) * 0.99
    assert main([*words, "--init", str(folder), "--gpu-memory", str(needed)]) == 0
    assert "--accumulate" in capsys.readouterr().out
    assert main([*words, "--init", str(folder), "--gpu-memory", "1"]) == 2
    assert "gpu_memory: must be more than one row" in capsys.readouterr().err
    assert main([*words, "--init", str(folder), "--gpus", "2", "--sharding", "none"]) == 2
    assert "must be ddp or fsdp" in capsys.readouterr().err
    assert main([*words, "--init", "nobody/nothing"]) == 2
    assert "must be a folder, a config.json or a hub id" in capsys.readouterr().err
    assert main([*words]) == 0, "the recipe's own new model"
    assert torch.get_default_dtype() == torch.float32
