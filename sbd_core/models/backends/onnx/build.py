"""Builds the ONNX Runtime backend of a loaded model, from cached graphs or newly written ones.

Graphs are kept in the user's cache folder, and may be deleted. A graph's folder is named by a
digest of all that the graph depends on. The folder is filled elsewhere, then moved into the cache
in one step, so that no process sees it half filled.
"""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto

from sbd_core.errors import ArgumentError, one_line
from sbd_core.files import cache_folder, fill_cache
from sbd_core.models.backends.llama.forward import has_known_shape
from sbd_core.models.backends.onnx.export import (
    FLOAT,
    LARGEST,
    MIDDLE,
    OWN,
    Dtype,
    Exporter,
    Writer,
    values_of,
)
from sbd_core.models.backends.onnx.forward import OnnxBackend, session_of, sessions_of
from sbd_core.models.block_adapter import AdapterLayers
from sbd_core.models.probes import keeps_bits
from sbd_core.models.runtime import is_small, usable_cores

logger = logging.getLogger(__name__)


@contextmanager
def graph_folder(key: str, write: Callable[[Path], None]) -> Iterator[Path]:
    """Yield the folder of graph `key` in the cache, or else a temporary one, which `write` fills.

    Raises OSError if neither can be written.
    """
    kept = cache_folder() / "graphs" / key
    if not kept.exists():
        try:
            fill_cache(kept, write)
        except ArgumentError as error:
            logger.info("the ONNX graph is not kept: %s", error)
            with TemporaryDirectory(prefix="sbd-graph-", ignore_cleanup_errors=True) as folder:
                write(Path(folder))
                yield Path(folder)
            return
    yield kept


def key_of(model: Any, dtype: Dtype, adapter: AdapterLayers | None = None) -> str:
    """Compute a digest of a graph's weights, adapter, config, dtype, library versions and code."""
    weights = dict(model.named_parameters())
    for index, layer in enumerate(adapter or ()):
        for name, pair in layer.items():
            weights |= {f"adapter.{index}.{name}.{i}": part for i, part in enumerate(pair)}
    digest = hashlib.sha256(repr((dtype, onnx.__version__, onnxruntime.__version__)).encode())
    digest.update(Path(__file__).with_name("export.py").read_bytes())
    digest.update(model.config.to_json_string().encode())
    for name, weight in weights.items():
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        values = weight.detach().contiguous().view(-1).view(torch.uint8)
        digest.update(values.numpy().data)
    return digest.hexdigest()[:32]


class OnnxUnavailable(Exception):
    """Raised if ONNX Runtime cannot run a model on this machine; the message says why in a line."""


def build(model: Any, dtype: Dtype, adapter: AdapterLayers | None = None) -> OnnxBackend:
    """Build the ONNX Runtime backend of a transformers model on the CPU.

    adapter: the layers of the model's block adapter, None if it has none.
    Raises OnnxUnavailable if ONNX Runtime cannot run the model here.
    """
    if not has_known_shape(model):
        raise OnnxUnavailable(f"models of type {model.config.model_type} cannot be exported")
    exporter = Exporter(model, dtype, adapter)
    sums_in_32_bits = dtype == "int8" and not products_are_exact()
    if sums_in_32_bits and not products_are_exact(sums_in_32_bits=True):
        raise OnnxUnavailable("this processor's products of int8 are not exact")
    key, size = key_of(model, dtype, adapter), sum(each.numel() for each in model.parameters())
    threads = 1 if is_small(size) else usable_cores()

    def opened() -> tuple[Any, ...]:
        with graph_folder(key, exporter.write) as folder:
            return sessions_of(folder, threads, sums_in_32_bits=sums_in_32_bits)

    try:
        try:
            sessions = opened()
        except Exception:  # kept files that were cut or deleted are written anew
            shutil.rmtree(cache_folder() / "graphs" / key, ignore_errors=True)
            sessions = opened()
    except Exception as error:
        raise OnnxUnavailable(one_line(error)) from error
    backend = OnnxBackend(sessions, exporter.shape, model.model.rotary_emb, dtype)
    if adapter is not None and not keeps_bits(backend.new_caches, backend.forward):
        rule = "depend on the rows beside them"
        raise OnnxUnavailable(f"on this processor its {dtype} products {rule}")
    return backend


@lru_cache(maxsize=2)
def products_are_exact(*, sums_in_32_bits: bool = False) -> bool:
    """Whether products of uint8 and int8 matrices are exact on this processor, for all values.

    Some processors add two products in 16 bits, which cuts off large sums.
    sums_in_32_bits: see session_of().
    """
    session = session_of(products_graph(), 1, sums_in_32_bits=sums_in_32_bits)
    draw = np.random.default_rng(0)
    for num_rows in (1, 5, 17):
        x = draw.choice(np.array([0, 255], np.uint8), (num_rows, NUM_PRODUCTS))
        x[0] = 255
        if session.run(None, {"x": x}) != [0]:
            return False
    return True


NUM_PRODUCTS = 576
"""Number of products in each sum. It is small enough that fp32 holds the largest sum exactly."""


def products_graph() -> bytes:
    """Make an ONNX file that multiplies x by a weight of LARGEST and -LARGEST, in two ways.

    x: uint8 (rows, NUM_PRODUCTS), in which MIDDLE stands for 0. Output: error, the largest
    difference between the product of integers and that of fp32.
    """
    signs = np.array([-LARGEST, LARGEST], np.int8)
    numbers = np.random.default_rng(0).choice(signs, (NUM_PRODUCTS, 96))
    numbers[:, 0] = LARGEST
    w = Writer()
    weight, one = w.matrix("weight", torch.from_numpy(numbers)), w.number("one", 1)
    middle, zero = (
        w.number("middle", MIDDLE, TensorProto.UINT8),
        w.number("zero", 0, TensorProto.INT8),
    )
    inputs = ["x", weight, one, one, middle, zero]
    product = w.node("MatMulIntegerToFloat", inputs, "product", domain=OWN)
    x = w.node("Cast", ["x"], "x.float", to=FLOAT)
    x = w.node("Sub", [x, w.number("middle.float", MIDDLE)], "x.values")
    weight = w.node("Cast", [weight], "weight.values", to=FLOAT)
    expected = w.node("MatMul", [x, weight], "expected")
    sizes = w.node("Abs", [w.node("Sub", [product, expected], "difference")], "sizes")
    w.node("ReduceMax", [sizes], "error", keepdims=0)
    given = values_of(TensorProto.UINT8, x=["rows", NUM_PRODUCTS])
    return w.content(given, values_of(FLOAT, error=[]))
