"""Times single forward passes and compares them with a roofline.

The roofline uses peak rates measured on this machine. In ONNX Runtime, the matrix products are also
timed alone.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.backends.onnx.build import products_are_exact, threads_of
from sbd_core.models.backends.onnx.export import GRAPH_FILE, MIDDLE, Exporter, Operand
from sbd_core.models.backends.onnx.forward import session_of
from sbd_core.models.block_adapter import GROUPS, LINEARS
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.roofline import Device, LayerShape, slowdown

QUERY_LENGTHS = (1, 2, 4, 8, 16, 32, 64)
CACHE_LENGTHS = (64, 256, 512, 896)
ROWS_OF_PARTS = (1, 2, 3, 5, 9, 17, 41)
NUM_RUNS = 15
NUM_WARM_UPS = 3


def median_seconds(call: Callable[[], object], device: str) -> float:
    """Median seconds of NUM_RUNS calls, which follow NUM_WARM_UPS calls that are not counted."""
    seconds = []
    for _ in range(NUM_WARM_UPS + NUM_RUNS):
        began = time.perf_counter()
        call()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[NUM_WARM_UPS:])


def forwards(model: HuggingFaceModel) -> dict[str, dict[str, dict[str, float | None]]]:
    """Time forward passes over blocks of several sizes, after caches of several lengths.

    Returns {cache length: {block size: {"milliseconds", "slowdown", "roofline"}}}. The slowdown is
    the time divided by the time of block size 1. The roofline is the slowdown in theory, from
    sbd_core.roofline's mode "corrected" and this machine's measured peaks; None for integer
    weights, and for a model that is not a decoder of equal dense layers.
    """
    device = machine(next(model.model.parameters()))
    try:
        shape = None if model.dtype.startswith("int") else LayerShape.of(model.model.config)
    except ArgumentError:
        shape = None

    def theory(queries: int, cached: int) -> float | None:
        if shape is None:
            return None
        return round(slowdown(queries, cached, 1, "corrected", shape=shape, device=device), 3)

    by_batch: dict[str, dict[str, dict[str, float | None]]] = {}
    for cached in CACHE_LENGTHS:
        if model.max_positions and cached + QUERY_LENGTHS[-1] > model.max_positions:
            continue
        times = {}
        for queries in QUERY_LENGTHS:
            cache, block = model.new_cache(), [0] * queries
            model.forward(cache, [0] * cached, (), 1)
            read = partial(model.forward, cache, (), block, 0)
            times[queries] = median_seconds(read, model.device)
        by_batch[str(cached)] = {
            str(queries): {
                "milliseconds": round(1000 * seconds, 4),
                "slowdown": round(seconds / times[1], 3),
                "roofline": theory(queries, cached),
            }
            for queries, seconds in times.items()
        }
    return by_batch


def parts(model: HuggingFaceModel) -> dict[str, dict[str, float]]:
    """Time parts of a forward pass in ONNX Runtime after 64 cached tokens.

    Returns {part: {number of rows (input positions): milliseconds}}. The part "products alone" is
    all matrix products of a pass. The part "causal rows" is a pass over causal rows. The part
    "masks" is a pass over one causal row and then masks.
    """
    multiply, cache = products_of(model.model, model.dtype), model.new_cache()
    model.forward(cache, [0] * CACHE_LENGTHS[0], (), 1)

    def read(num_causal: int, num_masks: int) -> None:
        masks = [model.mask_token_id or 0] * num_masks
        model.forward(cache, [0] * num_causal, masks, num_causal)
        cache.truncate(CACHE_LENGTHS[0])

    calls: dict[str, Callable[[int], None]] = {
        "products alone": multiply,
        "causal rows": lambda count: read(count, 0),
    }
    if model.mask_token_id is not None:
        calls["masks"] = lambda count: read(1, count - 1)
    return {
        name: {
            str(count): round(1000 * median_seconds(partial(call, count), model.device), 4)
            for count in ROWS_OF_PARTS
        }
        for name, call in calls.items()
    }


def machine(weight: Tensor) -> Device:
    """Measure the device of `weight`: the speed of a large matrix product and of a large copy."""
    kind = str(weight.device)
    square = torch.randn(1024, 1024, device=weight.device).to(weight.dtype)
    large = torch.zeros(64 * 1024**2 // weight.itemsize, dtype=weight.dtype, device=weight.device)
    target = torch.empty_like(large)
    flops = 2 * 1024**3 / median_seconds(lambda: square @ square, kind)
    copying = median_seconds(lambda: target.copy_(large), kind)
    return Device(
        name="this machine",
        linear_flops=flops,
        attention_flops=flops,
        bandwidth=2 * large.nbytes / copying,
        bytes_per_value=weight.itemsize,
        source="measured: a product of 1024 x 1024 matrices, a copy of 64 MiB",
    )


class Products(Exporter):
    """Exports an ONNX graph of matrix products alone: inputs times each linear layer's weight.

    Inputs are (rows, in_features): float32, or uint8 if `dtype` is int8. Adapters are left out.
    """

    def groups(self) -> list[tuple[str, Sequence[Any]]]:
        """(name, linear layers) of each product. Layers with the same input form one product."""
        groups: list[tuple[str, Sequence[Any]]] = [("head", [self.model.lm_head])]
        for index, layer in enumerate(self.model.model.layers):
            for name, members in GROUPS.items():
                linears = [layer.get_submodule(LINEARS[each]) for each in members]
                groups.append((f"layer.{index}.{name}", linears))
        return groups

    def _nodes(self) -> None:
        for name, linears in self.groups():
            x = f"x.{linears[0].in_features}"
            scale = None if self.dtype == "float32" else "scaled later"
            self._multiplied(name, Operand(x, scale), partial(_weight, linears))

    def _inputs(self) -> list[Any]:
        kind = TensorProto.FLOAT if self.dtype == "float32" else TensorProto.UINT8
        sizes = sorted({linears[0].in_features for _, linears in self.groups()})
        make = helper.make_tensor_value_info
        return [make(f"x.{size}", kind, ["rows", size]) for size in sizes]

    def _outputs(self) -> list[Any]:
        make = helper.make_tensor_value_info
        return [
            make(name, TensorProto.FLOAT, ["rows", sum(each.out_features for each in linears)])
            for name, linears in self.groups()
        ]


def _weight(linears: Sequence[Any]) -> Tensor:
    """The fp32 weights of several linear layers, joined along their output dimension."""
    return torch.cat([linear.weight.detach().float() for linear in linears])


def products_of(model: Any, dtype: Any) -> Callable[[int], None]:
    """Return a function that multiplies num_rows rows by all weights. dtype: float32 or int8."""
    exporter = Products(model, dtype)
    sums_in_32_bits = dtype == "int8" and not products_are_exact()
    with TemporaryDirectory() as folder:
        exporter.write(Path(folder))
        session = session_of(
            f"{folder}/{GRAPH_FILE}", threads_of(model), sums_in_32_bits=sums_in_32_bits
        )
    sizes = {each.name: each.shape[1] for each in session.get_inputs()}
    kind = np.float32 if dtype == "float32" else np.uint8

    def multiply(num_rows: int) -> None:
        session.run(
            None, {name: np.full((num_rows, size), MIDDLE, kind) for name, size in sizes.items()}
        )

    return multiply
