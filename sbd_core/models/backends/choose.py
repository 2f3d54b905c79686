"""Chooses the backend that makes a model's forward passes; nothing else decides that."""

import logging
from typing import Any

import torch

from sbd_core.errors import ArgumentError, ModelError
from sbd_core.models.backends.llama.cuda_graph import CudaGraphBackend
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.llama.weights import can_fuse, has_known_shape
from sbd_core.models.backends.transformers import GatedLinears, TransformersBackend
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.runtime import QUANTIZED

logger = logging.getLogger(__name__)


def choose(
    model: Any,
    name: str,
    *,
    dtype: str = "auto",
    block_size: int = 16,
    adapter: BlockAdapter | None = None,
) -> Any:
    """Build the fastest backend that can run a model on its device.

    A Llama-shaped model runs by CUDA graphs on a GPU, and by ONNX Runtime on a CPU in float32 or
    int8. Other models run in PyTorch, as does a model that ONNX Runtime fails on; the log says why.

    name: what the log and errors call the model. dtype: see load().
    block_size: the largest block size that the model will be decoded with.
    adapter: the model's block adapter, None if it has none.
    Raises ModelError for an adapter that cannot be applied.
    """
    if model.device.type != "cpu":
        fused = plain(model, name, adapter)
        if isinstance(fused, FusedLlamaBackend) and model.device.type == "cuda":
            return CudaGraphBackend(fused, block_size)
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
                    dtype if dtype in QUANTIZED else "float32",  # type: ignore[arg-type]
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
    """Build the PyTorch backend: fused if can_fuse(model), else the model's own modules.

    Raises ModelError for an adapter whose base is not Llama-shaped.
    """
    if can_fuse(model):
        return FusedLlamaBackend(model, adapter)
    if adapter is None:
        return TransformersBackend(model)
    if not has_known_shape(model):
        raise ModelError(f"{name}: a block adapter needs a base like Llama, Mistral or Qwen")
    return TransformersBackend(model, GatedLinears.of(model, adapter))


def fused_backend(model: HuggingFaceModel) -> FusedLlamaBackend:
    """Return the model's own fused PyTorch backend, or build one from its weights.

    Unlike choose(), this also fuses a model on a CPU in bf16 or fp16, where the fused forward pass
    rounds differently from transformers. Raises ArgumentError for a model that is not Llama-shaped.
    """
    if isinstance(model.backend, FusedLlamaBackend):
        return model.backend
    if not has_known_shape(model.model):
        rule = "must be of a family that the fused forward pass takes: Llama, Mistral, Qwen"
        raise ArgumentError("model", rule, model.name)
    return FusedLlamaBackend(model.model, model.adapter)
