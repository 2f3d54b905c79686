"""Reads facts about a model from its folder's small files or its config, without torch."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sbd_core.config import PENALTIES, Calibration, StrategyName, require_strategy
from sbd_core.cost import LayerShape
from sbd_core.errors import ArgumentError, ModelError, require_number, shown
from sbd_core.files import ASSETS
from sbd_core.json_node import json_of

CHECKPOINTS = ASSETS / "checkpoints"
DEFAULT_CHECKPOINT = CHECKPOINTS / "sbd-nano"
REAL_MODEL = "sbd-smollm2-135m"
"""Name of the block adapter that ships with this package; its base model has to be fetched."""
ADAPTER_INFO = "block_adapter.json"
"""File that marks the folder of a block adapter; see block_adapter.py."""
WEB_MANIFEST = "manifest.json"
"""File that marks a folder exported for a browser; see web_folder.py."""
DEFAULT_CPU_DTYPE = "float32"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """Facts about a model that can decode blocks, read from its folder.

    block_range: smallest and largest trained block size.
    is_trained: False if the model was only prepared for training.
    has_adapter: whether the model has a block adapter.
    """

    name: str
    block_range: tuple[int, int]
    is_trained: bool
    has_adapter: bool = False


def read_checkpoint_info(folder: str | Path | None) -> CheckpointInfo | None:
    """Read the facts about the model in a folder; None stands for the bundled model's folder.

    Returns None for a hub id, for a model that was not prepared for blocks, and for a folder that
    is damaged or missing.
    """
    path = folder_of(folder)
    name = path.resolve().name
    try:
        if is_block_adapter(path):
            low, high = map(int, object_in(path / ADAPTER_INFO)["block_range"])
            return CheckpointInfo(name, (low, high), is_trained=True, has_adapter=True)
        config = object_in(path / "config.json")
        settings = BlockSettings.read(config.get("set_block_decoding"), name)
        has_mask = isinstance(object_in(path / "tokenizer_config.json").get("mask_token"), str)
    except (OSError, ValueError, KeyError, TypeError, ModelError):
        return None
    if settings.block_range is None or not has_mask or not has_weights(path):
        return None
    return CheckpointInfo(name, settings.block_range, settings.is_trained)


def own_cpu_dtype(folder: str | Path) -> object:
    """Return the dtype that a model folder names for CPUs, unchecked; "float32" if it names none.

    It is `cpu_dtype` in a block adapter's file, else in set_block_decoding of config.json.
    """
    is_adapter = is_block_adapter(folder)
    try:
        info = object_in(Path(folder) / (ADAPTER_INFO if is_adapter else "config.json"))
        settings = info if is_adapter else info.get("set_block_decoding") or {}
        return settings.get("cpu_dtype", DEFAULT_CPU_DTYPE)
    except (OSError, ValueError, AttributeError):
        return DEFAULT_CPU_DTYPE  # loading says what is wrong with it


def is_block_adapter(folder: str | Path) -> bool:
    """Whether a folder holds a block adapter."""
    return os.path.isfile(Path(folder) / ADAPTER_INFO)  # False for an impossible name, too


def is_web_folder(folder: str | Path) -> bool:
    """Whether a folder was exported for a browser."""
    return (Path(folder) / WEB_MANIFEST).is_file() and not has_weights(folder)


def has_weights(folder: str | Path) -> bool:
    """Whether a folder holds the weights of a model."""
    return any((Path(folder) / name).is_file() for name in WEIGHTS)


def bundled_folder(name: str) -> Path | None:
    """Find the folder of a model that ships with this package; None for any other name."""
    folder = CHECKPOINTS / name
    is_name = name in (DEFAULT_CHECKPOINT.name, REAL_MODEL)
    return folder if is_name and folder.is_dir() else None


def folder_of(model: str | Path | None) -> Path:
    """Return a model's folder, given by path or bundled model's name; None is the default model."""
    return DEFAULT_CHECKPOINT if model is None else bundled_folder(str(model)) or Path(model)


def object_in(file: Path) -> dict[str, Any]:
    """Read the JSON object in a file. Raises OSError, ValueError."""
    value = json_of(file.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{file}: must hold a JSON object")
    return value


def read_shape(model: str) -> LayerShape:
    """Read the sizes of a model's layers from its config. model: a folder or a hub id.

    Raises ArgumentError if there is no config that transformers can read.
    """
    from transformers import AutoConfig

    options = {"trust_remote_code": False, "local_files_only": Path(model).is_dir()}
    try:
        config = AutoConfig.from_pretrained(model, **options)
    except (OSError, ValueError, RecursionError) as error:
        rule = "must be a folder or hub id of a transformers model"
        raise ArgumentError("model", rule, shown(model)) from error
    return LayerShape.of(config)


def block_config(block_range: tuple[int, int], strategy: StrategyName = "sbd") -> dict[str, Any]:
    """Make the value of config.set_block_decoding. block_range: smallest, largest block size."""
    low, high = block_range
    return {"min_block_size": low, "max_block_size": high, "strategy": strategy}


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """The values of config.set_block_decoding, or defaults if the config has none.

    block_range: smallest and largest block size, None if unknown.
    is_trained: False for a model that was only prepared for training.
    strategy: the default strategy of the model.
    calibration: how reliable the probabilities of masked tokens are.
    """

    block_range: tuple[int, int] | None = None
    is_trained: bool = False
    strategy: StrategyName = "sbd"
    calibration: Calibration = field(default_factory=Calibration)

    def how_to_train(self, name: str) -> str:
        """Say which commands teach the model in folder `name` to decode blocks."""
        if self.block_range is not None:  # prepared already
            return f"sbd train --stage sbd --init {name} --out trained teaches it"
        return f"sbd prepare {name} --out ready and sbd train teach it"

    @classmethod
    def of(cls, config: Any, name: str) -> "BlockSettings":
        """Read the settings in the transformers config of the model `name`. Raises ModelError."""
        return cls.read(getattr(config, "set_block_decoding", None), name)

    @classmethod
    def read(cls, data: Any, name: str) -> "BlockSettings":
        """Read the value of config.set_block_decoding; None gives defaults. Raises ModelError."""
        if data is None:
            return cls()
        try:
            low, high = int(data["min_block_size"]), int(data["max_block_size"])
            if not 1 <= low <= high:
                raise ValueError("sizes do not rise from 1")
            strategy, calibration = data.get("strategy", "sbd"), data.get("calibration") or {}
            require_strategy(strategy)
            is_trained = data.get("is_trained", True) is not False
            return cls((low, high), is_trained, strategy, Calibration(**calibration))
        except ArgumentError as error:
            raise ModelError(f"{name}: config.set_block_decoding: {error}") from error
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            rule = f"config.set_block_decoding is malformed: {data!r}"
            raise ModelError(f"{name}: {rule}") from error


def own_repetition_penalty(model: Any, name: str) -> float:
    """The repetition penalty of a model's generation_config, 1 if none. Raises ModelError."""
    penalty = getattr(getattr(model, "generation_config", None), "repetition_penalty", None)
    if penalty is None:
        return 1.0
    try:
        require_number("generation_config.repetition_penalty", penalty, *PENALTIES)
    except ArgumentError as error:
        raise ModelError(f"{name}: {error}") from error
    return float(penalty)


