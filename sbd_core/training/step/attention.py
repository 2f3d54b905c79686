"""Choose the attention of a training forward pass, and give the mask in the form that it takes."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.masks import dense, flex, training_may_attend
from sbd_core.training.data.masking import PackedBatch
from sbd_core.training.step.precision import Precision

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

ATTENTIONS = ("auto", "eager", "sdpa", "flex_attention")


def require_attention(attention: object, device: torch.device) -> None:
    """ArgumentError unless `attention` is one that can train on `device`."""
    if attention not in ATTENTIONS:
        raise ArgumentError("attention", f"must be one of {', '.join(ATTENTIONS)}", attention)
    if attention == "flex_attention" and device.type != "cuda":
        raise ArgumentError("attention", "must be auto, eager or sdpa without CUDA", attention)


def chosen_attention(
    attention: str, device: torch.device, precision: Precision, *, is_compiled: bool
) -> str:
    """The attention meant, as transformers names it.

    On a CPU plain products of matrices have the faster backward pass in bf16, once compiled:
    uncompiled they write every score to memory several times. In fp32 PyTorch's own is faster.
    """
    if attention != "auto":
        return attention
    if device.type == "cuda":
        return "flex_attention"
    return "eager" if is_compiled and precision == "bf16" else "sdpa"


def attention_mask(
    batch: PackedBatch, device: torch.device, attention: str
) -> "Tensor | BlockMask":
    """Who may attend to whom: (rows, 1, n, n) bool, in bf16 to be added (eager), or a BlockMask.

    What is added is 0 or -inf, which bf16 holds exactly, at half the memory of fp32.
    """
    num_rows, size = batch.token_ids.shape
    rule = training_may_attend(batch.layout.to(device))
    if attention == "flex_attention":
        return flex(rule, size, size, num_rows, device)
    may_attend = dense(rule, size, size, num_rows, device)[:, None]
    if attention == "sdpa":
        return may_attend
    added = torch.zeros(may_attend.shape, dtype=torch.bfloat16, device=may_attend.device)
    return added.masked_fill_(~may_attend, float("-inf"))
