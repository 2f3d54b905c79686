"""Loads a model folder or hub id as a HuggingFaceModel with the fastest backend."""

import os
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import cached_file

from sbd_core.config import DecodeConfig
from sbd_core.errors import ModelError, shown
from sbd_core.files import weights_sha256
from sbd_core.models.backends.choose import choose
from sbd_core.models.bases import BASES, require_base
from sbd_core.models.block_adapter import BlockAdapter, read_block_adapter
from sbd_core.models.block_attention import require_block_attention
from sbd_core.models.devices import chosen_device, chosen_dtype, named_dtype
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.logits_rules import rules_of_folder
from sbd_core.models.mask_token import choose_mask_token, give_mask_token
from sbd_core.models.model_config import (
    BlockSettings,
    add_end_token,
    block_config,
    loading_options,
    name_mask_token,
)
from sbd_core.models.model_folder import (
    DEFAULT_CHECKPOINT,
    bundled_folder,
    is_block_adapter,
    is_web_folder,
)
from sbd_core.models.peft_adapter import Fingerprint, apply_adapter, is_adapter
from sbd_core.models.quiet import quietly
from sbd_core.models.source_check import (
    reason_of,
    require_causal_lm,
    require_source,
    require_whole,
)
from sbd_core.models.template_check import require_bounded_template
from sbd_core.models.web_folder import open_web, read_web

LOADING_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    KeyError,
    ImportError,
    TypeError,
    MemoryError,
    SafetensorError,
    StrictDataclassError,
)


def load(
    path_or_hub_id: str | Path | None = None,
    *,
    device: str = "auto",
    dtype: str | None = None,
) -> HuggingFaceModel:
    """Load a model folder or hub id; None is the checkpoint that ships with this package.

    device: "auto" (CUDA if there is one), "cpu", "cuda" or "cuda:1".
    dtype: "auto" (fp32 on a CPU, the checkpoint's own on CUDA), "float32", "bfloat16", "float16",
        on a CPU also "int8". None takes the one that the folder names for CPUs, else "auto".
    `.runs_on` names the backend. Weights are read from safetensors only, and no code of the folder
    is run. Raises ArgumentError, ModelError.
    """
    if path_or_hub_id is None and not DEFAULT_CHECKPOINT.is_dir():
        raise ModelError(
            "model: must be a folder or a hub id; this installation holds no checkpoint of its own "
            "(pip install . in a checkout of the repository brings it)"
        )
    source = str(path_or_hub_id) if path_or_hub_id is not None else str(DEFAULT_CHECKPOINT)
    source = str(bundled_folder(source) or (require_base(source) if source in BASES else source))
    place = chosen_device(device)
    dtype = named_dtype(dtype, place, source)
    precision: Any = chosen_dtype(dtype, place)
    is_folder = require_source(source)
    adapter = None
    name = Path(source).resolve().name if is_folder else source
    exported = open_web(Path(source)) if is_folder and is_web_folder(source) else None
    if exported is not None:
        name = exported.name
        model, tokenizer, adapter = read_web(exported)
        model = model.to(precision) if precision != "auto" else model
    elif is_folder and is_block_adapter(source):
        model, tokenizer, adapter = read_with_adapter(Path(source), precision)
    else:
        model, tokenizer = read(source, precision, is_folder=is_folder)
    # Taken before the backend is chosen, which may lay the weights out anew.
    if exported is not None:
        weights = {name: exported.digest}
    elif adapter is None:
        weights = {name: Fingerprint.of(model).values}
    else:
        weights = {
            name: str(weights_sha256(Path(source))),
            adapter.info.base: adapter.info.base_digest,
        }
    block_range = BlockSettings.of(model.config, name).block_range
    block_size = block_range[1] if block_range else DecodeConfig().block_size
    backend = choose(model.to(place), name, dtype=dtype, block_size=block_size, adapter=adapter)
    wrapped = HuggingFaceModel(
        model, tokenizer, name, backend=backend, adapter=adapter, weights=weights
    )
    # Tried now, so that a broken chat template is an error of loading.
    unread = [i for i in wrapped.encode("a prompt", is_raw=False) if i >= wrapped.vocabulary_size]
    if unread:
        rule = f"{wrapped.token_text(unread[0])} ({unread[0]}) of its chat template"
        raise ModelError(f"model: {shown(source)} has no embedding for {rule}: resize the model")
    return wrapped