def reach_of(config: Any) -> int | None:
    """Return the longest text, in tokens, that a model can read; None if its config does not say.

    For LongRoPE, this is the length up to which its short factors are used: a longer text changes
    the rotary angles of all positions, so the keys already in the KV cache would be wrong.
    """
    reach: int | None = getattr(config, "max_position_embeddings", None)
    rotary = getattr(config.get_text_config(), "rope_parameters", None) or {}
    is_longrope = rotary.get("rope_type") == "longrope"
    return (is_longrope and rotary.get("original_max_position_embeddings")) or reach


def end_token_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Ids of the tokens that end an answer, from generation_config, else config, else tokenizer."""
    for source in (getattr(model, "generation_config", None), model.config, tokenizer):
        ids = getattr(source, "eos_token_id", None)
        if ids is not None:
            return frozenset([ids] if isinstance(ids, int) else ids)
    return frozenset()


def add_end_token(model: Any, tokenizer: Any) -> None:
    """Add the tokenizer's end token, which training may have used, to the model's end tokens."""
    ends = {*end_token_ids(model, tokenizer), tokenizer.eos_token_id} - {None}
    if ends:
        model.generation_config.eos_token_id = ends.pop() if len(ends) == 1 else sorted(ends)


def untrained_note(config: Any, name: str) -> str | None:
    """Return a warning if the model was not trained to predict masked tokens, else None."""
    settings = BlockSettings.of(config, name)
    if settings.is_trained:
        return None
    return (
        f"{name} is not trained for Set Block Decoding, so its answers by blocks will be poor: "
        f"strategy ntp decodes it as it is; {settings.how_to_train(name)}"
    )
