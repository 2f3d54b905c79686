"""The roofline of Sec. 4: how much longer a forward pass takes for a block than for one token.

The theory has two modes. "published" reproduces the paper's tables to their three decimals with the
paper's widths: the feed-forward is hidden_size times too wide, and K and V each have the width
num_heads * num_kv_heads. "corrected" takes the true widths.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from sbd_core.cost import LayerShape, ModelShape, forward_cost
from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.json_node import json_of


@dataclass(frozen=True, slots=True)
class Device:
    """Peak rates of a device, without sparsity.

    linear_flops, attention_flops: FLOP/s of linear layers, and of attention.
    bandwidth: bytes/s of the memory.
    bytes_per_value: bytes of one weight, activation or cached value.
    source: where the rates come from.
    memory: size of the memory in bytes, None if unknown.
    """

    name: str
    linear_flops: float
    attention_flops: float
    bandwidth: float
    bytes_per_value: float
    source: str
    memory: float | None = None


def _bf16(name: str, flops: float, bandwidth: float, memory: float, source: str) -> Device:
    return Device(name, flops, flops, bandwidth, 2.0, source, memory)


H100_FP8 = Device(
    "H100, FP8 (paper)", 1978e12, 989e12, 3.35 * 1024**4, 1.0, "arXiv 2509.04185, Sec. 4", 80e9
)
DEVICES: dict[str, Device] = {
    "h100-fp8": H100_FP8,
    "a100-bf16": _bf16("A100 80GB SXM, bf16", 312e12, 2.039e12, 80e9, "NVIDIA A100 datasheet"),
    "h100-bf16": _bf16("H100 SXM, bf16", 989.4e12, 3.35e12, 80e9, "NVIDIA H100 datasheet"),
    "h200-bf16": _bf16("H200 SXM, bf16", 989.4e12, 4.8e12, 141e9, "NVIDIA H200 datasheet"),
    "l40s-bf16": _bf16("L40S, bf16", 362e12, 0.864e12, 48e9, "NVIDIA L40S datasheet"),
    "m1-max-fp16": _bf16(
        "Apple M1 Max 64GB, fp16", 10.4e12, 0.4e12, 64e9, "Apple newsroom, October 2021"
    ),
    "rtx4090-bf16": _bf16("RTX 4090, bf16", 165.2e12, 1.008e12, 24e9, "NVIDIA Ada GPU whitepaper"),
}
"""Peaks without sparsity. Keys are what the command line takes."""


Mode = Literal["published", "corrected"]

MAX_TOKENS = 10**12
"""Largest count accepted; beyond it times would overflow a float."""


LLAMA_8B_PUBLISHED = LayerShape(
    hidden_size=4096, feed_forward_size=4 * 4096, num_heads=32, num_kv_heads=8, head_size=128
)
LLAMA_8B = LayerShape(
    hidden_size=4096, feed_forward_size=14336, num_heads=32, num_kv_heads=8, head_size=128
)


def pass_seconds(
    block_size: int,
    kv_length: int,
    batch_size: int,
    mode: Mode,
    *,
    shape: LayerShape | None = None,
    device: Device = H100_FP8,
) -> float:
    """Seconds that one layer takes for `block_size` tokens of each of `batch_size` texts.

    kv_length: tokens in the KV cache of each text.
    mode: which widths to take; see the top of this file.
    shape: None takes Llama-3.1-8B, whose feed-forward width is 16384 in mode "published".
    Raises ArgumentError for a count out of range or an unknown mode.
    """
    for name, value in (("block_size", block_size), ("batch_size", batch_size)):
        require_integer(name, value, 1, MAX_TOKENS)
    require_integer("kv_length", kv_length, 0, MAX_TOKENS)
    if mode not in get_args(Mode):
        raise ArgumentError("mode", f"must be one of {', '.join(get_args(Mode))}", mode)
    layer = shape or (LLAMA_8B_PUBLISHED if mode == "published" else LLAMA_8B)
    tokens, heads = block_size * batch_size, layer.num_heads * layer.head_size
    # (numbers moved, FLOP, FLOP/s): of each product (m, k) x (k, n) of matrices, then of attention.
    operations = [
        (tokens * k + n * k + tokens * n, 2 * tokens * n * k, device.linear_flops)
        for k, n in _matrices(layer, mode)
    ]
    # Fused attention moves Q, K, V and the output once.
    cached = batch_size * kv_length * layer.num_kv_heads * layer.head_size
    flops = 2 * (2 * tokens * kv_length * heads)
    operations.append((2 * (tokens * heads + cached), flops, device.attention_flops))
    bandwidth = device.bandwidth / device.bytes_per_value
    return sum(max(moved / bandwidth, flops / rate) for moved, flops, rate in operations)


def slowdown(
    block_size: int,
    kv_length: int,
    batch_size: int,
    mode: Mode = "published",
    *,
    shape: LayerShape | None = None,
    device: Device = H100_FP8,
) -> float:
    """time(block_size) / time(1), as in the paper's Table 3. For the arguments see pass_seconds."""
    block, single = (
        pass_seconds(size, kv_length, batch_size, mode, shape=shape, device=device)
        for size in (block_size, 1)
    )
    return block / single