def read(
    source: str,
    dtype: Any,
    *,
    is_folder: bool,
    argument: str = "model",
    revision: str | None = None,
) -> tuple[Any, PreTrainedTokenizerBase]:
    """The transformers model and tokenizer of a folder or hub id, safetensors only, no code run.

    For an adapter of peft it is the adapter's base, with the adapter's layers in it. argument: what
    errors call `source`. revision: on the hub. Raises ModelError.
    """
    where: dict[str, Any] = {"local_files_only": is_folder, "revision": revision}
    options = {"trust_remote_code": False, **where}
    try:
        with quietly():
            adapter = require_causal_lm(source, argument, revision)
            if adapter is not None:
                adapted, tokenizer = read_with_peft(source, adapter, dtype, argument)
                return adapted.get_base_model(), tokenizer
            renamed = loading_options(source, is_folder=is_folder)
            own = {name: renamed[name] for name in renamed if name == "config"}
            tokenizer = AutoTokenizer.from_pretrained(source, **options, **own)
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                source,
                dtype=dtype,
                use_safetensors=True,
                attn_implementation="sdpa",
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # require_whole() reports them
                **options,
                **renamed,
            )
    except LOADING_ERRORS as error:
        raise ModelError(f"{argument}: {shown(source)} {reason_of(error, source)}") from error
    if source != str(DEFAULT_CHECKPOINT):
        require_bounded_template(tokenizer, f"{argument}: {shown(source)}")
    model, report = loaded
    require_whole(source, report, argument)
    require_block_attention(model, shown(source), argument)
    rules_of_folder(model, None, f"{argument}: {shown(source)}")
    if renamed:
        name_mask_token(tokenizer, model.config)
    return model, tokenizer


def located(source: str, argument: str = "model") -> tuple[str, bool]:
    """Resolve the name of a base, a folder or a hub id; returns (place, whether it is a folder).

    argument: what the ModelError calls `source`.
    """
    path = str(require_base(source)) if source in BASES else source
    return path, require_source(path, argument)


def read_with_peft(
    source: str, adapter: dict[str, Any], dtype: Any, argument: str = "model"
) -> tuple[Any, PreTrainedTokenizerBase]:
    """The base of an adapter, as a peft.PeftModel with the adapter, and the tokenizer.

    adapter: its adapter_config.json, as require_causal_lm() gives it. The tokenizer is the
    adapter's, or else the base's. The end tokens of both end an answer. Raises ModelError.
    """
    base = adapter["base_model_name_or_path"]
    name = f"base_model_name_or_path of {source}"
    base_source, is_folder = located(base, name)
    if base_source == source or (is_folder and is_adapter(base_source)):
        raise ModelError(f"{argument}: {shown(source)} is an adapter of an adapter; merge its base")
    revision = adapter.get("revision")
    model, tokenizer = read(
        base_source, dtype, is_folder=is_folder, argument=name, revision=revision
    )
    if cached_file(source, "tokenizer_config.json", _raise_exceptions_for_missing_entries=False):
        local = os.path.isdir(source)
        own = {"trust_remote_code": False, "local_files_only": local}
        tokenizer = AutoTokenizer.from_pretrained(source, **own)
        require_bounded_template(tokenizer, f"{argument}: {shown(source)}")
        add_end_token(model, tokenizer)
    return apply_adapter(model, source, adapter, argument), tokenizer


def read_with_adapter(
    folder: Path, dtype: Any
) -> tuple[Any, PreTrainedTokenizerBase, BlockAdapter]:
    """(base with the adapter's mask token, tokenizer, adapter) of a block adapter's folder.

    Raises ModelError if the base is not here or another one, or if the folder is damaged.
    """
    adapter = read_block_adapter(folder)
    info = adapter.info
    source, is_folder = located(info.base, f"the base of {folder.name}")
    model, tokenizer = read(source, dtype, is_folder=is_folder, argument="model")
    if model.dtype != torch.float16 and Fingerprint.of(model).values != info.base_digest:
        raise ModelError(
            f"model: {shown(str(folder))} was trained beside other weights than those of "
            f"{shown(info.base)} here"
        )
    mask = choose_mask_token(model, tokenizer)
    if (mask.text, mask.token_id) != (info.mask_token, info.mask_token_id):
        raise ModelError(
            f"model: {shown(str(folder))} has {shown(info.mask_token)} as token "
            f"{info.mask_token_id}, which its base {shown(info.base)} has no room for"
        )
    give_mask_token(model, tokenizer, mask)
    embedding = model.get_input_embeddings().weight
    shape = (len(adapter.layers), adapter.mask_embedding.shape[0])
    if shape != (model.config.num_hidden_layers, embedding.shape[1]):
        raise ModelError(f"model: {shown(str(folder))} is an adapter of another shape of model")
    with torch.no_grad():
        embedding[info.mask_token_id] = adapter.mask_embedding.to(embedding.dtype)
    model.config.set_block_decoding = block_config(info.block_range, info.strategy)
    model.generation_config.repetition_penalty = info.repetition_penalty
    return model, tokenizer, adapter
