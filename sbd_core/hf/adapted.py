"""read_adapted(): the base of a block adapter as a transformers model that reads it."""

from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from sbd_core.errors import ArgumentError
from sbd_core.models.backends.transformers import GatedLinears
from sbd_core.models.checkpoint_info import bundled_folder, is_block_adapter
from sbd_core.models.loading import read_with_adapter


def read_adapted(
    path: str | Path, dtype: torch.dtype = torch.float32
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Model and tokenizer of the folder of a block adapter, or of a bundled one by its name.

    model.generate(**inputs, custom_generate=sbd_core.hf.generate, strategy="verify") decodes with
    the adapter; without custom_generate the model is its base. Raises ArgumentError, ModelError.
    """
    folder = bundled_folder(str(path)) or Path(path)
    if not is_block_adapter(folder):
        rule = "must be the folder of a block adapter, as sbd train-adapter writes it"
        raise ArgumentError("path", rule, str(path))
    model, tokenizer, adapter = read_with_adapter(folder, dtype)
    model.block_adapter = GatedLinears(model, adapter)
    model.config.mask_token_id = adapter.info.mask_token_id
    model.generation_config.suppress_tokens = [adapter.info.mask_token_id]
    return model, tokenizer
