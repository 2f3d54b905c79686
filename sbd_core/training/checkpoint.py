"""Model folders on disk: making a new model, and writing one so that nothing is half written."""

import copy
import json
import os
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from sbd_core.errors import ModelError, TrainingError
from sbd_core.models.huggingface import read
from sbd_core.training.recipe import Recipe
from sbd_core.training.sources import mixed, read_source
from sbd_core.training.tokenizer import train_tokenizer

# What a full disk raises: Python, safetensors and torch.save each have their own.
WRITING_ERRORS = (OSError, SafetensorError, RuntimeError)


def new_model(recipe: Recipe) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A random Llama of the recipe's shape, and a tokenizer trained on the recipe's corpus."""
    sources = [read_source(source) for source in recipe.data]
    stream = islice(mixed(recipe.seed, recipe.families, sources), recipe.tokenizer_examples)
    texts = (f"{example.prompt}\n{example.answer}" for example in stream)
    tokenizer = train_tokenizer(texts, recipe.vocabulary_size)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden_size,
        num_hidden_layers=recipe.num_layers,
        num_attention_heads=recipe.num_heads,
        num_key_value_heads=recipe.num_heads,
        intermediate_size=recipe.feed_forward_size,
        max_position_embeddings=recipe.max_positions,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(recipe.seed)
    return LlamaForCausalLM(config), tokenizer


def load_model(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model folder in fp32, for training. Raises TrainingError."""
    if not folder.is_dir():
        raise TrainingError(f"init: must be a model folder; got {folder}")
    try:
        return read(str(folder), torch.float32, is_folder=True, argument="init")
    except ModelError as error:
        raise TrainingError(str(error)) from error


def export(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, recipe: Recipe, folder: Path
) -> None:
    """Write a standard transformers folder in bf16, all of it or nothing."""

    shipped: Any = copy.deepcopy(model)
    shipped.to(torch.bfloat16)
    if recipe.stage == "sbd":
        shipped.config.set_block_decoding = {
            "min_block_size": recipe.min_block_size,
            "max_block_size": recipe.max_block_size,
        }
    shipped.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        suppress_tokens=[tokenizer.mask_token_id],
        do_sample=False,
    )

    def write(target: Path) -> None:
        shipped.save_pretrained(target)
        tokenizer.save_pretrained(target)
        (target / "recipe.json").write_text(json.dumps(recipe.to_data(), indent=2) + "\n")

    replace_folder(folder, write)


def replace_folder(folder: Path, write: Callable[[Path], Any]) -> None:
    """Have `write` fill a new folder beside `folder`, then put it in its place.

    A kill or a full disk at any moment leaves the old or the new folder whole, under `folder`
    or, for an instant, under `folder`.old; recover() brings it back.
    """
    fresh, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    folder.parent.mkdir(parents=True, exist_ok=True)
    recover(folder)
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        write(fresh)
    except WRITING_ERRORS as error:
        shutil.rmtree(fresh, ignore_errors=True)
        reason = " ".join(str(error).split())[:300]
        raise TrainingError(f"{folder}: cannot be written: {reason}") from error
    if folder.exists():
        os.rename(folder, old)
    os.rename(fresh, folder)
    shutil.rmtree(old, ignore_errors=True)


def recover(folder: Path) -> None:
    """Undo a replacement that was killed between its two renames, or clear up after one."""
    old = folder.with_name(folder.name + ".old")
    if old.exists() and not folder.exists():
        os.rename(old, folder)
    shutil.rmtree(old, ignore_errors=True)
