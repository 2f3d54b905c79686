"""The roofline of Sec. 4: how much longer a pass over a block takes than one over a token.

Two modes. "published" repeats the paper's tables to their three decimals, with the
feed-forward width counted hidden-fold and K and V of width heads * kv_heads. "corrected" puts
the widths right, so that the KV cache weighs what it weighs. Theory only: nothing here is
measured.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from sbd_core.config import require_integer, require_number
from sbd_core.errors import ArgumentError

Mode = Literal["published", "corrected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Peak rates: FLOP/s of linear layers and of attention, bytes/s of memory."""

    name: str
    linear_flops: float
    attention_flops: float
    bandwidth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One transformer layer; a model is many alike, so their number cancels in every ratio.

    num_feed_forward_matrices: 3 for a gated feed-forward (up, gate, down), 2 without a gate;
    the published mode has up and down alone. bytes_per_value: of weights, activations, cache.
    """

    hidden_size: int
    feed_forward_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    num_feed_forward_matrices: int = 3
    bytes_per_value: float = 1.0


# Sec. 4: H100, FP8 weights and cache; the paper's own figures.
H100_FP8 = Device(
    name="H100, FP8 (paper)",
    linear_flops=1978e12,
    attention_flops=989e12,
    bandwidth=3.35 * 1024**4,
)
LLAMA_8B_PUBLISHED = Shape(
    hidden_size=4096, feed_forward_size=4 * 4096, num_heads=32, num_kv_heads=8, head_size=128
)
LLAMA_8B = Shape(
    hidden_size=4096, feed_forward_size=14336, num_heads=32, num_kv_heads=8, head_size=128
)


def pass_seconds(
    block_size: int,
    kv_length: int,
    batch_size: int,
    mode: Mode,
    *,
    shape: Shape | None = None,
    device: Device = H100_FP8,
) -> float:
    """Seconds of one layer for `block_size` tokens of each of `batch_size` texts.

    shape: None is the paper's in either mode (Llama-3.1-8B; published with its FFN_DIM).
    Raises ArgumentError for counts below 1 or another mode.
    """
    for name, value in (("block_size", block_size), ("batch_size", batch_size)):
        require_integer(name, value, 1)
    require_integer("kv_length", kv_length, 0)
    if mode not in get_args(Mode):
        raise ArgumentError("mode", f"must be one of {', '.join(get_args(Mode))}", mode)
    layer = shape or (LLAMA_8B_PUBLISHED if mode == "published" else LLAMA_8B)
    tokens = block_size * batch_size
    linear = sum(
        _gemm_seconds(tokens, inner, outer, layer.bytes_per_value, device)
        for inner, outer in _matrices(layer, mode)
    )
    return linear + _attention_seconds(tokens, kv_length, batch_size, layer, device)


def slowdown(
    block_size: int,
    kv_length: int,
    batch_size: int,
    mode: Mode = "published",
    *,
    shape: Shape | None = None,
    device: Device = H100_FP8,
) -> float:
    """time(block_size) / time(1), the paper's Table 3. Raises as pass_seconds does."""
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
    shape: Shape | None = None,
    device: Device = H100_FP8,
) -> float:
    """Wall-clock speed-up of a block decoded in l = block_size / nfe_speedup passes, Eq. 16.

    k time(1) / (time(2k) + (l - 1) time(k)): the first pass of a block carries the one before.
    Raises as pass_seconds does, and unless 0 < nfe_speedup <= block_size.
    """
    require_number("nfe_speedup", nfe_speedup, 0, block_size)
    if nfe_speedup == 0:
        raise ArgumentError("nfe_speedup", "must be above 0", nfe_speedup)
    single, block, double = (
        pass_seconds(size, kv_length, batch_size, mode, shape=shape, device=device)
        for size in (1, block_size, 2 * block_size)
    )
    num_passes = block_size / nfe_speedup
    return block_size * single / (double + (num_passes - 1) * block)


def _matrices(layer: Shape, mode: Mode) -> list[tuple[int, int]]:
    """(in, out) widths of the linear layers."""
    hidden, heads = layer.hidden_size, layer.num_heads * layer.head_size
    if mode == "published":
        wide = hidden * layer.feed_forward_size
        kv_width = layer.num_heads * layer.num_kv_heads
        feed_forward = [(hidden, wide), (wide, hidden)]
    else:
        kv_width = layer.num_kv_heads * layer.head_size
        feed_forward = [(hidden, layer.feed_forward_size)] * layer.num_feed_forward_matrices
    return [*feed_forward, (hidden, heads), (hidden, kv_width), (hidden, kv_width), (heads, hidden)]


def _gemm_seconds(m: int, n: int, k: int, bytes_per_value: float, device: Device) -> float:
    moved = (m * k + n * k + m * n) * bytes_per_value
    return max(moved / device.bandwidth, 2 * m * n * k / device.linear_flops)


def _attention_seconds(
    tokens: int, kv_length: int, batch_size: int, layer: Shape, device: Device
) -> float:
    """Fused attention: Q, K, V and output moved once; QK^T and PV computed."""
    heads = layer.num_heads * layer.head_size
    cached = batch_size * kv_length * layer.num_kv_heads * layer.head_size
    moved = 2 * (tokens * heads + cached) * layer.bytes_per_value
    flops = 2 * (2 * tokens * kv_length * heads)
    return max(moved / device.bandwidth, flops / device.attention_flops)
