"""What a model folder says of itself in its small files: read without loading, without torch."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.cost.model_shape import Shape
from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.models.model_config import block_range_of, says_trained
from sbd_core.package.files import ASSETS

DEFAULT_CHECKPOINT = ASSETS / "checkpoints" / "sbd-nano"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """A model that reads blocks, by its folder. block_range: as in SetBlockModel.

    is_trained: whether it has learnt to, or was only prepared for that.
    """

    name: str
    block_range: tuple[int, int]
    is_trained: bool


def read_checkpoint_info(folder: str | Path | None) -> CheckpointInfo | None:
    """The card of a model folder, None is the bundled one.

    Gives None for whatever only loading can tell: a hub id, a model not trained for blocks, a
    folder that is damaged or not there.
    """
    place = DEFAULT_CHECKPOINT if folder is None else Path(folder)
    try:
        config = object_in(place / "config.json")
        tokenizer = object_in(place / "tokenizer_config.json")
        found = config.get("set_block_decoding")
        sizes = block_range_of(found, str(folder))
        has_weights = any((place / name).is_file() for name in WEIGHTS)
    except (OSError, ValueError, ModelError):
        return None
    if sizes is None or not has_weights or not isinstance(tokenizer.get("mask_token"), str):
        return None
    return CheckpointInfo(place.resolve().name, sizes, says_trained(found))


def object_in(file: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises OSError, ValueError."""
    found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{file}: must hold a JSON object")
    return found


def read_shape(model: str) -> Shape:
    """The sizes of a folder or hub id, from its config alone. Raises ArgumentError."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            model, trust_remote_code=False, local_files_only=Path(model).is_dir()
        )
    except (OSError, ValueError) as error:
        rule = "must be a folder or hub id of a transformers model"
        raise ArgumentError("model", rule, shown(model)) from error
    return Shape.of(config)
