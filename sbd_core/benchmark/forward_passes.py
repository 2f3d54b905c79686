"""What forward passes cost: times against the roofline and matrix products, memory, a profile."""

import copy
import statistics
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear
from torch.profiler import ProfilerActivity
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers.pytorch_utils import Conv1D

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import stream
from sbd_core.errors import ArgumentError
from sbd_core.models.backends.cuda_graph import CudaGraphBackend
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.hf_model import Backend, HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest
from sbd_core.roofline import Device, Shape, slowdown

QUERY_LENGTHS = (1, 2, 4, 8, 16, 32, 64)
CACHE_LENGTHS = (64, 256, 512, 896)
MATRIX_ROWS = (1, 16, 32)
NUM_RUNS = 15
NUM_WARM_UPS = 3


def median_seconds(call: Callable[[], object], device: str) -> float:
    """Of NUM_RUNS calls, after NUM_WARM_UPS more."""
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
    None for a model that is not Llama-shaped.
    """
    device = machine(next(model.model.parameters()))
    try:
        shape = Shape.of(model.model.config)
    except ArgumentError:
        shape = None

    def theory(queries: int, cached: int) -> float | None:
        if shape is None:
            return None
        return round(slowdown(queries, cached, 1, "corrected", shape=shape, device=device), 3)

    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for cached in CACHE_LENGTHS:
        if model.max_positions and cached + QUERY_LENGTHS[-1] > model.max_positions:
            continue
        times = {queries: forward_seconds(model, queries, cached) for queries in QUERY_LENGTHS}
        found[str(cached)] = {
            str(queries): {
                "milliseconds": round(1000 * seconds, 4),
                "slowdown": round(seconds / times[1], 3),
                "roofline": theory(queries, cached),
            }
            for queries, seconds in times.items()
        }
    return found


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


@torch.inference_mode()
def against_matrices(model: HuggingFaceModel) -> dict[str, dict[str, float]]:
    """{rows: milliseconds of a forward pass and of its matrix products alone, and their ratio}."""
    weights = matrices(model)
    found = {}
    for rows in MATRIX_ROWS:
        pairs = [(torch.randn(rows, w.shape[0]).to(w), w) for w in weights]
        products = median_seconds(partial(_multiply, pairs), model.device)
        whole = forward_seconds(model, rows, CACHE_LENGTHS[0])
        found[str(rows)] = {
            "forward_milliseconds": round(1000 * whole, 4),
            "matrices_milliseconds": round(1000 * products, 4),
            "ratio": round(whole / products, 3),
        }
    return found


def matrices(model: HuggingFaceModel) -> list[Tensor]:
    """Every weight a forward pass multiplies by, (in, out), fused as the forward has them."""
    if isinstance(model.backend, FusedLlamaBackend | CudaGraphBackend):
        return matrices_of(model.backend)
    modules = model.model.modules()
    return [
        module.weight.t() if isinstance(module, Linear) else module.weight
        for module in modules
        if isinstance(module, Linear | Conv1D)
    ]


def matrices_of(backend: FusedLlamaBackend | CudaGraphBackend) -> list[Tensor]:
    """matrices() of a forward that fuses them."""
    weights = backend.weights
    layers = [
        matrix.weight
        for layer in weights.layers
        for matrix in (layer.query_key_value, layer.out, layer.gate_up, layer.down)
    ]
    return [*layers, weights.head]


def _multiply(pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
    for x, weight in pairs:
        torch.mm(x, weight)


@dataclass(slots=True)
class TimedBackend:
    """A model's backend, and the seconds its forward passes took."""

    backend: Backend
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """See Backend."""
        return self.backend.name

    @property
    def dtype(self) -> str:
        """See Backend."""
        return self.backend.dtype

    @property
    def has_own_threads(self) -> bool:
        """See Backend."""
        return self.backend.has_own_threads

    def new_caches(self, count: int) -> Sequence[Any]:
        """See Backend."""
        return self.backend.new_caches(count)

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """See Backend; timed."""
        began = time.perf_counter()
        logits = self.backend.forward(requests)
        if logits[0].is_cuda:
            torch.cuda.synchronize(logits[0].device)
        self.seconds += time.perf_counter() - began
        return logits


