"""Loads a model folder or hub id as a HuggingFaceModel with the fastest backend.

What transformers, peft and safetensors raise becomes a ModelError, which names what was to be
loaded and gives their reason; it is raised from their error.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedTokenizerBase,
)
from transformers.utils import cached_file
from transformers.utils.peft_utils import find_adapter_config_file

from sbd_core.errors import (
    ADVICE,
    ArgumentError,
    ModelError,
    SetBlockDecodingError,
    is_out_of_memory,
    one_line,
    shown,
)
from sbd_core.files import weights_sha256
from sbd_core.models.backends.choose import choose
from sbd_core.models.backends.transformers import GatedLinears
from sbd_core.models.bases import BASES, require_base
from sbd_core.models.block_adapter import BlockAdapter, read_block_adapter
from sbd_core.models.chat import LimitedTemplate
from sbd_core.models.hf_model import HuggingFaceModel, digest_of_weights
from sbd_core.models.logits_processors import rules_of_folder
from sbd_core.models.mask_token import (
    choose_mask_token,
    give_mask_token,
    require_special_rows,
)
from sbd_core.models.model_folder import (
    DEFAULT_CHECKPOINT,
    add_end_token,
    block_config,
    bundled_folder,
    folder_of,
    is_block_adapter,
    is_web_folder,
)
from sbd_core.models.peft_adapter import apply_adapter, is_adapter, read_adapter_config
from sbd_core.models.probes import require_block_attention
from sbd_core.models.runtime import chosen_device, chosen_dtype, quietly

logger = logging.getLogger(__name__)


def load(
    path_or_hub_id: str | Path | None = None,
    *,
    device: str = "auto",
    dtype: str | None = None,
    limits_template: bool = False,
) -> HuggingFaceModel:
    """Load a model from a folder or a hub id; None loads the model that ships with this package.

    device: "auto" (CUDA if there is one), "cpu", "cuda" or "cuda:1".
    dtype: "auto" (fp32 on a CPU, the checkpoint's dtype on CUDA), "float32", "bfloat16", "float16",
        or on a CPU "int8". None takes the dtype that the folder names for CPUs; on CUDA, "auto".
    limits_template: whether to render prompts within limits on time, memory and length, as for a
        stranger's model.
    Weights are read from safetensors only, and no code of the folder is run. Raises ArgumentError,
    ModelError.
    """
    if path_or_hub_id is None and not DEFAULT_CHECKPOINT.is_dir():
        raise ModelError(
            "model: must be a folder or a hub id; this installation holds no checkpoint of its own "
            "(pip install . in a checkout of the repository brings it)"
        )
    source = str(DEFAULT_CHECKPOINT if path_or_hub_id is None else path_or_hub_id)
    source = located(str(bundled_folder(source) or source))
    target = chosen_device(device)
    dtype, precision = chosen_dtype(dtype, target, source)
    name, adapter = Path(source).resolve().name if os.path.isdir(source) else source, None
    if is_block_adapter(source):
        model, tokenizer, adapter = read_with_adapter(Path(source), precision)
    else:
        model, tokenizer = read(source, precision)
    # Taken before the backend is chosen, which may lay the weights out anew.
    if adapter is None:
        weights = {name: digest_of_weights(model)}
    else:
        weights = {
            name: str(weights_sha256(Path(source))),
            adapter.info.base: adapter.info.base_digest,
        }
    backend = choose(model.to(target), name, dtype=dtype, adapter=adapter)
    wrapped = HuggingFaceModel(
        model, tokenizer, name, backend=backend, adapter=adapter, weights=weights
    )
    if tokenizer.chat_template and limits_template:
        wrapped.render = LimitedTemplate(tokenizer)
    # Tried now, so that a broken chat template is an error of loading.
    unread = [i for i in wrapped.encode("a prompt", is_raw=False) if i >= wrapped.vocabulary_size]
    if unread:
        rule = f"{wrapped.token_text(unread[0])} ({unread[0]}) of its chat template"
        raise ModelError(f"model: {shown(source)} has no embedding for {rule}: resize the model")
    return wrapped


def read(
    source: str, dtype: Any, *, argument: str = "model", revision: str | None = None
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Read the transformers model and the tokenizer of `source`; see located().

    argument: the name of `source` in error messages.
    revision: the branch, tag or commit to read on the Hub; None is the default branch.
    An adapter of peft gives its base with the adapter's layers added. Raises ModelError.
    """
    source = located(source, argument)
    where: dict[str, Any] = {"local_files_only": os.path.isdir(source), "revision": revision}
    options = {"trust_remote_code": False, **where}
    with quietly(), loading_errors(source, argument):
        adapter = require_causal_lm(source, argument, revision)
        if adapter is not None:
            adapted, tokenizer = read_with_peft(source, adapter, dtype, argument)
            return adapted.get_base_model(), tokenizer
        AutoConfig.from_pretrained(source, **options)  # its reason is the clearest
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source,
            dtype=dtype,
            use_safetensors=True,
            attn_implementation="sdpa",
            output_loading_info=True,
            **options,
        )
    model, report = loaded
    require_whole(source, report, argument)
    require_special_rows(model, tokenizer, f"{argument}: {shown(source)}")
    require_block_attention(model, shown(source), argument)
    rules_of_folder(model, None, f"{argument}: {shown(source)}")
    return model, tokenizer


