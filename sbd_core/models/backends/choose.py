"""Chooses the backend for a model's forward passes; no other module makes this choice."""

import logging
from typing import Any

import torch

from sbd_core.config import DecodeConfig
from sbd_core.errors import ModelError
from sbd_core.models.backends.llama.cuda_graph import CudaGraphBackend
from sbd_core.models.backends.llama.forward import FusedLlamaBackend, can_fuse, has_known_shape
from sbd_core.models.backends.transformers import GatedLinears, TransformersBackend
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.model_folder import BlockSettings
from sbd_core.models.runtime import QUANTIZED

logger = logging.getLogger(__name__)


def choose(
    model: Any,
    name: str,
    *,
    dtype: str = "auto",
    adapter: BlockAdapter | None = None,
) -> Any:
    """Build the fastest backend that can run a model on its device.

    A Llama-shaped model uses CUDA graphs on a CUDA GPU and, in float32 or int8, ONNX Runtime on a
    CPU. Other models use PyTorch, as does a model that ONNX Runtime cannot run; the log says why.

    name: the model's name in the log and in errors. dtype: the argument `dtype` of load().
    adapter: the model's block adapter, None if it has none.
    Raises ModelError if there is an adapter but the model is not Llama-shaped.
    """
    if model.device.type != "cpu":
        fused = plain(model, name, adapter)
        if isinstance(fused, FusedLlamaBackend) and model.device.type == "cuda":
            block_range = BlockSettings.of(model.config, name).block_range
            return CudaGraphBackend(fused, (block_range or (1, DecodeConfig().block_size))[1])
        return fused
    if dtype in QUANTIZED or model.dtype == torch.float32:
        try:
            from sbd_core.models.backends.onnx.build import OnnxUnavailable, build
        except (ImportError, OSError) as error:  # OSError: a library that cannot be loaded
            why = f"onnxruntime or onnx cannot be imported: {error}"
        else:
            try:
                return build(
                    model,
                    "int8" if dtype == "int8" else "float32",
                    adapter.layers if adapter else None,
                )
            except OnnxUnavailable as error:
                why = str(error)
        if dtype in QUANTIZED:
            logger.warning("%s runs in PyTorch in float32, not in %s: %s", name, dtype, why)
        elif can_fuse(model):
            logger.warning("%s runs in PyTorch, not in ONNX Runtime: %s", name, why)
    return plain(model, name, adapter)


def plain(
    model: Any, name: str, adapter: BlockAdapter | None = None
) -> FusedLlamaBackend | TransformersBackend:
    """Build the fused PyTorch backend if can_fuse(model), else the transformers backend.

    Raises ModelError if there is an adapter but the model is not Llama-shaped.
    """
    if can_fuse(model):
        return FusedLlamaBackend(model, adapter)
    if adapter is None:
        return TransformersBackend(model)
    if not has_known_shape(model):
        raise ModelError(f"{name}: a block adapter needs a base like Llama, Mistral or Qwen")
    return TransformersBackend(model, GatedLinears.of(model, adapter))


def prepare_for_many_texts(model: HuggingFaceModel) -> None:
    """Give a model the fused PyTorch backend, several times as fast for many texts at once.

    Models in int8, and those that are not Llama-shaped, keep their backend.
    """
    backend = model.backend.fused if isinstance(model.backend, CudaGraphBackend) else model.backend
    if model.dtype != "int8" and has_known_shape(model.model):
        is_fused = isinstance(backend, FusedLlamaBackend)
        model.backend = backend if is_fused else FusedLlamaBackend(model.model, model.adapter)
