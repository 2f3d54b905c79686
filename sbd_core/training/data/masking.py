"""The tokens of a training forward pass: sequences, their masked copies, and how they share rows.

A sequence is a prompt and an answer. Stage sbd adds x_hat, a copy of the answer in which tokens
are masked (Alg. 1); blocks start at the answer, as they do at decode time. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sbd_core.masks import TrainingLayout

NO_TARGET = -1
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TrainingSequence:
    """One prompt with its answer as a forward pass reads it; every field is (num_tokens,).

    targets: the token to predict at each index, NO_TARGET for none. weights: what that
    prediction counts, float32. The other fields are those of TrainingLayout.
    """

    token_ids: Integers
    position: Integers
    block: Integers
    copy: Integers
    targets: Integers
    weights: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def is_noisy(self) -> Booleans:
        """(num_tokens,) bool: part of an x_hat."""
        return self.copy > 0

    @property
    def ntp_weight(self) -> float:
        """Total weight of its next-token predictions."""
        return float(self.weights[~self.is_noisy & (self.targets != NO_TARGET)].sum())


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """Sequences packed into rows; every tensor is (num_rows, row_tokens). Padding has no target."""

    token_ids: Tensor
    layout: TrainingLayout
    targets: Tensor
    weights: Tensor

    def parts(self, count: int) -> list["PackedBatch"]:
        """The rows in `count` parts that differ by one row at most; count: at most all rows."""
        split = [torch.tensor_split(tensor, count) for tensor in self._tensors()]
        return [_of_tensors(tensors) for tensors in zip(*split, strict=True)]

    def beginning(self, num_tokens: int) -> "PackedBatch":
        """The first row, up to so many tokens."""
        return _of_tensors([tensor[:1, :num_tokens] for tensor in self._tensors()])

    def _tensors(self) -> list[Tensor]:
        layout = [getattr(self.layout, field.name) for field in fields(TrainingLayout)]
        return [self.token_ids, *layout, self.targets, self.weights]


def _of_tensors(tensors: Sequence[Tensor]) -> PackedBatch:
    token_ids, *places, targets, weights = tensors
    return PackedBatch(token_ids, TrainingLayout(*places), targets, weights)


def clean_sequence(
    prompt: Sequence[int], answer: Sequence[int], prompt_weight: float
) -> TrainingSequence:
    """x alone: every token predicts the next, those of the prompt count `prompt_weight`."""
    token_ids = np.array([*prompt, *answer])
    weights = np.ones(len(token_ids), np.float32)
    weights[: len(prompt) - 1] = prompt_weight
    targets = np.append(token_ids[1:], NO_TARGET)
    targets[weights == 0] = NO_TARGET
    none = np.full_like(token_ids, -1)
    position, copy = np.arange(len(token_ids)), np.zeros_like(token_ids)
    return TrainingSequence(token_ids, position, none, copy, targets, weights)


def noisy_sequence(
    clean: TrainingSequence,
    num_prompt: int,
    is_masked: Tensor | Booleans,
    block_size: int,
    phase: int,
    mask_id: int,
) -> TrainingSequence:
    """[x ; x_hat]: x_hat is the answer with <m> where is_masked, (num_answer,) bool, says so.

    The first block is `phase` positions shorter. The last block is whole: after the answer's
    end it holds <m> without a target, for that is what decoding meets there.
    """
    answer = clean.token_ids[num_prompt:]
    block = blocks_of(len(answer), block_size, phase)
    hidden = np.ones(len(block), np.bool_)
    hidden[: len(answer)] = is_masked
    copied, targets = np.full_like(block, mask_id), np.full_like(block, NO_TARGET)
    copied[: len(answer)] = np.where(hidden[: len(answer)], mask_id, answer)
    targets[: len(answer)] = np.where(hidden[: len(answer)], answer, NO_TARGET)
    return TrainingSequence(
        token_ids=np.concatenate([clean.token_ids, copied]),
        position=np.concatenate([clean.position, num_prompt + np.arange(len(block))]),
        block=np.concatenate([clean.block[:num_prompt], block[: len(answer)], block]),
        copy=np.concatenate([clean.copy, np.ones_like(block)]),
        targets=np.concatenate([clean.targets, targets]),
        weights=np.concatenate([clean.weights, np.ones(len(block), np.float32)]),
    )


def blocks_of(num_answer: int, block_size: int, phase: int) -> Integers:
    """The block of every position of x_hat, up to the end of the last block."""
    num_copied = -(-(num_answer + phase) // block_size) * block_size - phase
    return (np.arange(num_copied) + phase) // block_size


def draw_masks(num_answer: int, draws: torch.Generator, full_ratio: float = 0.0) -> Tensor:
    """(num_answer,) bool: each masked with probability eta ~ U(0,1), one eta for all (Alg. 1).

    A text out of `full_ratio` is masked whole instead: what the first forward of a block meets.
    """
    eta = torch.rand((), generator=draws)
    if full_ratio and torch.rand((), generator=draws) < full_ratio:
        eta = torch.ones(())
    return torch.rand(num_answer, generator=draws) < eta


def pack(
    sequences: Sequence[TrainingSequence],
    row_tokens: int,
    pad_id: int,
    num_rows: int = 0,
) -> PackedBatch:
    """Sequences into as few rows as first-fit decreasing finds; each at most row_tokens long.

    num_rows: at least so many rows, the last ones of padding alone.
    """
    members = _shared_rows([len(sequence) for sequence in sequences], row_tokens)
    shape = (max(len(members), num_rows), row_tokens)
    padding = {"token_ids": pad_id, "position": 0, "block": -1, "copy": 0, "targets": NO_TARGET}
    filled: dict[str, npt.NDArray[Any]] = {
        name: np.full(shape, value) for name, value in padding.items()
    }
    filled |= {"weights": np.zeros(shape, np.float32), "document": np.full(shape, -1)}
    names = [field.name for field in fields(TrainingSequence)]
    for row, indices in enumerate(members):
        start = 0
        for index in indices:
            stop = start + len(sequences[index])
            for name in names:
                filled[name][row, start:stop] = getattr(sequences[index], name)
            filled["document"][row, start:stop] = index
            start = stop
    tensors = {name: torch.from_numpy(array) for name, array in filled.items()}
    layout = TrainingLayout(
        **{name: tensors.pop(name) for name in ("document", "position", "block", "copy")}
    )
    return PackedBatch(layout=layout, **tensors)


def _shared_rows(lengths: Sequence[int], row_tokens: int) -> list[list[int]]:
    """Assign sequences to rows by first-fit decreasing."""
    free: list[int] = []
    members: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        size = lengths[index]
        row = next((row for row, left in enumerate(free) if left >= size), len(free))
        if row == len(free):
            free.append(row_tokens)
            members.append([])
        free[row] -= size
        members[row].append(index)
    return members
