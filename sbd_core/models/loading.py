"""A model folder or hub id, read and wrapped in a HuggingFaceModel with the fastest backend."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from huggingface_hub.utils import logging as hub_logging
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.models.adapters import settle_adapter
from sbd_core.models.backends.c.compiler import found_compiler
from sbd_core.models.backends.c.forward import CBackend, can_run_in_c
from sbd_core.models.backends.c.logit_stats import CComputeLogitStats
from sbd_core.models.backends.cuda_graph import CudaGraphBackend
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.devices import chosen_device, chosen_dtype
from sbd_core.models.families.nemotron import loading_options, name_mask_token
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.source_check import (
    reason_of,
    require_causal_lm,
    require_fit,
    require_source,
)

logger = logging.getLogger(__name__)

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
    dtype: str = "auto",
    native: bool | None = None,
) -> HuggingFaceModel:
    """Load a model folder or hub id; None is the checkpoint that ships with this package.

    device: "auto" (CUDA if there is one), "cpu", "cuda" or "cuda:1". dtype: "auto" (fp32 on a CPU,
    the checkpoint's own on CUDA), "float32", "bfloat16" or "float16". native: short forward passes
    of one text in C, compiled once and kept (see sbd_core.models.backends.c); None where that can
    be, with a warning in the log if a compiler fails; `.is_native` says which it is. Weights are
    read from safetensors only and no code of the folder is run. Raises ArgumentError, ModelError.
    """
    if path_or_hub_id is None and not DEFAULT_CHECKPOINT.is_dir():
        raise ModelError(
            "model: must be a folder or a hub id; this installation holds no checkpoint of its own "
            "(pip install . in a checkout of the repository brings it)"
        )
    source = str(path_or_hub_id) if path_or_hub_id is not None else str(DEFAULT_CHECKPOINT)
    place = chosen_device(device)
    precision: Any = chosen_dtype(dtype, place)
    is_folder = require_source(source)
    model, tokenizer = read(source, precision, is_folder=is_folder)
    name = Path(source).resolve().name if is_folder else source
    wrapped = HuggingFaceModel(model.to(place), tokenizer, name)
    wrapped.encode("a prompt", is_raw=False)  # a broken chat template is told now
    if place.type == "cuda" and isinstance(wrapped.backend, FusedLlamaBackend):
        _, largest = wrapped.block_range or (1, DecodeConfig().block_size)
        wrapped.backend = CudaGraphBackend(wrapped.backend, name, largest)
    if native or native is None:
        _run_in_c(wrapped, is_wish=native is None)
    return wrapped


def _run_in_c(model: HuggingFaceModel, *, is_wish: bool) -> None:
    """Short forward passes in C. is_wish: leave the model as it is where that cannot be."""
    if is_wish and not (can_run_in_c(model.backend) and found_compiler()):
        return
    try:
        backend, stats = CBackend(model.backend, model.name), CComputeLogitStats()
    except ArgumentError as error:
        if not is_wish:
            raise
        logger.warning("forward passes run in PyTorch, not in C: %s", error)
        return
    model.backend, model.compute_logit_stats, model.is_native = backend, stats, True


def read(
    source: str, dtype: Any, *, is_folder: bool, argument: str = "model"
) -> tuple[Any, PreTrainedTokenizerBase]:
    """The transformers model and tokenizer of a folder or hub id, safetensors only, no code run.

    Raises ModelError, which names what was asked for as `argument`.
    """
    options = {"trust_remote_code": False, "local_files_only": is_folder}
    adapter = None
    try:
        with quietly():
            adapter = require_causal_lm(source, argument)
            renamed = {} if adapter else loading_options(source, is_folder=is_folder)
            own = {name: renamed[name] for name in renamed if name == "config"}
            tokenizer = AutoTokenizer.from_pretrained(source, **options, **own)
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                source,
                dtype=dtype,
                use_safetensors=True,
                attn_implementation="sdpa",
                output_loading_info=True,
                **options,
                **renamed,
            )
    except LOADING_ERRORS as error:
        reason = reason_of(error, source, adapter)
        raise ModelError(f"{argument}: {shown(source)} {reason}") from error
    model, report = loaded
    require_fit(source, model, report, adapter, argument)
    if renamed:
        name_mask_token(tokenizer, model.config)
    if adapter is not None and is_folder:
        settle_adapter(model, Path(source), adapter, argument)
    return model, tokenizer


@contextmanager
def quietly() -> Iterator[None]:
    """Keep what transformers and the Hub say while they load to themselves; errors are raised."""
    libraries = [(each, each.get_verbosity()) for each in (transformers_logging, hub_logging)]
    for library, _ in libraries:
        library.set_verbosity_error()
    try:
        with bars_only_on_a_terminal():
            yield
    finally:
        for library, verbosity in libraries:
            library.set_verbosity(verbosity)


@contextmanager
def bars_only_on_a_terminal() -> Iterator[None]:
    """Keep transformers' loading bars out of logs and pipes."""
    was_enabled = transformers_logging.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            transformers_logging.enable_progress_bar()
