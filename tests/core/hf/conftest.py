"""A random-weight folder that brings its own generate(), and what its answers must be."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import sbd_core
from sbd_core import DecodeConfig
from sbd_core.hf import write_custom_generate
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

PROMPTS = ["Tara has 49 pencils.", "The answer is", "a", "Why? " * 5]


LENGTH = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A random-weight model folder that brings its own generate()."""
    place = tmp_path_factory.mktemp("folder") / "tiny-sbd"
    save_tiny(
        place,
        "qwen3",
        tiny_tokenizer(),
        mask_token_id=2,
        set_block_decoding={"min_block_size": 2, "max_block_size": 16},
    )
    write_custom_generate(place)
    return place


@pytest.fixture(scope="module")
def ours(folder):
    return sbd_core.load(folder, device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def plain(folder):
    """The model as transformers loads it without leave to run the folder's code."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


@pytest.fixture(scope="module")
def tokenizer(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.padding_side = "left"
    return tokenizer


def answers(output, inputs) -> list[list[int]]:
    """The new tokens, up to and with the first end."""
    rows = output[:, inputs["input_ids"].shape[1] :].tolist()
    return [row[: row.index(1) + 1] if 1 in row else row for row in rows]


def expected(ours, inputs, config: DecodeConfig) -> list[list[int]]:
    pairs = zip(inputs["input_ids"], inputs["attention_mask"].bool(), strict=True)
    prompts = [ids[kept].tolist() for ids, kept in pairs]
    return [list(sbd_core.generate(ours, ids, config).token_ids) for ids in prompts]
