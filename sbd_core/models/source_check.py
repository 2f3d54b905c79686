"""What can be told of a model folder or hub id before its weights are read, and why one failed.

Each reason is the end of a sentence that names what was asked for, and says what to do.
"""

import os
from pathlib import Path
from typing import Any

from huggingface_hub import is_offline_mode
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from safetensors import SafetensorError
from transformers import CONFIG_MAPPING, MODEL_FOR_CAUSAL_LM_MAPPING, PretrainedConfig, __version__
from transformers.utils.peft_utils import find_adapter_config_file

from sbd_core.errors import ModelError, is_out_of_memory, shown
from sbd_core.models.checkpoint_info import object_in
from sbd_core.models.nemotron import MODEL_TYPE as NEMOTRON

OTHER_SHAPE = ("Target modules", "mismatched_sizes", "size mismatch")
"""Of what peft and transformers say of an adapter whose layers the base lacks."""
PEFT_ADVICE = 'is an adapter of peft, which is not installed: pip install "sbd-core[lora]"'


def require_source(source: str, argument: str = "model") -> bool:
    """Whether `source` is a folder. Raises ModelError for what is neither one nor a hub id."""
    is_folder = os.path.isdir(source)
    # "name" and "owner/name" may be hub ids; anything else can only be a folder.
    if not is_folder and (not source or source[0] in "./~\\" or source.count("/") > 1):
        raise ModelError(
            f"{argument}: must be a folder or a hub id; there is no folder {shown(source)}"
        )
    return is_folder


def require_causal_lm(source: str, argument: str = "model") -> dict[str, Any] | None:
    """The adapter_config.json of an adapter, None for a whole model, by the small files alone.

    Raises ModelError for what no decoding could use; OSError and its like as transformers does,
    for `reason_of` to word.
    """
    is_folder = os.path.isdir(source)
    file = find_adapter_config_file(source, local_files_only=is_folder)
    if file is not None:
        return _adapter(source, file, argument)
    config, _ = PretrainedConfig.get_config_dict(source, local_files_only=is_folder)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        raise ModelError(
            f"{argument}: {shown(source)} is no model: it holds no config.json with a model_type"
        )
    if kind == NEMOTRON:
        return None
    if kind not in CONFIG_MAPPING:
        raise ModelError(f"{argument}: {shown(source)} {_unknown(kind, config)}")
    _require_decoder(source, CONFIG_MAPPING[kind], config, argument)
    return None


def _adapter(source: str, file: str, argument: str) -> dict[str, Any]:
    """The config of an adapter whose base can be used. Raises ModelError."""
    try:
        import peft  # noqa: F401 - transformers loads the adapter by it
    except ImportError as error:
        raise ModelError(f"{argument}: {shown(source)} {PEFT_ADVICE}") from error
    adapter = object_in(Path(file))
    base = adapter.get("base_model_name_or_path")
    if not isinstance(base, str):
        raise ModelError(f"{argument}: {shown(source)} is an adapter that names no base")
    name = f"the base of {source}" if argument == "model" else argument
    require_source(base, name)
    if require_causal_lm(base, name) is not None:
        raise ModelError(f"{argument}: {shown(source)} is an adapter of an adapter; merge its base")
    return adapter


def _unknown(kind: str, config: dict[str, Any]) -> str:
    if config.get("auto_map"):
        return (
            f"brings model code of its own (model_type {shown(kind)}), and no code of a folder is "
            f"run here; transformers {__version__} has none for it"
        )
    return (
        f"is of model_type {shown(kind)}, which transformers {__version__} does not know: "
        "pip install --upgrade transformers"
    )


def _require_decoder(source: str, kind: Any, config: dict[str, Any], argument: str) -> None:
    is_encoder_decoder = config.get("is_encoder_decoder")
    if is_encoder_decoder is None:
        is_encoder_decoder = getattr(kind(), "is_encoder_decoder", False)
    if is_encoder_decoder:
        raise ModelError(
            f"{argument}: must be a decoder alone; {shown(source)} also has an encoder"
        )
    if kind not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ModelError(
            f"{argument}: must be a causal language model; {shown(source)} is of model_type "
            f"{shown(kind.model_type)}"
        )


def reason_of(error: BaseException, source: str, adapter: dict[str, Any] | None = None) -> str:
    """Why transformers could not load `source`, and what to do about it.

    adapter: its adapter_config.json where it is one whose base can be used.
    """
    kinds = _causes(error)
    if any(issubclass(kind, GatedRepoError) for kind in kinds):
        return (
            f"is gated: ask for access at https://huggingface.co/{source} and log in with "
            "hf auth login"
        )
    if any(issubclass(kind, RepositoryNotFoundError | DisabledRepoError) for kind in kinds):
        return "is no folder here and no repository of the Hub that this login can read"
    if any(issubclass(kind, LocalEntryNotFoundError | ConnectionError) for kind in kinds):
        offline = "HF_HUB_OFFLINE forbids it; unset that"
        cause = offline if is_offline_mode() else "the Hub cannot be reached; check the connection"
        return f"is no folder here and cannot be fetched, as {cause} or name a folder"
    if is_out_of_memory(error):
        return "does not fit into memory: try dtype bfloat16, another device or a smaller model"
    words = " ".join(str(error).split())[:300]
    if adapter is not None and any(part in words for part in OTHER_SHAPE):
        return other_base(adapter)
    if any(issubclass(kind, SafetensorError) for kind in kinds):
        return f"has a damaged weights file: {words}"
    return f"is not a transformers causal LM with safetensors and a tokenizer: {words}"


def require_fit(
    source: str, model: Any, report: dict[str, Any], adapter: dict[str, Any] | None, argument: str
) -> None:
    """Raise ModelError for weights that are not all there, or an adapter of another base.

    report: the loading info of transformers, which fills weights that are missing with chance.
    """
    if adapter is not None:
        trained_on = (adapter.get("auto_mapping") or {}).get("base_model_class")
        is_other = trained_on not in (None, type(model).__name__)
        if is_other or report["missing_keys"] or report["unexpected_keys"]:
            raise ModelError(f"{argument}: {shown(source)} {other_base(adapter)}")
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])[0]
        raise ModelError(
            f"{argument}: {shown(source)} lacks weights its config names, such as {missing}"
        )


def other_base(adapter: dict[str, Any]) -> str:
    """That an adapter does not fit the base it names."""
    base = shown(adapter["base_model_name_or_path"])
    return (
        f"is an adapter of another base than {base}, which its adapter_config.json names; "
        "change base_model_name_or_path there"
    )


def _causes(error: BaseException | None) -> list[type[BaseException]]:
    kinds = []
    while error is not None:
        kinds.append(type(error))
        error = error.__cause__ or error.__context__
    return kinds
