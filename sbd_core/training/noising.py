"""Batches of prompt and answer, and the masked copy that the masked head learns from.

Prompts are padded on the left and answers on the right, so that the answers of a batch start
at one column and blocks can start there too, as they do at decode time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.masks import dense, training_may_attend


@dataclass(frozen=True, slots=True)
class Batch:
    """token_ids (batch, num_tokens); is_real, False on padding; answers start at `answer_start`."""

    token_ids: Tensor
    is_real: Tensor
    answer_start: int

    @property
    def num_tokens(self) -> int:
        """Columns, padding included."""
        return self.token_ids.shape[1]


def collate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], pad_id: int) -> Batch:
    """(prompt ids, answer ids) pairs -> Batch."""
    answer_start = max(len(prompt) for prompt, _ in pairs)
    num_tokens = answer_start + max(len(answer) for _, answer in pairs)
    token_ids = torch.full((len(pairs), num_tokens), pad_id)
    is_real = torch.zeros(len(pairs), num_tokens, dtype=torch.bool)
    for row, (prompt, answer) in enumerate(pairs):
        left, right = answer_start - len(prompt), answer_start + len(answer)
        token_ids[row, left:right] = torch.tensor([*prompt, *answer])
        is_real[row, left:right] = True
    return Batch(token_ids, is_real, answer_start)


@dataclass(frozen=True, slots=True)
class NoisyBatch:
    """One SBD training forward: [x ; x_hat], x_hat the noisy copy of the answers.

    input_ids, position_ids (batch, num_tokens + num_noisy); attention_mask (batch, 1, same,
    same), True = may attend; is_masked (batch, num_noisy): where x_hat holds <m> for a real
    token, the positions of the second sum of Eq. 14.
    """

    input_ids: Tensor
    position_ids: Tensor
    attention_mask: Tensor
    is_masked: Tensor


def add_noise(
    batch: Batch, block_size: int, phase: int, mask_id: int, generator: torch.Generator
) -> NoisyBatch:
    """Mask every answer token with probability eta ~ U(0,1), one eta a sequence (Alg. 1).

    Padding in x_hat is <m> without a loss: what stands after the end is unknown at decode
    time as well, and must not give the end away.
    """
    start, num_tokens = batch.answer_start, batch.num_tokens
    answers, is_real = batch.token_ids[:, start:], batch.is_real[:, start:]
    eta = torch.rand(len(answers), 1, generator=generator)
    is_masked = (torch.rand(answers.shape, generator=generator) < eta) & is_real
    noisy = answers.masked_fill(is_masked | ~is_real, mask_id)
    positions = position_ids(batch)
    size = num_tokens + noisy.shape[1]
    rule = training_may_attend(num_tokens, block_size, first_noisy=start, phase=phase)
    key_is_real = torch.cat([batch.is_real, torch.ones_like(is_real)], dim=1)
    return NoisyBatch(
        input_ids=torch.cat([batch.token_ids, noisy], dim=1),
        position_ids=torch.cat([positions, positions[:, start:]], dim=1),
        attention_mask=hide_padding(dense(rule, size, size), key_is_real),
        is_masked=is_masked,
    )


def position_ids(batch: Batch) -> Tensor:
    """(batch, num_tokens): 0 at the first real token of each row, padding before it 0 too."""
    first_real = batch.is_real.int().argmax(dim=1, keepdim=True)
    return (torch.arange(batch.num_tokens)[None, :] - first_real).clamp(min=0)


def hide_padding(may_attend: Tensor, key_is_real: Tensor) -> Tensor:
    """(q, q) mask and (batch, q) real keys -> (batch, 1, q, q); a padded row sees itself alone.

    A row that sees nothing would turn into NaN.
    """
    own = torch.eye(may_attend.shape[0], dtype=torch.bool)
    return ((may_attend & key_is_real[:, None, :]) | own)[:, None]
