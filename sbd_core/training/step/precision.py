"""The numbers a step computes in: bf16 where the processor is quick at it, else fp32.

Weights, gradients and optimizers stay fp32 either way; autocast lowers the forward pass and what
it leaves for the backward pass.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Literal

import torch

from sbd_core.errors import ArgumentError
from sbd_core.models.devices import has_bf16

Precision = Literal["bf16", "fp32"]
PRECISIONS = ("auto", "bf16", "fp32")
NUM_TIMED = 3


def require_precision(precision: object, device: torch.device) -> None:
    """ArgumentError unless `precision` is auto, bf16 or fp32 and `device` computes in it."""
    if precision not in PRECISIONS:
        raise ArgumentError("precision", f"must be one of {', '.join(PRECISIONS)}", precision)
    if precision == "bf16" and not has_bf16(device):
        rule = f"must be auto or fp32 on this {device.type}, which has no fast bf16"
        raise ArgumentError("precision", rule, precision)


def autocast(
    precision: Precision, device: torch.device, *, keeps_casts: bool = True
) -> torch.autocast:
    """The context of a forward pass in this precision. keeps_casts: of weights, to its end."""
    enabled = precision == "bf16"
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled, cache_enabled=keeps_casts)


def seconds_of(step: Callable[[], None], device: torch.device) -> float:
    """The fastest of a few calls of `step`, after one that may compile it."""
    found = []
    for _ in range(1 + NUM_TIMED):
        began = perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        found.append(perf_counter() - began)
    return min(found[1:])


def faster(seconds: Mapping[Precision, float]) -> Precision:
    """The precision of the least seconds."""
    return min(seconds, key=lambda precision: seconds[precision])
