"""The tokens of a training forward: texts, their masked copies, and how they share rows.

A text is a prompt and an answer. Stage sbd adds x_hat, a copy of the answer in which tokens
are masked (Alg. 1); blocks start at the answer, as they do at decode time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.masks import TrainingLayout

NO_TARGET = -1


@dataclass(frozen=True, slots=True)
class Text:
    """One text as a forward reads it; every field is (num_tokens,).

    targets: the token to predict at each place, NO_TARGET for none. weights: what that
    prediction counts. The other fields are those of TrainingLayout.
    """

    token_ids: Tensor
    position: Tensor
    block: Tensor
    is_noisy: Tensor
    targets: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def ntp_weight(self) -> float:
        """What its next-token predictions count together."""
        return float(self.weights[~self.is_noisy & (self.targets != NO_TARGET)].sum())


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts packed into rows; every tensor is (num_rows, row_tokens). Padding has no target."""

    token_ids: Tensor
    layout: TrainingLayout
    targets: Tensor
    weights: Tensor


def clean_text(prompt: Sequence[int], answer: Sequence[int], prompt_weight: float) -> Text:
    """x alone: every token predicts the next, those of the prompt count `prompt_weight`."""
    token_ids = torch.tensor([*prompt, *answer])
    position = torch.arange(len(token_ids))
    weights = torch.where(position >= len(prompt) - 1, 1.0, prompt_weight)
    targets = torch.cat([token_ids[1:], torch.tensor([NO_TARGET])])
    targets = targets.masked_fill(weights == 0, NO_TARGET)
    is_noisy = torch.zeros(len(token_ids), dtype=torch.bool)
    return Text(token_ids, position, torch.full_like(position, -1), is_noisy, targets, weights)


def noisy_text(
    clean: Text, num_prompt: int, block_size: int, phase: int, mask_id: int, draws: torch.Generator
) -> Text:
    """[x ; x_hat]: x_hat has <m> for each answer token with probability eta ~ U(0,1) (Alg. 1).

    The first block is `phase` positions shorter. The last block is whole: after the answer's
    end it holds <m> without a target, for that is what decoding meets there.
    """
    answer = clean.token_ids[num_prompt:]
    eta = torch.rand((), generator=draws)
    is_masked = torch.rand(len(answer), generator=draws) < eta
    num_copied = -(-(len(answer) + phase) // block_size) * block_size - phase
    num_after = num_copied - len(answer)
    after = torch.full((num_after,), NO_TARGET)
    offset = torch.arange(num_copied)
    block = torch.div(offset + phase, block_size, rounding_mode="floor")
    return Text(
        token_ids=torch.cat(
            [
                clean.token_ids,
                answer.masked_fill(is_masked, mask_id),
                torch.full_like(after, mask_id),
            ]
        ),
        position=torch.cat([clean.position, num_prompt + offset]),
        block=torch.cat([clean.block[:num_prompt], block[: len(answer)], block]),
        is_noisy=torch.cat([clean.is_noisy, torch.ones(num_copied, dtype=torch.bool)]),
        targets=torch.cat([clean.targets, answer.masked_fill(~is_masked, NO_TARGET), after]),
        weights=torch.cat([clean.weights, torch.ones(num_copied)]),
    )


def pack(texts: Sequence[Text], row_tokens: int, pad_id: int) -> Rows:
    """Texts into as few rows as first-fit decreasing finds; each at most row_tokens long."""
    free: list[int] = []
    members: list[list[int]] = []
    for index in sorted(range(len(texts)), key=lambda index: -len(texts[index])):
        size = len(texts[index])
        row = next((row for row, left in enumerate(free) if left >= size), len(free))
        if row == len(free):
            free.append(row_tokens)
            members.append([])
        free[row] -= size
        members[row].append(index)

    def fill(name: str, padding: float, dtype: torch.dtype) -> Tensor:
        filled = torch.full((len(members), row_tokens), padding, dtype=dtype)
        for row, indices in enumerate(members):
            joined = torch.cat([getattr(texts[index], name) for index in indices])
            filled[row, : len(joined)] = joined
        return filled

    document = torch.full((len(members), row_tokens), -1)
    for row, indices in enumerate(members):
        sizes = torch.tensor([len(texts[index]) for index in indices])
        document[row, : int(sizes.sum())] = torch.repeat_interleave(torch.tensor(indices), sizes)
    layout = TrainingLayout(
        document=document,
        position=fill("position", 0, torch.long),
        block=fill("block", -1, torch.long),
        is_noisy=fill("is_noisy", False, torch.bool),
    )
    return Rows(
        token_ids=fill("token_ids", pad_id, torch.long),
        layout=layout,
        targets=fill("targets", NO_TARGET, torch.long),
        weights=fill("weights", 0.0, torch.float32),
    )
