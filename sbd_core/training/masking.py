"""The tokens of a training forward: texts, their masked copies, and how they share rows.

A text is a prompt and an answer. Stage sbd adds x_hat, a copy of the answer in which tokens
are masked (Alg. 1), or several that share x; blocks start at the answer, as they do at decode
time. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from sbd_core.masks import TrainingLayout

NO_TARGET = -1


@dataclass(frozen=True, slots=True)
class Text:
    """One text as a forward reads it; every field is (num_tokens,).

    targets: the token to predict at each place, NO_TARGET for none. weights: what that
    prediction counts. teachers: at a masked place with nothing revealed to its right in the
    block, the place of x that predicts the same token; NO_TARGET elsewhere. The other fields
    are those of TrainingLayout.
    """

    token_ids: Tensor
    position: Tensor
    block: Tensor
    copy: Tensor
    targets: Tensor
    weights: Tensor
    teachers: Tensor

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def is_noisy(self) -> Tensor:
        """(num_tokens,) bool: part of an x_hat."""
        return self.copy > 0

    @property
    def ntp_weight(self) -> float:
        """What its next-token predictions count together."""
        return float(self.weights[~self.is_noisy & (self.targets != NO_TARGET)].sum())


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts packed into rows; every tensor is (num_rows, row_tokens). Padding has no target.

    teachers: places of the flattened rows, or NO_TARGET.
    """

    token_ids: Tensor
    layout: TrainingLayout
    targets: Tensor
    weights: Tensor
    teachers: Tensor


def clean_text(prompt: Sequence[int], answer: Sequence[int], prompt_weight: float) -> Text:
    """x alone: every token predicts the next, those of the prompt count `prompt_weight`."""
    token_ids = torch.tensor([*prompt, *answer])
    position = torch.arange(len(token_ids))
    weights = torch.where(position >= len(prompt) - 1, 1.0, prompt_weight)
    targets = torch.cat([token_ids[1:], torch.tensor([NO_TARGET])])
    targets = targets.masked_fill(weights == 0, NO_TARGET)
    none = torch.full_like(position, -1)
    copy = torch.zeros_like(position)
    return Text(token_ids, position, none, copy, targets, weights, teachers=none)


def noisy_text(
    clean: Text, num_prompt: int, masks: Sequence[Tensor], block_size: int, phase: int, mask_id: int
) -> Text:
    """[x ; x_hat ...]: an x_hat is the answer with <m> where its mask, (num_answer,) bool, says so.

    Of several each counts its share, so the expected loss is that of one. The first block is
    `phase` positions shorter. The last block is whole: after the answer's end it holds <m>
    without a target, for that is what decoding meets there.
    """
    answer = clean.token_ids[num_prompt:]
    num_answer = len(answer)
    block = blocks_of(num_answer, block_size, phase)
    after = torch.full((len(block) - num_answer,), NO_TARGET)
    offset = torch.arange(len(block))
    whole = replace(clean, block=torch.cat([clean.block[:num_prompt], block[:num_answer]]))
    parts = [whole]
    for number, is_masked in enumerate(masks, 1):
        copied = answer.masked_fill(is_masked, mask_id)
        # The causal token before x_i predicts x_i too, having seen all to its left and no more.
        is_open = is_masked & nothing_revealed_after(is_masked, block[:num_answer])
        teachers = torch.where(is_open, num_prompt - 1 + offset[:num_answer], NO_TARGET)
        x_hat = Text(
            token_ids=torch.cat([copied, torch.full_like(after, mask_id)]),
            position=num_prompt + offset,
            block=block,
            copy=torch.full_like(block, number),
            targets=torch.cat([answer.masked_fill(~is_masked, NO_TARGET), after]),
            weights=torch.full((len(block),), 1 / len(masks)),
            teachers=torch.cat([teachers, after]),
        )
        parts.append(x_hat)
    names = [field.name for field in fields(Text)]
    return Text(**{name: torch.cat([getattr(part, name) for part in parts]) for name in names})


def blocks_of(num_answer: int, block_size: int, phase: int) -> Tensor:
    """The block of every position of x_hat, up to the end of the last block."""
    num_copied = -(-(num_answer + phase) // block_size) * block_size - phase
    return torch.div(torch.arange(num_copied) + phase, block_size, rounding_mode="floor")


def nothing_revealed_after(is_masked: Tensor, block: Tensor) -> Tensor:
    """(n,) bool: True where every later position of the same block is masked."""
    place = torch.arange(len(block))
    last_revealed = torch.full((int(block[-1]) + 1,), -1)
    last_revealed.scatter_reduce_(0, block, torch.where(is_masked, -1, place), "amax")
    return place > last_revealed[block]


def draw_masks(num_answer: int, draws: torch.Generator, full_share: float = 0.0) -> Tensor:
    """(num_answer,) bool: each masked with probability eta ~ U(0,1), one eta for all (Alg. 1).

    A text out of `full_share` is masked whole instead: what the first pass of a block meets.
    """
    eta = torch.rand((), generator=draws)
    if full_share and torch.rand((), generator=draws) < full_share:
        eta = torch.ones(())
    return torch.rand(num_answer, generator=draws) < eta


def draw_copies(
    num_answer: int, draws: torch.Generator, num_copies: int, full_share: float = 0.0
) -> list[Tensor]:
    """The masks of num_copies copies: every second one is the opposite of the one before it."""
    masks: list[Tensor] = []
    for number in range(num_copies):
        is_second = number % 2 == 1
        masks.append(~masks[-1] if is_second else draw_masks(num_answer, draws, full_share))
    return masks


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
    first_place = torch.zeros(len(members), row_tokens, dtype=torch.long)
    for row, indices in enumerate(members):
        sizes = torch.tensor([len(texts[index]) for index in indices])
        used, starts = int(sizes.sum()), sizes.cumsum(0) - sizes + row * row_tokens
        document[row, :used] = torch.repeat_interleave(torch.tensor(indices), sizes)
        first_place[row, :used] = torch.repeat_interleave(starts, sizes)
    teachers = fill("teachers", NO_TARGET, torch.long)
    layout = TrainingLayout(
        document=document,
        position=fill("position", 0, torch.long),
        block=fill("block", -1, torch.long),
        copy=fill("copy", 0, torch.long),
    )
    return Rows(
        token_ids=fill("token_ids", pad_id, torch.long),
        layout=layout,
        targets=fill("targets", NO_TARGET, torch.long),
        weights=fill("weights", 0.0, torch.float32),
        teachers=torch.where(teachers == NO_TARGET, NO_TARGET, teachers + first_place),
    )
