"""Times forward passes by rows and cached tokens, beside the roofline of this machine."""

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.roofline import Device, LayerShape, slowdown

QUERY_LENGTHS = (1, 2, 4, 8, 16, 32, 64)
CACHE_LENGTHS = (64, 256, 512, 896)
NUM_RUNS = 15
NUM_WARM_UPS = 3


def median_seconds(call: Callable[[], object], device: str) -> float:
    """Median seconds of NUM_RUNS calls, after NUM_WARM_UPS more."""
    seconds = []
    for _ in range(NUM_WARM_UPS + NUM_RUNS):
        began = time.perf_counter()
        call()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[NUM_WARM_UPS:])


def forward_seconds(model: HuggingFaceModel, num_queries: int, num_cached: int) -> float:
    """Median seconds of a forward pass over a block of `num_queries` with `num_cached`."""
    cache = model.new_cache()
    if num_cached:
        model.forward(cache, [0] * num_cached, (), 1)
    block = [0] * num_queries
    return median_seconds(lambda: model.forward(cache, (), block, 0), model.device)


def forwards(model: HuggingFaceModel) -> dict[str, dict[str, dict[str, float | None]]]:
    """{cache length: {query length: milliseconds, slowdown, and the roofline's slowdown}}.

    The roofline is the corrected one, for this model's shape and this machine's measured peaks;
    None for a model that is not Llama-shaped or whose weights are integers.
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
        times = {queries: forward_seconds(model, queries, cached) for queries in QUERY_LENGTHS}
        by_batch[str(cached)] = {
            str(queries): {
                "milliseconds": round(1000 * seconds, 4),
                "slowdown": round(seconds / times[1], 3),
                "roofline": theory(queries, cached),
            }
            for queries, seconds in times.items()
        }
    return by_batch


def machine(weight: Tensor) -> Device:
    """The weight's device; its peaks are those of a large matrix product and a large copy."""
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
