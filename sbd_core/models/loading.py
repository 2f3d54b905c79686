"""Loads a model folder or hub id as a HuggingFaceModel with the fastest backend.

A model's small files are checked before its weights are read. The message of a ModelError names
what was to be loaded, then says what is wrong and what to do.
"""

import logging
import os
import re
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import is_offline_mode
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    StrictDataclassError,
)
from safetensors import SafetensorError
from transformers import (
    CONFIG_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING,
    AutoModelForCausalLM,
    AutoTokenizer,
    Ministral3Config,
    PretrainedConfig,
    PreTrainedTokenizerBase,
    __version__,
)
from transformers.utils import cached_file
from transformers.utils.peft_utils import find_adapter_config_file

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError, is_out_of_memory, one_line, shown, shown_name
from sbd_core.files import weights_sha256
from sbd_core.models.backends.choose import choose
from sbd_core.models.backends.transformers import GatedLinears
from sbd_core.models.bases import BASES, require_base
from sbd_core.models.block_adapter import BlockAdapter, read_block_adapter
from sbd_core.models.chat import require_bounded_template
from sbd_core.models.hf_model import Fingerprint, HuggingFaceModel
from sbd_core.models.logits_processors import rules_of_folder
from sbd_core.models.mask_token import (
    choose_mask_token,
    give_mask_token,
    require_special_rows,
)
from sbd_core.models.model_folder import (
    DEFAULT_CHECKPOINT,
    BlockSettings,
    add_end_token,
    block_config,
    bundled_folder,
    folder_of,
    is_block_adapter,
    is_web_folder,
    object_in,
)
from sbd_core.models.peft_adapter import IN_PARTS, apply_adapter, is_adapter, read_adapter_config
from sbd_core.models.probes import require_block_attention
from sbd_core.models.runtime import chosen_device, chosen_dtype, named_dtype, quietly
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
    """Load a model from a folder or a hub id; None loads the model that ships with this package.

    device: "auto" (CUDA if there is one), "cpu", "cuda" or "cuda:1".
    dtype: "auto" (fp32 on a CPU, the checkpoint's dtype on CUDA), "float32", "bfloat16", "float16",
        or on a CPU "int8". None takes the dtype that the folder names for CPUs; on CUDA, "auto".
    Weights are read from safetensors only, and no code of the folder is run. Raises ArgumentError,
    ModelError.
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
    """Read the transformers model and the tokenizer of a folder or hub id.

    argument: the name of `source` in error messages.
    revision: the branch, tag or commit to read on the Hub; None is the default branch.
    For an adapter of peft, the model is its base with the adapter's layers added. Weights are read
    from safetensors only, and no code of the source is run. Raises ModelError.
    """
    where: dict[str, Any] = {"local_files_only": is_folder, "revision": revision}
    options = {"trust_remote_code": False, **where}
    try:
        with quietly():
            adapter = require_causal_lm(source, argument, revision)
            if adapter is not None:
                adapted, tokenizer = read_with_peft(source, adapter, dtype, argument)
                return adapted.get_base_model(), tokenizer
            renamed = _loading_options(source, is_folder=is_folder)
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
    require_special_rows(model, tokenizer, f"{argument}: {shown(source)}")
    require_block_attention(model, shown(source), argument)
    rules_of_folder(model, None, f"{argument}: {shown(source)}")
    if renamed:
        _name_mask_token(tokenizer, model.config)
    return model, tokenizer


def located(source: str, argument: str = "model") -> tuple[str, bool]:
    """Find the model called `source`; returns (path or hub id, whether it is a folder).

    source: a folder, a hub id, or the name of a base model that was fetched.
    argument: the name of `source` in error messages. Raises ModelError.
    """
    path = str(require_base(source)) if source in BASES else source
    return path, require_source(path, argument)


def read_fit(name: str) -> tuple[Any, Any]:
    """Read a model and its tokenizer. name: a folder, a hub id, or a base model's name.

    Raises ModelError for the folder of a peft adapter, or for a model that cannot decode blocks.
    """
    path, is_folder = located(name)
    if is_folder and is_adapter(path):
        raise ModelError(f"model: {shown(path)} is an adapter: sbd merge makes it a model first")
    return read(path, "auto", is_folder=is_folder)


def read_with_peft(
    source: str, adapter: dict[str, Any], dtype: Any, argument: str = "model"
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Read an adapter of peft and its base; returns (peft.PeftModel, tokenizer).

    adapter: the content of adapter_config.json, from require_causal_lm().
    The tokenizer is the adapter's, or the base's if the adapter has none. An answer may end with
    the end token of either tokenizer. Raises ModelError.
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
    adapted = apply_adapter(model, source, adapter, argument)
    require_special_rows(model, tokenizer, f"{argument}: {shown(source)}")
    return adapted, tokenizer


def read_with_adapter(
    folder: Path, dtype: Any
) -> tuple[Any, PreTrainedTokenizerBase, BlockAdapter]:
    """Read a block adapter and its base model; returns (base model, tokenizer, adapter).

    The adapter's mask token is added to the base. Raises ModelError if the folder is damaged, or if
    the base cannot be read or has other weights than the adapter was trained with.
    """
    adapter = read_block_adapter(folder)
    info = adapter.info
    source, is_folder = located(info.base, f"the base of {folder.name}")
    model, tokenizer = read(source, dtype, is_folder=is_folder)
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


def read_adapted(
    path: str | Path, dtype: torch.dtype = torch.float32
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Load a block adapter and its base as a transformers model; returns (model, tokenizer).

    path: the adapter's folder, or the name of an adapter that ships with this package.
    model.generate(**inputs, custom_generate=sbd_core.hf.generate, strategy="verify") decodes with
    the adapter; without custom_generate the model answers as its base does. Raises ArgumentError,
    ModelError.
    """
    folder = folder_of(path)
    if not is_block_adapter(folder):
        rule = "must be the folder of a block adapter, as sbd train-adapter writes it"
        raise ArgumentError("path", rule, str(path))
    model, tokenizer, adapter = read_with_adapter(folder, dtype)
    model.block_adapter = GatedLinears.of(model, adapter)
    model.config.mask_token_id = adapter.info.mask_token_id
    model.generation_config.suppress_tokens = [adapter.info.mask_token_id]
    return model, tokenizer


