"""The backend of a loaded model: its graph, from the cache folder or written now, and a session."""

from typing import Any

import torch
from onnxruntime.capi import onnxruntime_pybind11_state as state

from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.backends.onnx.export import AdapterLayers, Dtype, Exporter
from sbd_core.models.backends.onnx.forward import OnnxBackend, sessions_of
from sbd_core.models.backends.onnx.store import graph_folder, key_of
from sbd_core.models.protocol import ForwardRequest
from sbd_core.models.threads import is_small, usable_cores

SESSION_ERRORS = (
    state.EPFail,
    state.Fail,
    state.InvalidArgument,
    state.InvalidGraph,
    state.InvalidProtobuf,
    state.NoSuchFile,
    state.NotImplemented,
    state.RuntimeException,
)


class OnnxUnavailable(Exception):
    """Why a model cannot run here; one line."""


def build(model: Any, dtype: Dtype, adapter: AdapterLayers | None = None) -> OnnxBackend:
    """The backend of a transformers model on the CPU. Raises OnnxUnavailable.

    adapter: what the rows of blocks alone read beside it; see Exporter.
    """
    if not has_known_shape(model):
        raise OnnxUnavailable(f"models of type {model.config.model_type} cannot be exported")
    exporter = Exporter(model, dtype, adapter)
    try:
        with graph_folder(key_of(model, dtype, adapter), exporter.write) as folder:
            sessions = sessions_of(folder, threads_of(model))
    except (OSError, *SESSION_ERRORS) as error:
        raise OnnxUnavailable(" ".join(str(error).split())[:300]) from error
    backend = OnnxBackend(sessions, exporter.shape, model.model.rotary_emb, dtype)
    if (dtype == "int4" or adapter is not None) and not keeps_bits(backend):
        rule = "depend on the rows beside them"
        raise OnnxUnavailable(f"on this processor its {dtype} products {rule}")
    return backend


def keeps_bits(backend: OnnxBackend) -> bool:
    """Whether a token alone has the logits, to the bit, that it has in a text read at once.

    And, with an adapter, beside a block. What makes verify equal next-token prediction. False for
    int4 on processors without VNNI.
    """
    ids = [token % backend.shape.vocabulary for token in range(3, 12)]
    whole, steps = backend.new_caches(1)[0], backend.new_caches(1)[0]
    [at_once] = backend.forward([ForwardRequest(whole, ids, (), len(ids))])
    alone = [backend.forward([ForwardRequest(steps, [token], (), 1)])[0] for token in ids]
    whole.truncate(0)
    [beside] = backend.forward([ForwardRequest(whole, ids, [0, 0], len(ids))])
    return torch.equal(at_once, torch.cat(alone)) and torch.equal(at_once, beside[: len(ids)])


def threads_of(model: Any) -> int:
    """How many threads a forward pass of a transformers model should have."""
    num_parameters = sum(parameter.numel() for parameter in model.parameters())
    return 1 if is_small(num_parameters) else usable_cores()
