"""The weights and the folder of a block adapter, which changes only the rows of blocks.

It follows gated LoRA (Samragh et al. 2025, arXiv 2507.11851): each linear layer W of the base model
computes W x + B A x in the rows of a block, masked or revealed, and W x in causal rows. So the base
model alone decides next-token prediction, the KV cache and the logits with which verify checks a
draft. The paper on Set Block Decoding trains all weights; here the base's weights stay unchanged.
An adapter may have a sampler head (sampler_head.py).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import split_torch_state_dict_into_shards
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sbd_core.config import Calibration, StrategyName
from sbd_core.errors import ModelError, one_line, shown
from sbd_core.models.model_folder import ADAPTER_INFO, DEFAULT_CPU_DTYPE, object_in
from sbd_core.models.sampler_head import SamplerHead

FORMAT_VERSION = 1
LINEARS = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
"""Linear layers that an adapter changes: {name here: name in a layer of a Llama-shaped model}."""
GROUPS = {
    "query_key_value": ("q", "k", "v"),
    "out": ("o",),
    "gate_up": ("gate", "up"),
    "down": ("down",),
}
"""Linear layers with the same input, which forward passes compute as one."""
MOST_BYTES = 9_000_000
"""Size in bytes that a file of several tensors keeps to, as some hosts refuse files of 10 MB."""


Pairs = Sequence[tuple[Tensor, Tensor]]
"""(A, B) for each of several linear layers with the same input: A (rank, in), B (out, rank)."""
AdapterLayers = Sequence[Mapping[str, tuple[Tensor, Tensor]]]
"""For each transformer layer, {name in LINEARS: (A, B)}."""


def side_by_side(pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Join the (A, B) of linear layers with the same input into a single (A, B).

    If all layers have the same A, it is kept once and the B are stacked. Otherwise the A are
    stacked, and the B become a block-diagonal matrix.
    """
    downs, ups = zip(*pairs, strict=True)
    if all(torch.equal(down, downs[0]) for down in downs[1:]):
        return downs[0], torch.cat(ups)
    return torch.cat(downs), torch.block_diag(*ups)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAdapterInfo:
    """Facts about a block adapter, stored as JSON in the adapter's folder.

    base: name of the base model (in sbd_core.models.bases), or its Hub id.
    base_digest: digest of the base's weights; see digest_of_weights().
    rank: rank of each product B A. block_range: smallest and largest trained block size.
    mask_token, mask_token_id: text and id of the mask token, whose embedding the adapter brings.
    repetition_penalty: the penalty with which the training texts were written.
    trained: facts about the training, such as its minutes and its number of masked tokens.
    strategy, cpu_dtype: used if the user names no strategy, and no dtype on a CPU.
    calibration: how reliable the adapter's drafts are; None takes the defaults of Calibration.
    """

    base: str
    base_digest: str
    rank: int
    block_range: tuple[int, int]
    mask_token: str
    mask_token_id: int
    repetition_penalty: float
    trained: Mapping[str, Any]
    strategy: StrategyName = "verify"
    cpu_dtype: str = DEFAULT_CPU_DTYPE
    calibration: Calibration | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "BlockAdapterInfo":
        """Make the info from JSON data. Raises ValueError, KeyError, TypeError or ArgumentError."""
        low, high = map(int, data["block_range"])
        if not 1 <= low <= high:
            raise ValueError("block_range must be two rising sizes")
        how_right = data.get("calibration")
        calibration = None if how_right is None else Calibration(**how_right)
        return cls(**{**data, "block_range": (low, high), "calibration": calibration})