NEMOTRON = "nemotron_labs_diffusion"
NEMOTRON_WEIGHTS = {"^encoder": "model", "^diffusion_head": "lm_head"}
"""Maps names of weights in Nemotron-Labs-Diffusion to their names in Ministral3ForCausalLM.

Nemotron-Labs-Diffusion is read as a Ministral 3: it has the same weights under other names. In its
causal-context mode it attends as Set Block Decoding does: the past is read causally, a block of
masks sees the past and itself both ways, and a mask's logits predict its own position. Two features
are not supported: there, the causal head always predicts a block's first token, and another mode
reads prompts both ways.
"""


def _loading_options(source: str, *, is_folder: bool) -> dict[str, Any]:
    """Make the from_pretrained() arguments for Nemotron-Labs-Diffusion; {} for other models."""
    settings, _ = PretrainedConfig.get_config_dict(source, local_files_only=is_folder)
    if settings.get("model_type") != NEMOTRON:
        return {}
    known = Ministral3Config().to_dict()
    config = Ministral3Config(
        **{name: settings[name] for name in known if name in settings and name != "model_type"}
    )
    size = int(settings["block_size"])
    config.set_block_decoding = {"min_block_size": size, "max_block_size": size}
    config.mask_token_id = int(settings["mask_token_id"])
    return {"config": config, "key_mapping": NEMOTRON_WEIGHTS}


def _name_mask_token(tokenizer: Any, config: Any) -> None:
    """Set a tokenizer's mask token by config.mask_token_id, unless the tokenizer has one."""
    if tokenizer.mask_token_id is None:
        tokenizer.mask_token = tokenizer.convert_ids_to_tokens(config.mask_token_id)


MEANS_OTHERWISE = re.compile(
    r"lora_|base_layer|qweight|qzeros|scales$|weight_scale|absmax|quant_(map|state)"
)
"""Matches weights of adapters and of quantisation, without which the other weights are wrong."""


logger = logging.getLogger(__name__)


def require_source(source: str, argument: str = "model") -> bool:
    """Whether `source` is a folder. Raises ModelError if it is neither a folder nor a hub id."""
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
    """Check the config of a model or of a peft adapter, without reading weights.

    argument: the name of `source` in error messages. revision: see read().
    Returns the content of the adapter's adapter_config.json; None for a model. Raises ModelError if
    `source` cannot decode text. Also raises LOADING_ERRORS, which reason_of() explains.
    """
    is_folder = os.path.isdir(source)
    where: dict[str, Any] = {"local_files_only": is_folder, "revision": revision}
    file = find_adapter_config_file(source, **where)
    if file is not None:
        return read_adapter_config(source, file, argument)
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
    """Explain, in words such as "has a damaged weights file", why `source` could not be loaded."""
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
    """Raise ModelError unless the weights that transformers has loaded fit the model's config.

    No weight may be missing, misshapen, or part of an adapter or of a quantised model.
    report: the loading info of transformers, which lists such weights instead of raising.
    argument: the name of `source` in error messages.
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
