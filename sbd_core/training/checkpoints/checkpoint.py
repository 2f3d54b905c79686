"""Model folders on disk: making a new model, and writing one so that nothing is half written."""

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from transformers import (
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from sbd_core.errors import ArgumentError, ModelError, TrainingError, require_integer
from sbd_core.hf.vendoring import write_custom_generate
from sbd_core.models.loading import read
from sbd_core.models.model_config import add_end_token
from sbd_core.training.data.sources import LeftOut, mixed, read_source
from sbd_core.training.data.tokenizer import train_tokenizer
from sbd_core.training.recipe import Recipe

RECIPE_FILE = "recipe.json"
"""What tells a model folder that training wrote from any other folder."""

SMALL_SHARD, SHARD = "9MB", "4GB"
"""Of a file of weights: small models go into repositories that refuse files of 10 MB."""
MOST_SMALL = 100_000_000
"""Weights of a small model."""


def new_model(recipe: Recipe) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A random Llama of the recipe's shape, and a tokenizer trained on the recipe's corpus.

    Raises ArgumentError for a shape that no Llama has.
    """
    # Rotary positions turn the numbers of a head in pairs.
    if recipe.hidden_size % (2 * recipe.num_heads):
        rule = f"must be a multiple of twice num_heads ({recipe.num_heads})"
        raise ArgumentError("hidden_size", rule, recipe.hidden_size)
    require_integer("max_positions", recipe.max_positions, recipe.row_tokens)
    tokenizer = _tokenizer_of(recipe.tokenizer) if recipe.tokenizer else _new_tokenizer(recipe)
    config = new_config(recipe, len(tokenizer))
    config.eos_token_id, config.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    torch.manual_seed(recipe.seed)
    return LlamaForCausalLM(config), tokenizer


def _new_tokenizer(recipe: Recipe) -> PreTrainedTokenizerBase:
    sources = [read_source(source, LeftOut(source)) for source in recipe.data]
    drawn = mixed(recipe.seed, recipe.tasks, sources)
    stream = islice(drawn, recipe.tokenizer_examples)
    texts = (f"{example.prompt}\n{example.answer}" for example in stream)
    return train_tokenizer(texts, recipe.vocabulary_size)


def _tokenizer_of(folder: str) -> PreTrainedTokenizerBase:
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ArgumentError("tokenizer", "must be a folder with a tokenizer", folder) from error


def new_config(recipe: Recipe, vocabulary_size: int) -> LlamaConfig:
    """The shape of a new model."""
    return LlamaConfig(
        vocab_size=vocabulary_size,
        hidden_size=recipe.hidden_size,
        num_hidden_layers=recipe.num_layers,
        num_attention_heads=recipe.num_heads,
        num_key_value_heads=recipe.num_heads,
        intermediate_size=recipe.feed_forward_size,
        max_position_embeddings=recipe.max_positions,
        tie_word_embeddings=True,
        bos_token_id=None,
    )


def load_model(
    folder: Path, dtype: torch.dtype = torch.float32
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model folder, in fp32 for training. Raises TrainingError."""
    if not folder.is_dir():
        raise TrainingError(f"init: must be a model folder; got {folder}")
    try:
        return read(str(folder), dtype, is_folder=True, argument="init")
    except ModelError as error:
        raise TrainingError(str(error)) from error


def export(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, recipe: Recipe, folder: Path
) -> None:
    """Write a standard transformers folder in bf16, all of it or nothing.

    What else lies in `folder`, a model card say, stays in it.
    """
    shipped: Any = copy.deepcopy(model)
    shipped.to(torch.bfloat16)
    if recipe.stage == "sbd":
        told = getattr(model.config, "set_block_decoding", None) or {}
        shipped.config.set_block_decoding = {
            "min_block_size": recipe.min_block_size,
            "max_block_size": recipe.max_block_size,
            "strategy": told.get("strategy", "sbd"),
        }
        shipped.config.mask_token_id = tokenizer.mask_token_id
    add_end_token(shipped, tokenizer)
    shipped.generation_config = _generation_config(shipped, tokenizer)

    def write(target: Path) -> None:
        is_small = shipped.num_parameters() <= MOST_SMALL
        shipped.save_pretrained(target, max_shard_size=SMALL_SHARD if is_small else SHARD)
        tokenizer.save_pretrained(target)
        if recipe.stage == "sbd":
            write_custom_generate(target)
        (target / RECIPE_FILE).write_text(json.dumps(recipe.to_data(), indent=2) + "\n")
        keep_others(folder, target)

    replace_folder(folder, write)


def keep_others(folder: Path, target: Path) -> None:
    """Copy the files of `folder` that `target` has none of, weights apart."""
    for item in folder.iterdir() if folder.is_dir() else ():
        is_weights = ".safetensors" in item.name
        if item.is_file() and not is_weights and not (target / item.name).exists():
            shutil.copy2(item, target)


def _generation_config(model: Any, tokenizer: PreTrainedTokenizerBase) -> GenerationConfig:
    """The model's own, which never answers with the mask."""
    config = copy.deepcopy(model.generation_config)
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id
    config.suppress_tokens = sorted({*(config.suppress_tokens or []), tokenizer.mask_token_id})
    if not config.do_sample:
        config.do_sample = False
    return config


def replace_folder(folder: Path, write: Callable[[Path], Any]) -> None:
    """Have `write` fill a new folder beside `folder`, then put it in its place.

    A kill or a full disk at any moment leaves the old or the new folder whole, under `folder`
    or, for an instant, under its name for the old one; recover() brings it back.
    """
    fresh, old = _beside(folder, "new"), _beside(folder, "old")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        recover(folder)
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        write(fresh)
        _flush(fresh)
    except Exception as error:
        # What a full disk raises: Python, safetensors, torch and tokenizers each have their own,
        # the last one a bare Exception.
        shutil.rmtree(fresh, ignore_errors=True)
        reason = " ".join(str(error).split())[:300]
        raise TrainingError(f"{folder}: cannot be written: {reason}") from error
    if folder.exists():
        os.rename(folder, old)
    os.rename(fresh, folder)
    _flush_entry(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Have all of `folder` on the disk before it takes another's name: power may fail, too."""
    for entry in (*folder.rglob("*"), folder):
        _flush_entry(entry)


def _flush_entry(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def recover(folder: Path) -> None:
    """Undo a replacement that was killed between its two renames, or clear up after one."""
    old = _beside(folder, "old")
    if old.exists() and not folder.exists():
        os.rename(old, folder)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold `folder` for one run, which may replace a model that training wrote and nothing else.

    Raises ArgumentError for a folder of something else, TrainingError where nothing can be
    written or while another process holds it.
    """
    is_named = folder.name not in ("", "..")
    is_ours = not folder.exists() or (
        folder.is_dir() and ((folder / RECIPE_FILE).is_file() or not any(folder.iterdir()))
    )
    if not (is_named and is_ours):
        rule = "must be a new folder, or one that training wrote, which is replaced"
        raise ArgumentError("out", rule, str(folder))
    lock = FileLock(_beside(folder, "lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise TrainingError(f"{folder}: another run is writing it; give another --out") from error
    except OSError as error:
        raise TrainingError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


def _beside(folder: Path, kind: str) -> Path:
    """A hidden name, which nobody gives a folder of their own."""
    return folder.with_name(f".{folder.name}.{kind}")
