"""The backend of a loaded model: its graph, from the cache folder or written now, and a session."""

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.backends.onnx.export import (
    IR_VERSION,
    LARGEST,
    MIDDLE,
    OPSET,
    OWN,
    AdapterLayers,
    Dtype,
    Exporter,
)
from sbd_core.models.backends.onnx.forward import OnnxBackend, session_of, sessions_of
from sbd_core.models.backends.onnx.store import graph_folder, key_of
from sbd_core.models.exactness import keeps_bits
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
    saturates = dtype == "int8" and not products_are_exact()
    if saturates and not products_are_exact(saturates=True):
        raise OnnxUnavailable("this processor's products of int8 are not exact")
    try:
        with graph_folder(key_of(model, dtype, adapter), exporter.write) as folder:
            sessions = sessions_of(folder, threads_of(model), saturates=saturates)
    except (OSError, ValueError, *SESSION_ERRORS) as error:
        raise OnnxUnavailable(" ".join(str(error).split())[:300]) from error
    backend = OnnxBackend(sessions, exporter.shape, model.model.rotary_emb, dtype)
    if adapter is not None and not keeps_bits(backend.new_caches, backend.forward):
        rule = "depend on the rows beside them"
        raise OnnxUnavailable(f"on this processor its {dtype} products {rule}")
    return backend


@lru_cache(maxsize=2)
def products_are_exact(*, saturates: bool = False) -> bool:
    """Whether sums of the largest products of uint8 and int8 are what numpy says; see session_of().

    Some processors' instructions add two of them in 16 bits, and cut off what is too large.
    """
    draw = np.random.default_rng(0)
    weight = draw.choice(np.array([-LARGEST, LARGEST], np.int8), (576, 96))
    weight[:, 0] = LARGEST
    constants = [
        helper.make_tensor("weight", TensorProto.INT8, weight.shape, weight.tobytes(), raw=True),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
        helper.make_tensor("middle", TensorProto.UINT8, [], [MIDDLE]),
        helper.make_tensor("zero", TensorProto.INT8, [], [0]),
    ]
    inputs = ["x", "weight", "one", "one", "middle", "zero"]
    graph = helper.make_graph(
        [helper.make_node("MatMulIntegerToFloat", inputs, ["y"], domain=OWN)],
        "products",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, ["rows", 576])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 96])],
        constants,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    session = session_of(proto.SerializeToString(), 1, saturates=saturates)
    for num_rows in (1, 5, 17):
        x = draw.choice(np.array([0, 255], np.uint8), (num_rows, 576))
        x[0] = 255
        expected = (x.astype(np.int64) - MIDDLE) @ weight.astype(np.int64)
        if not np.array_equal(session.run(None, {"x": x})[0], expected):
            return False
    return True


def threads_of(model: Any) -> int:
    """How many threads a forward pass of a transformers model should have."""
    num_parameters = sum(parameter.numel() for parameter in model.parameters())
    return 1 if is_small(num_parameters) else usable_cores()
