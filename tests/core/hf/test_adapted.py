"""A block adapter behind model.generate() of transformers: the words are the base's own."""

from pathlib import Path

import pytest
import torch

import sbd_core.hf
from sbd_core import ArgumentError, DecodeConfig, generate, load
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.decoding.prompts import random_ids

SETTINGS = {"strategy": "verify", "block_size": 4}


def test_generate_decodes_as_the_engine_does_and_keeps_the_base_s_words(
    adapter_folder: Path, llama: HuggingFaceModel
) -> None:
    model, tokenizer = sbd_core.hf.read_adapted(adapter_folder)
    engine = load(adapter_folder, device="cpu", dtype="float32")
    num_forwards = []
    for prompt in random_ids(3, llama.vocabulary_size):
        arguments = {"inputs": torch.tensor([prompt]), "max_new_tokens": 20}
        words = model.generate(**arguments, do_sample=False)
        output = model.generate(
            **arguments,
            do_sample=False,
            custom_generate=sbd_core.hf.generate,
            return_dict_in_generate=True,
            **SETTINGS,
        )
        assert output.sequences.tolist() == words.tolist()
        trace = generate(engine, prompt, DecodeConfig(max_new_tokens=20, **SETTINGS))
        assert [*prompt, *trace.token_ids] == output.sequences[0].tolist()
        num_forwards.append((output.num_forwards[0], trace.num_forwards))
    assert all(ours == its for ours, its in num_forwards)
    assert tokenizer.mask_token_id == engine.mask_token_id


def test_a_folder_without_a_block_adapter_is_refused(tiny_folders: dict[str, Path]) -> None:
    with pytest.raises(ArgumentError, match="path: must be the folder of a block adapter"):
        sbd_core.hf.read_adapted(tiny_folders["llama"])


def test_in_bfloat16_on_a_cpu_an_adapter_runs_through_the_model_s_own_modules(
    adapter_folder: Path,
) -> None:
    model = load(adapter_folder, device="cpu", dtype="bfloat16")
    assert model.runs_on == "transformers, bfloat16"
    [prompt] = random_ids(1, model.vocabulary_size)
    assert generate(model, prompt, DecodeConfig(max_new_tokens=8, **SETTINGS)).num_tokens
