"""Checks a model folder or hub id before its weights are read, and explains why loading failed.

Each reason is the end of a sentence that names what was asked for, and says what to do.
"""

import logging
import os
import re
from dataclasses import fields
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

from sbd_core.errors import ModelError, is_out_of_memory, one_line, shown, shown_name
from sbd_core.models.model_config import NEMOTRON
from sbd_core.models.model_folder import has_weights, object_in

IN_PARTS = "it was saved in parts, as by DeepSpeed ZeRO-3; gather its weights and save it again"
MEANS_OTHERWISE = re.compile(
    r"lora_|base_layer|qweight|qzeros|scales$|weight_scale|absmax|quant_(map|state)"
)
"""Names of weights that change what others mean: those of adapters and of quantisation."""
OF_WHOLE_TEXTS = ("ADAPTION_PROMPT", "POLY", "SHADOW", "XLORA")
"""Adapters of peft that read other tokens than the one they change, as prompt adapters do."""
logger = logging.getLogger(__name__)

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


def require_causal_lm(
    source: str, argument: str = "model", revision: str | None = None
) -> dict[str, Any] | None:
    """Check the small files of a source; returns an adapter's adapter_config.json, else None.

    Raises ModelError for a source that cannot be decoded with, and OSError and the like from
    transformers; reason_of() puts these into words.
    """
    is_folder = os.path.isdir(source)
    where: dict[str, Any] = {"local_files_only": is_folder, "revision": revision}
    file = find_adapter_config_file(source, **where)
    if file is not None:
        return _adapter(source, file, argument)
    config, _ = PretrainedConfig.get_config_dict(source, **where)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        raise ModelError(
            f"{argument}: {shown(source)} is no model: it holds no config.json with a model_type"
        )
    settings = Path(source) / "generation_config.json"
    if is_folder and settings.is_file():
        try:
            object_in(settings)
        except ValueError as error:  # transformers would go on without end tokens
            rule = f"has a damaged generation_config.json: {error}"
            raise ModelError(f"{argument}: {shown(source)} {rule}") from error
    if kind == NEMOTRON:
        return None
    if kind not in CONFIG_MAPPING:
        raise ModelError(f"{argument}: {shown(source)} {_unknown(kind, config)}")
    _require_decoder(source, CONFIG_MAPPING[kind], config, argument)
    quantized = config.get("quantization_config")
    if quantized:
        method = quantized.get("quant_method") if isinstance(quantized, dict) else None
        raise ModelError(
            f"{argument}: {shown(source)} is quantised by {shown_name(str(method))}, and weights "
            "are read as they were before: name the model that it was made from"
        )
    return None


def _adapter(source: str, file: str, argument: str) -> dict[str, Any]:
    """The config of a peft adapter. Raises ModelError for one that cannot be decoded with."""
    subject = f"{argument}: {shown(source)}"
    if has_weights(source):
        raise ModelError(
            f"{subject} holds a whole model and an adapter_config.json: move one of them away"
        )
    try:
        from peft import PEFT_TYPE_TO_CONFIG_MAPPING, PromptLearningConfig
        from peft import __version__ as peft_version
    except ImportError as error:
        raise ModelError(f"{subject} {PEFT_ADVICE}") from error
    adapter = object_in(Path(file))
    if not isinstance(adapter.get("base_model_name_or_path"), str):
        raise ModelError(f"{subject} is an adapter that names no base")
    kind = adapter.get("peft_type")
    kinds: Any = PEFT_TYPE_TO_CONFIG_MAPPING
    known = kinds.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ModelError(
            f"{subject} is an adapter of peft_type {shown(kind)}, which peft {peft_version} does "
            "not know: pip install --upgrade peft"
        )
    names = {field.name for field in fields(known)}
    for name, value in adapter.items():
        # A field of a newer peft does nothing unless it is set.
        if name not in names and (value is True or (value and isinstance(value, (dict, list)))):
            raise ModelError(
                f"{subject} has {shown_name(name)} set in its adapter_config.json, which peft "
                f"{peft_version} does not know: pip install --upgrade peft"
            )
    is_activated = bool(adapter.get("alora_invocation_tokens"))
    if issubclass(known, PromptLearningConfig) or kind in OF_WHOLE_TEXTS or is_activated:
        described = "an activated LoRA" if is_activated else kind
        raise ModelError(
            f"{subject} is {described} of peft, which changes a text as a whole: a block needs an "
            "adapter that changes each token by itself, such as LoRA"
        )
    if os.path.isdir(source) and not (Path(source) / "adapter_model.safetensors").is_file():
        raise ModelError(
            f"{subject} lacks adapter_model.safetensors; weights are read from safetensors only, "
            "so a .bin has to be saved again by safetensors.torch.save_file()"
        )
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


def reason_of(error: BaseException, source: str) -> str:
    """The reason why transformers could not load `source`, with advice, as a sentence's end."""
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
    words = one_line(error)
    if "does not support an attention implementation" in words:
        return (
            "must read a block of tokens under a mask and does not: transformers has no sdpa "
            "attention for its architecture"
        )
    if any(issubclass(kind, SafetensorError) for kind in kinds):
        return f"has a damaged weights file: {words}"
    return f"is not a transformers causal LM with safetensors and a tokenizer: {words}"


def require_whole(source: str, report: dict[str, Any], argument: str) -> None:
    """Raise ModelError for weights that are missing, of another shape, or in need of others.

    report: the loading info of transformers, which fills weights that are missing or of another
    shape at random, and leaves out those that its config does not name.
    """
    subject, others = f"{argument}: {shown(source)}", sorted(report["unexpected_keys"])
    for name, stored, wanted in sorted(report["mismatched_keys"]):
        if 0 in stored:
            raise ModelError(f"{subject} has nothing in {name}: {IN_PARTS}")
        shapes = f"is {tuple(stored)} and by its config {tuple(wanted)}"
        raise ModelError(f"{subject} is not of its config: {name} {shapes}")
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])[0]
        instead = f"; it has others, such as {others[0]}" if others else ""
        raise ModelError(f"{subject} lacks weights its config names, such as {missing}{instead}")
    for name in others:
        if MEANS_OTHERWISE.search(name):
            raise ModelError(
                f"{subject} holds {name}, without which its other weights mean nothing: merge its "
                "adapter, or name the model that was quantised"
            )
    if others:
        rule = f"{len(others)} weights that its config does not name, such as {others[0]}"
        logger.warning("%s holds %s; they are not read", shown(source), rule)


def _causes(error: BaseException | None) -> list[type[BaseException]]:
    kinds = []
    while error is not None:
        kinds.append(type(error))
        error = error.__cause__ or error.__context__
    return kinds