def speedup(
    block_size: int,
    nfe_speedup: float,
    kv_length: int,
    batch_size: int,
    mode: Mode = "published",
    *,
    shape: LayerShape | None = None,
    device: Device = H100_FP8,
) -> float:
    """Wall-clock speed-up of decoding k = block_size tokens in k / nfe_speedup forward passes.

    By Eq. 16 it is k time(1) / (time(2k) + (k / nfe_speedup - 1) time(k)), as the first forward
    pass of a block also reads the previous block. For the other arguments and errors see
    pass_seconds. Also raises ArgumentError unless 0 < nfe_speedup <= block_size.
    """
    require_number("nfe_speedup", nfe_speedup, 0, block_size)
    if nfe_speedup == 0:
        raise ArgumentError("nfe_speedup", "must be above 0", nfe_speedup)
    single, block, double = (
        pass_seconds(queries, kv_length, batch_size, mode, shape=shape, device=device)
        for queries in (1, block_size, 2 * block_size)
    )
    return block_size * single / (double + (block_size / nfe_speedup - 1) * block)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Measured times of forward passes, with which the page's roofline starts.

    seconds: {cached tokens: {query tokens: seconds of a forward pass}}.
    """

    seconds: Mapping[int, Mapping[int, float]]

    @classmethod
    def read(cls, path: Path) -> "Calibrated":
        """Read a results file of the command bench. Raises ArgumentError if times are missing."""
        try:
            rows = json_of(path.read_text("utf-8"))["forwards"]
            seconds = {
                int(cached): {int(n): cell["milliseconds"] / 1000 for n, cell in row.items()}
                for cached, row in rows.items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            rule = "must be a results file of bench with its forward times"
            raise ArgumentError("measured", rule, str(path)) from error
        return cls(seconds)

    def best_device(self, shape: ModelShape, name: str) -> Device:
        """A Device with the best rates that were measured. shape: sizes of the measured model."""
        flops = bandwidth = 0.0
        for cached, times in self.seconds.items():
            for queries, seconds in times.items():
                cost = forward_cost(shape, cached, 0, [(0, queries)], queries)
                flops = max(flops, cost.flops / seconds)
                bandwidth = max(bandwidth, cost.bytes_read / seconds)
        source = "the best rates of its measured forward passes"
        return Device(name, flops, flops, bandwidth, shape.bytes_per_value, source)


def _matrices(layer: LayerShape, mode: Mode) -> list[tuple[int, int]]:
    """(input width, output width) of each linear layer in a transformer layer."""
    hidden, heads = layer.hidden_size, layer.num_heads * layer.head_size
    if mode == "published":
        wide = hidden * layer.feed_forward_size
        kv_width = layer.num_heads * layer.num_kv_heads
        feed_forward = [(hidden, wide), (wide, hidden)]
    else:
        kv_width = layer.num_kv_heads * layer.head_size
        feed_forward = [(hidden, layer.feed_forward_size)] * layer.num_feed_forward_matrices
    return [*feed_forward, (hidden, heads), (hidden, kv_width), (hidden, kv_width), (heads, hidden)]
