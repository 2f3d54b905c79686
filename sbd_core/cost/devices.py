"""Devices by their peak rates, and where each rate is from. Nothing measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Peak rates: FLOP/s of linear layers and of attention, bytes/s of memory; dense.

    memory: bytes that it holds, None where nobody said.
    """

    name: str
    linear_flops: float
    attention_flops: float
    bandwidth: float
    bytes_per_value: float
    source: str
    memory: float | None = None


def _bf16(name: str, flops: float, bandwidth: float, memory: float, source: str) -> Device:
    return Device(
        name=name,
        linear_flops=flops,
        attention_flops=flops,
        bandwidth=bandwidth,
        bytes_per_value=2.0,
        source=source,
        memory=memory,
    )


H100_FP8 = Device(
    name="H100, FP8 (paper)",
    linear_flops=1978e12,
    attention_flops=989e12,
    bandwidth=3.35 * 1024**4,
    bytes_per_value=1.0,
    source="arXiv 2509.04185, Sec. 4",
    memory=80e9,
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
