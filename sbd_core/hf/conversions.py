"""Makes one model folder from another: prepare() adds a mask token, merge() merges a peft adapter.

A prepared model can be trained to decode blocks; a merged model needs no peft. The written folder
is read again, to check that the model's logits have not changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sbd_core.config import MAX_BLOCK_SIZE, StrategyName, require_strategy
from sbd_core.errors import ModelError, one_line, require_extra, require_integer, shown
from sbd_core.files import replaced_folder, require_new_folder
from sbd_core.hf.hub import write_custom_generate
from sbd_core.models.loading import (
    loading_errors,
    read,
    read_fit,
    read_with_peft,
    require_causal_lm,
)
from sbd_core.models.mask_token import MaskToken, choose_mask_token, give_mask_token
from sbd_core.models.mask_token import num_embedding_rows as num_rows
from sbd_core.models.model_folder import BlockSettings, block_config, is_block_adapter
from sbd_core.models.peft_adapter import is_adapter
from sbd_core.models.runtime import bars_only_on_a_terminal

NUM_PROBES, PROBE_LENGTH = 4, 24
TOLERANCE = 1e-3
"""Largest change of a logit that counts as rounding, relative to the largest logit."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """The result of prepare().

    block_range: smallest and largest block size to train with.
    num_rows: number of rows of the embedding before and after.
    num_checked: number of positions whose logits were compared; the likeliest token of each is the
        same as before.
    largest_change: largest change of any logit but the mask token's, at these positions.
    """

    model: str
    folder: str
    mask_token: MaskToken
    block_range: tuple[int, int]
    num_rows: tuple[int, int]
    num_checked: int
    largest_change: float

    def __str__(self) -> str:
        mask, (before, after) = self.mask_token, self.num_rows
        where = {
            "existing": "was there already and is kept",
            "reserved": "reuses a reserved token; its row now holds the mean of the others",
            "spare": "takes a row of the embedding that no token used, with the mean of the others",
            "added": f"was added with the mean of the others: {before} rows became {after}",
        }[mask.origin]
        low, high = self.block_range
        return (
            f"mask token {mask.text} (id {mask.token_id}) {where}\n"
            f"config: set_block_decoding for blocks of {low} to {high}, mask_token_id; "
            "generation_config: the mask is never an answer\n"
            f"next-token prediction is unchanged: {self.num_checked} of {self.num_checked} next "
            f"tokens are the same, the largest change of a logit is {self.largest_change:g}\n"
            f"wrote {self.folder}; it is not trained yet: sbd train --stage sbd "
            f"--init {self.folder} --out ..."
        )


def prepare(
    source: str | Path,
    out: str | Path,
    *,
    block_range: tuple[int, int] = (2, 16),
    strategy: StrategyName = "sbd",
) -> Preparation:
    """Write the model `source` with a mask token to the folder `out`, ready for training.

    source: a model folder, a hub id, or the name of a base model that `sbd fetch` downloads.
    out: a new or empty folder; it is unchanged if ArgumentError or ModelError is raised.
    block_range: smallest and largest block size to train with.
    strategy: default strategy of the model, also after training.
    """
    low, high = block_range
    require_strategy(strategy)
    require_integer("min_block_size", low, 1, MAX_BLOCK_SIZE)
    require_integer("max_block_size", high, low, MAX_BLOCK_SIZE)
    target, name = require_new_folder(out), str(source)
    model, tokenizer = read_fit(name)
    rows_before = num_rows(model)
    mask = choose_mask_token(model, tokenizer)
    texts = probes(min(rows_before, len(tokenizer)), mask.token_id)
    others = [i for i in range(rows_before) if i != mask.token_id]
    before = logits(model, texts)[..., others]
    give_mask_token(model, tokenizer, mask)
    rows_after = num_rows(model)
    model.config.set_block_decoding = block_config(block_range, strategy) | {"is_trained": False}
    model.config.mask_token_id = mask.token_id
    model.config.architectures = [type(model).__name__]
    suppressed = model.generation_config.suppress_tokens or []
    model.generation_config.suppress_tokens = sorted({*suppressed, mask.token_id})
    change = write_checked(model, tokenizer, target, texts, before, others)
    rows = rows_before, rows_after
    return Preparation(name, str(target), mask, block_range, rows, texts.numel(), change)


def probes(num_tokens: int, mask_id: int) -> Tensor:
    """Draw token ids (NUM_PROBES, PROBE_LENGTH) below num_tokens, none of them mask_id."""
    ids = torch.tensor([i for i in range(num_tokens) if i != mask_id])
    generator = torch.Generator().manual_seed(0)
    return ids[torch.randint(len(ids), (NUM_PROBES, PROBE_LENGTH), generator=generator)]


@torch.inference_mode()
def logits(model: Any, token_ids: Tensor) -> Tensor:
    """Compute fp32 logits (texts, length, vocab), text by text, as a batch may round otherwise."""
    model.eval()
    return torch.cat([model(input_ids=row[None]).logits.float() for row in token_ids])


def write_checked(
    model: Any,
    tokenizer: Any,
    target: Path,
    texts: Tensor,
    before: Tensor,
    tokens: Sequence[int] | slice = slice(None),
) -> float:
    """Write a model folder, read it again, and return the largest change of a logit.

    model: its weights are dropped, to save memory.
    before: logits of `tokens` at `texts`, to compare with those of the written folder.
    Raises ArgumentError, or ModelError if the logits differ; `target` is then not written.
    """
    with bars_only_on_a_terminal(), replaced_folder(target) as fresh:
        model.save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
        write_custom_generate(fresh)
        model.to("meta")  # two copies of a large model need not fit in memory
        new = logits(read(str(fresh), "auto")[0], texts)[..., tokens]
        if not torch.equal(before.argmax(-1), new.argmax(-1)):
            raise ModelError("model: reading it again gave other next tokens; nothing was kept")
        return require_same_logits(before, new, "writing and reading it again")


def require_same_logits(before: Tensor, after: Tensor, step: str) -> float:
    """Return the largest change of a logit. Raises ModelError if it is too large for rounding."""
    change = float((before - after).abs().max())
    if not change <= TOLERANCE * float(before.abs().max()):
        raise ModelError(f"model: {step} changed its logits by {change:g}; nothing was kept")
    return change


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merge().

    dtype: dtype of the written weights, which is the base model's.
    largest_change: largest change of a logit, at num_checked positions, due to the merge in fp32.
    """

    adapter: str
    base: str
    folder: str
    dtype: str
    num_checked: int
    largest_change: float

    def __str__(self) -> str:
        return (
            f"{self.adapter} on {self.base}, merged in fp32: the largest change of a logit at "
            f"{self.num_checked} positions is {self.largest_change:g}\n"
            f"wrote {self.folder} in {self.dtype}"
        )