@dataclass(frozen=True, slots=True)
class BlockAdapter:
    """The weights of a block adapter, and its info.

    layers[i][name]: A (rank, in) and B (out, rank) of the linear layer LINEARS[name] in layer i.
    mask_embedding: embedding (hidden,) of the mask token.
    sampler: the weights (into, out) of the adapter's SamplerHead, None if it has no such head.
    """

    info: BlockAdapterInfo
    layers: tuple[Mapping[str, tuple[Tensor, Tensor]], ...]
    mask_embedding: Tensor
    sampler: tuple[Tensor, Tensor] | None = None

    def sampler_head(self, model: Any) -> SamplerHead | None:
        """Build the adapter's sampler head for a transformers model; None if there is none."""
        if self.sampler is None:
            return None
        into, out = (part.to(model.device, torch.float32) for part in self.sampler)
        layers = model.get_input_embeddings(), model.get_output_embeddings()
        return SamplerHead(into, out, *(layer.weight.detach() for layer in layers))

    @classmethod
    def of(cls, info: BlockAdapterInfo, tensors: Mapping[str, Tensor]) -> "BlockAdapter":
        """Make an adapter from tensors with the names that tensors() gives; others are ignored.

        Raises KeyError for a missing tensor, ValueError for a malformed name.
        """
        layers: dict[int, dict[str, tuple[Tensor, Tensor]]] = {}
        for key in tensors:
            if key.startswith("layers.") and key.endswith(".A"):
                _, index, name, _ = key.split(".")
                layers.setdefault(int(index), {})[name] = tensors[key], tensors[f"{key[:-1]}B"]
        ordered = tuple(layers[index] for index in range(len(layers)))
        into, out = tensors.get("sampler.into"), tensors.get("sampler.out")
        sampler = None if into is None or out is None else (into, out)
        return cls(info, ordered, tensors["mask_embedding"], sampler)

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors of the adapter, by the names under which they are stored."""
        tensors = {"mask_embedding": self.mask_embedding}
        for index, layer in enumerate(self.layers):
            for name, (down, up) in layer.items():
                tensors[f"layers.{index}.{name}.A"] = down
                tensors[f"layers.{index}.{name}.B"] = up
        if self.sampler is not None:
            tensors["sampler.into"], tensors["sampler.out"] = self.sampler
        return tensors


def write_block_adapter(adapter: BlockAdapter, folder: Path) -> None:
    """Write an adapter in bf16 into an existing folder, in files of about MOST_BYTES each."""
    tensors = {
        name: tensor.detach().to("cpu", torch.bfloat16).contiguous()
        for name, tensor in adapter.tensors().items()
    }
    files = split_torch_state_dict_into_shards(
        tensors, filename_pattern="block_adapter{suffix}.safetensors", max_shard_size=MOST_BYTES
    ).filename_to_tensors
    for old in folder.glob("block_adapter*.safetensors"):
        old.unlink()
    for name, keys in files.items():
        save_file({key: tensors[key] for key in keys}, folder / name)
    data = {"format_version": FORMAT_VERSION, "files": [*files], **asdict(adapter.info)}
    (folder / ADAPTER_INFO).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def read_info(folder: Path) -> tuple[BlockAdapterInfo, list[str]]:
    """Read the info and the names of the weight files in an adapter's folder. Raises ModelError."""
    try:
        data = object_in(folder / ADAPTER_INFO)
        version, files = data.pop("format_version"), data.pop("files")
        info = BlockAdapterInfo.of(data)
        are_names = isinstance(files, list) and all(
            isinstance(name, str) and Path(name).name == name for name in files
        )
        if version != FORMAT_VERSION or not are_names:
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError) as error:
        path = shown(str(folder / ADAPTER_INFO))
        raise ModelError(f"model: {path} is damaged, or of a newer version of sbd_core") from error
    return info, files


def read_block_adapter(folder: Path) -> BlockAdapter:
    """Read the adapter in a folder. Raises ModelError if it is damaged or incomplete."""
    info, files = read_info(folder)
    stored: dict[str, Tensor] = {}
    for name in files:
        try:
            stored |= load_file(folder / name)
        except (OSError, SafetensorError) as error:
            path = shown(str(folder / name))
            raise ModelError(f"model: {path} is damaged: {one_line(error)}") from error
    try:
        return BlockAdapter.of(info, stored)
    except (KeyError, ValueError) as error:
        part = f"{shown(error.args[0])} of its block adapter"
        raise ModelError(f"model: {shown(str(folder))} lacks {part}") from error
