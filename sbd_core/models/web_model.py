"""The transformers model of a folder that was exported for a browser.

The page's scripts make the weights of a graph of what its parts hold, and this the model that the
graph for servers is written from: both hold the same numbers.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from sbd_core.errors import ModelError, shown
from sbd_core.models.block_adapter import LINEARS, BlockAdapter, BlockAdapterInfo
from sbd_core.models.quiet import quietly
from sbd_core.models.stored_tensors import Stored
from sbd_core.models.web_folder import DAMAGED, WebFolder

OF_MODEL = ("model.", "lm_head.")
"""How the names of a transformers model's weights begin, and no adapter's."""


def tensors_of(web: WebFolder) -> dict[str, Stored]:
    """Tensors by their names, as transformers and BlockAdapter.tensors() have them."""
    parts = (web.folder / part["file"] for part in web.manifest["parts"])
    data, tensors = b"".join(part.read_bytes() for part in parts), {}
    for name, entry in web.manifest["tensors"].items():
        part = data[entry["offset"] : entry["offset"] + entry["bytes"]]
        tensors[name] = Stored(entry["kind"], tuple(entry["shape"]), part)
    return tensors


def read_web(web: WebFolder) -> tuple[Any, Any, BlockAdapter | None]:
    """The transformers model in fp32, its tokenizer, and its adapter. Raises ModelError."""
    tensors = {name: stored.tensor() for name, stored in tensors_of(web).items()}
    folder = str(web.folder)
    try:
        with quietly():
            from transformers import (
                MODEL_FOR_CAUSAL_LM_MAPPING,
                AutoConfig,
                AutoTokenizer,
                GenerationConfig,
            )

            where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            config = AutoConfig.from_pretrained(folder, **where)
            kind: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
            weights = {n: tensor for n, tensor in tensors.items() if n.startswith(OF_MODEL)}
            options: dict[str, Any] = {"config": config, "state_dict": weights}
            model: Any = kind.from_pretrained(None, attn_implementation="sdpa", **options)
            model.generation_config = GenerationConfig.from_pretrained(folder, **where)
            tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"model: {shown(folder)} cannot be read: {reason}; {DAMAGED}") from error
    return model, tokenizer, _adapter_in(web.manifest, tensors)


def _adapter_in(manifest: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> BlockAdapter | None:
    told = manifest["adapter"]
    if told is None:
        return None
    info = BlockAdapterInfo.of(told)
    num_layers = manifest["config"]["num_layers"]
    layers = tuple(
        {
            name: (tensors[f"layers.{index}.{name}.A"], tensors[f"layers.{index}.{name}.B"])
            for name in LINEARS
            if f"layers.{index}.{name}.A" in tensors
        }
        for index in range(num_layers)
    )
    mask = tensors["model.embed_tokens.weight"][info.mask_token_id]
    sampler = (
        (tensors["sampler.into"], tensors["sampler.out"]) if "sampler.into" in tensors else None
    )
    return BlockAdapter(info, layers, mask, sampler)