def share_outside_forward(
    model: HuggingFaceModel, prompts: Sequence[Sequence[int]], config: DecodeConfig
) -> float:
    """Share of decoding time outside forward passes: selection, events, bookkeeping."""
    timed = copy.copy(model)
    timed.backend = backend = TimedBackend(model.backend)
    for _ in stream(timed, prompts[0], config):
        pass
    backend.seconds, began = 0.0, time.perf_counter()
    for prompt in prompts:
        for _ in stream(timed, prompt, config):
            pass
    return 1 - backend.seconds / (time.perf_counter() - began)


class LiveTensors(TorchDispatchMode):
    """Bytes of the tensors alive that operations have given back, those in `known` left out."""

    def __init__(self, known: Sequence[torch.UntypedStorage]) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known = {storage.data_ptr() for storage in known}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(given):
            if isinstance(leaf, Tensor):
                self._see(leaf.untyped_storage())
        return given

    def _see(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if place in self._known or not size:
            return
        self._known.add(place)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, place, size)

    def _forget(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.now -= size


def peak_memory(
    model: HuggingFaceModel, prompt: Sequence[int], config: DecodeConfig
) -> dict[str, float]:
    """Bytes of the weights, of the final text's keys and values, and at the peak.

    over: what the peak has above weights and cache, as a share of them.
    """
    weights = [parameter.untyped_storage() for parameter in model.model.parameters()]
    num_weight_bytes = sum({w.data_ptr(): w.nbytes() for w in weights}.values())
    live = LiveTensors(weights)
    num_tokens = len(prompt)
    with live:
        for event in stream(model, prompt, config):
            num_tokens += len(event.committed)
    cache: Any = model.new_cache()
    model.forward(cache, list(prompt), (), 1)
    per_token = sum(k.nbytes + v.nbytes for k, v in cache.keys_and_values()) / len(prompt)
    needed = num_weight_bytes + num_tokens * per_token
    return {
        "weights": num_weight_bytes,
        "cache": round(num_tokens * per_token),
        "peak": num_weight_bytes + live.peak,
        "over": round((num_weight_bytes + live.peak) / needed - 1, 4),
    }


MOST_OPERATIONS = 12
OTHERS, OUTSIDE = "other operations", "outside PyTorch's operations"


def profile(
    model: HuggingFaceModel, prompts: Sequence[Sequence[int]], config: DecodeConfig
) -> dict[str, Any]:
    """Milliseconds per forward pass by PyTorch operation, over all prompts, without prefills.

    Times are CPU times, each without the operations inside. The rest is Python, or the forward pass
    in ONNX Runtime.
    """
    seconds: dict[str, float] = defaultdict(float)
    num_passes, wall = 0, 0.0
    for _ in stream(model, prompts[0], config):
        pass
    activities = [ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(ProfilerActivity.CUDA)
    for prompt in prompts:
        events = stream(model, prompt, config)
        next(events)
        with torch.profiler.profile(activities=activities) as found:
            began = time.perf_counter()
            num_passes += sum(1 for _ in events)
            wall += time.perf_counter() - began
        for operation in found.key_averages():
            seconds[operation.key] += operation.self_cpu_time_total / 1e6
    longest = sorted(seconds, key=seconds.__getitem__, reverse=True)
    shown = {name: seconds[name] for name in longest[:MOST_OPERATIONS]}
    shown[OTHERS] = sum(seconds[name] for name in longest[MOST_OPERATIONS:])
    shown[OUTSIDE] = max(0.0, wall - sum(shown.values()))
    a_pass = 1000 / max(num_passes, 1)
    return {
        "num_passes": num_passes,
        "milliseconds": {name: round(a_pass * value, 4) for name, value in shown.items()},
        "total_milliseconds": round(a_pass * sum(shown.values()), 4),
        "share_outside_forward": round(share_outside_forward(model, prompts, config), 4),
    }
