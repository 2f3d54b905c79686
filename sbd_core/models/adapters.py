"""Folders of adapters that training wrote: how one says which weights it was trained beside.

An adapter of any other tool is held to names and shapes alone, see source_check.py.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ModelError, shown
from sbd_core.models.checkpoint_info import object_in
from sbd_core.models.model_config import block_range_of
from sbd_core.models.source_check import other_base

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
ADAPTER_FILE = "sbd_adapter.json"
OF_ADAPTERS = ("lora_", "trainable_tokens_")
WRAPPERS = (".token_adapter", ".base_layer")
"""What peft adds to the name of a weight that it has put an adapter beside."""
VALUES_A_WEIGHT = 256
"""That a fingerprint looks at: enough to tell weights apart, few enough to be quick."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Of a model's own weights, the same in fp32 and bf16. shapes, values: digests of theirs."""

    shapes: str
    values: str

    @classmethod
    def of(cls, model: Any) -> "Fingerprint":
        """That of a transformers model, whether or not it has adapters."""
        own = {}
        for name, weight in model.named_parameters():
            if not any(part in name for part in OF_ADAPTERS):
                for part in WRAPPERS:
                    name = name.replace(part, "")
                own[name] = weight
        shapes, values = hashlib.sha256(), hashlib.sha256()
        for name, weight in sorted(own.items()):
            shapes.update(f"{name} {tuple(weight.shape)}\n".encode())
            some = weight.detach().flatten()[:VALUES_A_WEIGHT].to("cpu", torch.bfloat16)
            values.update(some.view(torch.int16).numpy().tobytes())
        return cls(shapes.hexdigest(), values.hexdigest())


def is_adapter(folder: str | Path) -> bool:
    """Whether a folder holds an adapter and no model of its own."""
    place = Path(folder)
    return (place / CONFIG_FILE).is_file() and not (place / "config.json").is_file()


def write_adapter(
    model: Any, folder: Path, base: Fingerprint, block_range: tuple[int, int] | None, **options: Any
) -> None:
    """The adapter of a model as a folder, with what it is to be recognised by.

    block_range: the sizes it was trained on. options: of save_pretrained().
    """
    model.save_pretrained(folder, **options)
    data: dict[str, Any] = {"base": asdict(base)}
    if block_range is not None:
        low, high = block_range
        data["set_block_decoding"] = {"min_block_size": low, "max_block_size": high}
    (folder / ADAPTER_FILE).write_text(json.dumps(data, indent=2) + "\n")


def settle_adapter(
    model: Any, folder: Path, adapter: dict[str, Any], argument: str = "model"
) -> None:
    """Have the config of a model say what the adapter on it was trained on.

    adapter: its adapter_config.json. Raises ModelError for one trained beside other weights.
    """
    if not (folder / ADAPTER_FILE).is_file():
        return
    try:
        told = object_in(folder / ADAPTER_FILE)
        base = Fingerprint(**told["base"])
        sizes = block_range_of(told.get("set_block_decoding"), str(folder))
    except (OSError, ValueError, KeyError, TypeError) as error:
        file = shown(str(folder / ADAPTER_FILE))
        raise ModelError(f"{argument}: {file} is damaged: train the adapter again") from error
    found = Fingerprint.of(model)
    # What fp16 makes of small numbers is not what bf16 does.
    is_other = model.dtype != torch.float16 and base.values != found.values
    if is_other or base.shapes != found.shapes:
        raise ModelError(f"{argument}: {shown(str(folder))} {other_base(adapter)}")
    if sizes is not None:
        model.config.set_block_decoding = told["set_block_decoding"]
