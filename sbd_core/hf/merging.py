"""merge(): writes an adapter of peft and its base as one model folder, which needs no peft."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ModelError, one_line, require_extra, shown
from sbd_core.files import new_folder
from sbd_core.hf.model_folders import logits, probes, require_same, write_checked
from sbd_core.models.loading import read_with_peft, require_causal_lm
from sbd_core.models.model_folder import BlockSettings, is_block_adapter
from sbd_core.models.peft_adapter import is_adapter


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merge(). dtype: of the written weights, the same as the base's.

    largest_change: of any logit at num_checked positions, by merging in fp32.
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
    """Merge the peft adapter in the folder `adapter` into its base; write the model to `out`.

    out: a new or empty folder, unchanged if ArgumentError or ModelError is raised.
    """
    require_extra("lora")
    if is_block_adapter(adapter):
        rule = "cannot be merged: its causal rows must not read it; it is a model as it is"
        raise ModelError(f"model: {shown(str(adapter))} {rule}")
    if not is_adapter(adapter):
        rule = f"must be the folder of an adapter, with its adapter_config.json; got {adapter}"
        raise ModelError(f"model: {rule}")
    target, source = new_folder(out), str(adapter)
    config = require_causal_lm(source)
    assert config is not None
    adapted, tokenizer = read_with_peft(source, config, "auto")
    dtype = adapted.dtype
    texts = probes(int(adapted.get_input_embeddings().weight.shape[0]), len(tokenizer))
    adapted.float()
    before = logits(adapted, texts)
    merged = _merged(adapted)
    change = require_same(before, logits(merged, texts), "merging")
    if BlockSettings.of(merged.config, source).is_trained:
        merged.config.mask_token_id = tokenizer.mask_token_id
    for weight in merged.parameters():  # not buffers such as rotary angles, which are not stored
        weight.data = weight.data.to(dtype)
    merged.config.dtype = dtype
    write_checked(merged, tokenizer, target, texts, logits(merged, texts))
    return Merged(
        adapter=str(adapter),
        base=config["base_model_name_or_path"],
        folder=str(target),
        dtype=str(dtype).removeprefix("torch."),
        num_checked=texts.numel(),
        largest_change=change,
    )


def _merged(adapted: Any) -> Any:
    """Merge a peft.PeftModel, in fp32, to one model. Raises ModelError if that is not possible."""
    _untie(adapted)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether embeddings are tied is decided below
            merged = adapted.merge_and_unload()
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise ModelError(f"model: cannot be merged: {one_line(error)}") from error
    tied = merged.get_input_embeddings().weight, merged.get_output_embeddings().weight
    if merged.config.tie_word_embeddings and torch.equal(*tied):
        merged.get_output_embeddings().weight = tied[0]
    else:
        merged.config.tie_word_embeddings = False
    return merged


def _untie(model: Any) -> None:
    """Give modules that share a weight one each, as merging into one would change both."""
    seen: set[int] = set()
    for module in model.modules():
        for name, weight in module.named_parameters(recurse=False):
            if id(weight) in seen:
                weight = torch.nn.Parameter(weight.detach().clone(), weight.requires_grad)
                setattr(module, name, weight)
            seen.add(id(weight))
