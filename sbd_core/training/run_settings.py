"""Settings of a run's speed and memory: precision, attention, parts. What is learnt is the same."""

from dataclasses import dataclass
from typing import Literal

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType

from sbd_core.errors import ArgumentError
from sbd_core.models.devices import has_bf16

Precision = Literal["bf16", "fp32"]
PRECISIONS = ("auto", "bf16", "fp32")


def require_precision(precision: object, device: torch.device) -> None:
    """Raise ArgumentError unless `precision` is auto, bf16 or fp32 and `device` computes in it."""
    if precision not in PRECISIONS:
        raise ArgumentError("precision", f"must be one of {', '.join(PRECISIONS)}", precision)
    if precision == "bf16" and not has_bf16(device):
        rule = f"must be auto or fp32 on this {device.type}, which has no fast bf16"
        raise ArgumentError("precision", rule, precision)


ATTENTIONS = ("auto", "eager", "sdpa", "flex_attention")


def require_attention(attention: object, device: torch.device) -> None:
    """Raise ArgumentError unless `attention` is one that can train on `device`."""
    if attention not in ATTENTIONS:
        raise ArgumentError("attention", f"must be one of {', '.join(ATTENTIONS)}", attention)
    if attention == "flex_attention" and device.type != "cuda":
        raise ArgumentError("attention", "must be auto, eager or sdpa without CUDA", attention)


def chosen_attention(
    attention: str, device: torch.device, precision: Precision, *, is_compiled: bool
) -> str:
    """The attention to use, as transformers names it.

    On a CPU "eager" has the faster backward pass in bf16 once compiled (uncompiled it writes every
    score to memory several times); in fp32 "sdpa" is faster.
    """
    if attention != "auto":
        return attention
    if device.type == "cuda":
        return "flex_attention"
    return "eager" if is_compiled and precision == "bf16" else "sdpa"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings of a run's speed and memory; they change nothing that it learns.

    is_compiled: True runs the forward pass through torch.compile, which takes minutes at the start
    and then saves time in each step.
    precision: one of PRECISIONS; "auto" times some steps of each.
    attention: one of ATTENTIONS, see chosen_attention().
    num_workers: processes that build batches ahead; None: see chosen_workers().
    is_checkpointed: True keeps only the input of each layer and runs the layer again in the
    backward pass, which takes less memory and a third more time.
    num_parts: forward and backward passes per batch, whose gradients add up; a CPU makes more where
    a part would have more than PART_TOKENS.
    """

    is_compiled: bool = False
    precision: str = "auto"
    attention: str = "auto"
    num_workers: int | None = None
    is_checkpointed: bool = False
    num_parts: int = 1


def base_dtype(precision: str, accelerator: Accelerator) -> torch.dtype:
    """The dtype of the frozen weights beside an adapter. precision: one of PRECISIONS.

    Sharded weights are fp32, as all that are sharded together must be of one dtype.
    """
    device = accelerator.device
    may_be_bf16 = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    is_sharded = accelerator.distributed_type == DistributedType.FSDP
    is_bf16 = may_be_bf16 and has_bf16(device) and not is_sharded
    return torch.bfloat16 if is_bf16 else torch.float32