def located(source: str, argument: str = "model") -> str:
    """Return the path of a model's folder, or `source` if it is a hub id.

    source: a folder, a hub id, or the name of a base model that was fetched.
    argument: the name of `source` in error messages.
    Raises ModelError if there is no such folder, or if it is an export for browsers.
    """
    if source in BASES:
        return str(require_base(source))
    if os.path.isdir(source):
        if is_web_folder(source):
            rule = "is an export for browsers: name its model"
            raise ModelError(f"{argument}: {shown(source)} {rule}")
    # "name" and "owner/name" may be hub ids; anything else can only be a folder.
    elif not source or source[0] in "./~\\" or source.count("/") > 1:
        raise ModelError(
            f"{argument}: must be a folder or a hub id; there is no folder {shown(source)}"
        )
    return source


def read_fit(name: str) -> tuple[Any, Any]:
    """Read a model and its tokenizer; see read(). Raises ModelError for a peft adapter, too."""
    if is_adapter(name):
        raise ModelError(f"model: {shown(name)} is an adapter: sbd merge makes it a model first")
    return read(name, "auto")


def read_with_peft(
    source: str, adapter: dict[str, Any], dtype: Any, argument: str = "model"
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Read an adapter of peft and its base; returns (peft.PeftModel, tokenizer).

    adapter: the content of adapter_config.json, from require_causal_lm().
    The tokenizer is the adapter's own, if it has one; either one's end token ends an answer.
    """
    base, name = adapter["base_model_name_or_path"], f"base_model_name_or_path of {source}"
    if base == source or is_adapter(base):
        raise ModelError(f"{argument}: {shown(source)} is an adapter of an adapter; merge its base")
    model, tokenizer = read(base, dtype, argument=name, revision=adapter.get("revision"))
    if cached_file(source, "tokenizer_config.json", _raise_exceptions_for_missing_entries=False):
        own = {"trust_remote_code": False, "local_files_only": os.path.isdir(source)}
        tokenizer = AutoTokenizer.from_pretrained(source, **own)
        add_end_token(model, tokenizer)
    adapted = apply_adapter(model, source, argument)
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
    info, subject = adapter.info, f"model: {shown(str(folder))}"
    model, tokenizer = read(located(info.base, f"the base of {folder.name}"), dtype)
    if model.dtype != torch.float16 and digest_of_weights(model) != info.base_digest:
        rule = f"was trained beside other weights than those of {shown(info.base)} here"
        raise ModelError(f"{subject} {rule}")
    mask = choose_mask_token(model, tokenizer)
    if (mask.text, mask.token_id) != (info.mask_token, info.mask_token_id):
        token = f"{shown(info.mask_token)} as token {info.mask_token_id}"
        raise ModelError(f"{subject} has {token}, which {shown(info.base)} has no room for")
    give_mask_token(model, tokenizer, mask)
    embedding = model.get_input_embeddings().weight
    shape = (len(adapter.layers), adapter.mask_embedding.shape[0])
    if shape != (model.config.num_hidden_layers, embedding.shape[1]):
        raise ModelError(f"{subject} is an adapter of another shape of model")
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


MEANS_OTHERWISE = re.compile(
    r"lora_|base_layer|qweight|qzeros|scales$|weight_scale|absmax|quant_(map|state)"
)
"""Matches weights of adapters and of quantisation, without which the other weights are wrong."""


@contextmanager
def loading_errors(source: str, argument: str) -> Iterator[None]:
    """Turn the errors of other libraries, within the `with` block, into a ModelError from them."""
    try:
        yield
    except SetBlockDecodingError:
        raise
    except Exception as error:
        cause = ADVICE if is_out_of_memory(error) else one_line(error)
        kind = type(error).__name__
        raise ModelError(f"{argument}: {shown(source)} cannot be read: {kind}: {cause}") from error


def require_causal_lm(
    source: str, argument: str = "model", revision: str | None = None
) -> dict[str, Any] | None:
    """Check the config of a model or of a peft adapter, without reading weights.

    argument, revision: see read(). Returns what adapter_config.json holds, None for a model.
    Raises ModelError for a quantised model or a part of one, and what other libraries raise.
    """
    where: dict[str, Any] = {"local_files_only": os.path.isdir(source), "revision": revision}
    file = find_adapter_config_file(source, **where)
    if file is not None:
        return read_adapter_config(source, file, argument)
    config, _ = PretrainedConfig.get_config_dict(source, **where)
    if config.get("is_encoder_decoder"):
        rule = f"must be a decoder alone; {shown(source)} also has an encoder"
        raise ModelError(f"{argument}: {rule}")
    if config.get("quantization_config"):
        rule = "is quantised, and weights are read as they were before: name the model"
        raise ModelError(f"{argument}: {shown(source)} {rule} that it was made from")
    return None


def require_whole(source: str, report: dict[str, Any], argument: str) -> None:
    """Raise ModelError if weights are missing, or are of an adapter or of a quantised model.

    report: the loading info of transformers, which lists such weights instead of raising.
    """
    subject, others = f"{argument}: {shown(source)}", sorted(report["unexpected_keys"])
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
