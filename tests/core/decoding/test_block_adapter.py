"""Laws of decoding with an adapter that only the rows of a block read."""

import dataclasses
import os
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, generate_batch
from sbd_core.errors import ModelError
from sbd_core.hf.conversions import merge
from sbd_core.models.block_adapter import read_block_adapter, write_block_adapter
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.model_folder import ADAPTER_INFO
from sbd_core.solvers import CausalFirst, EntropyBound
from tests.conftest import in_pytorch, loaded
from tests.core.decoding.doubles import random_ids


@pytest.mark.parametrize(
    ("penalty", "block_size", "max_rows"), [(1.3, 2, 5), (1.0, 5, 41), (1.3, 8, 200)]
)
def test_verify_and_ntp_give_the_tokens_of_the_base_alone(
    adapted, llama, penalty, block_size, max_rows
) -> None:
    shared = {"max_new_tokens": 24, "repetition_penalty": penalty}
    verify = DecodeConfig(strategy="verify", block_size=block_size, max_rows=max_rows, **shared)
    ntp = DecodeConfig(strategy="ntp", **shared)
    for prompt in random_ids(4, llama.vocabulary_size):
        wanted = generate(llama, prompt, ntp).token_ids
        assert generate(adapted, prompt, ntp).token_ids == wanted
        assert generate(adapted, prompt, verify).token_ids == wanted


@pytest.mark.parametrize(
    ("strategy", "solver"),
    [("sbd", EntropyBound(2.0)), ("sbd", CausalFirst(3.0)), ("verify", EntropyBound())],
)
def test_batches_give_what_single_texts_give(adapted: HuggingFaceModel, strategy, solver) -> None:
    config = DecodeConfig(strategy=strategy, solver=solver, block_size=4, max_new_tokens=20)
    prompts = random_ids(5, adapted.vocabulary_size)
    together = generate_batch(adapted, prompts, config, batch_size=3)
    assert [trace.token_ids for trace in together] == [
        generate(adapted, prompt, config).token_ids for prompt in prompts
    ]


def test_a_draft_follows_the_token_before_it(adapted: HuggingFaceModel) -> None:
    """Without the sampler head the drafts are others, and the answer is the same."""
    plain = dataclasses.replace(adapted.adapter, sampler=None)
    alone = in_pytorch(adapted.model, adapted.tokenizer, adapted.name, plain)
    config = DecodeConfig(strategy="verify", block_size=8, max_new_tokens=24)
    drafts = []
    for prompt in random_ids(4, adapted.vocabulary_size):
        with_head, without = (generate(model, prompt, config) for model in (adapted, alone))
        assert with_head.token_ids == without.token_ids
        drafts.append([[event.draft for event in each.events] for each in (with_head, without)])
    assert any(one != other for one, other in drafts)


def test_an_adapter_of_other_weights_is_refused(adapter_folder, tiny_folders, tmp_path) -> None:
    adapter = read_block_adapter(adapter_folder)
    info = dataclasses.replace(adapter.info, base=str(tiny_folders["qwen3"]))
    write_block_adapter(dataclasses.replace(adapter, info=info), tmp_path)
    with pytest.raises(ModelError, match="was trained beside other weights"):
        loaded(tmp_path)


def without_the_mask(weights: Path) -> None:
    tensors = load_file(weights)
    del tensors["mask_embedding"]
    save_file(tensors, weights)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda weights: weights.with_name(ADAPTER_INFO).write_text("[]"), "or of a newer version"),
        (lambda weights: os.truncate(weights, 5000), "is damaged"),
        (Path.unlink, "is damaged"),
        (without_the_mask, "lacks 'mask_embedding'"),
    ],
)
def test_a_damaged_folder_is_one_line(adapter_folder, tmp_path, damage, words) -> None:
    shutil.copytree(adapter_folder, tmp_path, dirs_exist_ok=True)
    damage(*tmp_path.glob("*.safetensors"))
    with pytest.raises(ModelError, match=words) as raised:
        loaded(tmp_path)
    assert "\n" not in str(raised.value)


def test_merge_and_peft_refuse_it(adapter_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be merged: its causal rows must not read it"):
        merge(adapter_folder, tmp_path / "merged")
