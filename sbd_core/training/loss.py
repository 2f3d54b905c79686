"""The two sums of Eq. 14 over one batch, from one forward of the model each."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from sbd_core.masks import dense, training_may_attend
from sbd_core.training.noising import Batch, NoisyBatch, hide_padding, position_ids


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross-entropies in nats. ntp: mean over predicted tokens; matp: mean over masked ones.

    total is what is minimised: (sum of NTP + sum of MATP) / answer tokens, Eq. 14 per token.
    """

    total: Tensor
    ntp: Tensor
    matp: Tensor


def ntp_loss(model: Any, batch: Batch, prompt_weight: float) -> Loss:
    """Next-token cross-entropy; tokens of the prompt count `prompt_weight` each."""
    size = batch.num_tokens
    mask = hide_padding(dense(training_may_attend(size, 1), size, size), batch.is_real)
    device = next(model.parameters()).device
    logits = model(
        input_ids=batch.token_ids.to(device),
        attention_mask=mask.to(device),
        position_ids=position_ids(batch).to(device),
        use_cache=False,
    ).logits[:, :-1]
    losses = _cross_entropy(logits, batch.token_ids[:, 1:].to(device))
    weight = batch.is_real[:, 1:] * torch.where(
        torch.arange(1, size) >= batch.answer_start, 1.0, prompt_weight
    )
    # The first real token of a row has no prediction of its own.
    weight = (weight * batch.is_real[:, :-1]).to(device)
    mean = (losses * weight).sum() / weight.sum()
    return Loss(mean, mean.detach(), torch.zeros_like(mean.detach()))


def sbd_loss(model: Any, batch: Batch, noisy: NoisyBatch) -> Loss:
    """Eq. 14 over the answers: NTP on x, and the clean token at every <m> of x_hat."""
    device = next(model.parameters()).device
    start, num_tokens = batch.answer_start, batch.num_tokens
    num_answer = num_tokens - start
    kept = torch.cat(
        [
            torch.arange(start - 1, num_tokens - 1),
            torch.arange(num_tokens, num_tokens + num_answer),
        ]
    )
    logits = model(
        input_ids=noisy.input_ids.to(device),
        attention_mask=noisy.attention_mask.to(device),
        position_ids=noisy.position_ids.to(device),
        use_cache=False,
        logits_to_keep=kept.to(device),
    ).logits
    targets = batch.token_ids[:, start:].to(device)
    is_answer = batch.is_real[:, start:].to(device)
    is_masked = noisy.is_masked.to(device)
    ntp = (_cross_entropy(logits[:, :num_answer], targets) * is_answer).sum()
    matp = (_cross_entropy(logits[:, num_answer:], targets) * is_masked).sum()
    count = is_answer.sum()
    return Loss(
        (ntp + matp) / count,
        (ntp / count).detach(),
        (matp / is_masked.sum().clamp(min=1)).detach(),
    )


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """(batch, n, vocabulary) and (batch, n) -> (batch, n), nats, in fp32."""
    flat = functional.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), reduction="none"
    )
    return flat.view(targets.shape)