def merge(adapter: str | Path, out: str | Path) -> Merged:
    """Merge the peft adapter in folder `adapter` into its base model; write the result to `out`.

    out: a new or empty folder; it is unchanged if ArgumentError or ModelError is raised.
    """
    require_extra("lora")
    if is_block_adapter(adapter):
        rule = "cannot be merged: its causal rows must not read it; it is a model as it is"
        raise ModelError(f"model: {shown(str(adapter))} {rule}")
    if not is_adapter(adapter):
        rule = f"must be the folder of an adapter, with its adapter_config.json; got {adapter}"
        raise ModelError(f"model: {rule}")
    target, source = require_new_folder(out), str(adapter)
    with loading_errors(source, "model"):
        config = require_causal_lm(source) or {}
        adapted, tokenizer = read_with_peft(source, config, "auto")
    dtype = adapted.dtype
    texts = probes(int(adapted.get_input_embeddings().weight.shape[0]), len(tokenizer))
    adapted.float()
    before = logits(adapted, texts)
    try:
        model = adapted.merge_and_unload()
    except (NotImplementedError, RuntimeError, ValueError) as error:  # kinds that peft cannot merge
        raise ModelError(f"model: cannot be merged: {one_line(error)}") from error
    tied = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    model.config.tie_word_embeddings &= torch.equal(*tied)
    change = require_same_logits(before, logits(model, texts), "merging")
    if BlockSettings.of(model.config, source).is_trained:
        model.config.mask_token_id = tokenizer.mask_token_id
    for weight in model.parameters():  # not buffers such as rotary angles, which are not stored
        weight.data = weight.data.to(dtype)
    model.config.dtype = dtype
    write_checked(model, tokenizer, target, texts, logits(model, texts))
    base, name = config["base_model_name_or_path"], str(dtype).removeprefix("torch.")
    return Merged(source, base, str(target), name, texts.numel(), change)
