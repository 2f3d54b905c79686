"""Batches of a training step: sequences, their masked copies, and how they share rows.

A sequence is a prompt and an answer. Stage sbd adds x_hat, a copy of the answer in which tokens
are masked (Alg. 1); blocks start at the answer, as they do at decode time. Everything random of a
step is drawn from (recipe seed, step), and of a sequence from its number in the step, so neither
resuming nor the number of processes changes it. Knows no model.
"""

import os
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from sbd_core.errors import SetBlockDecodingError, TrainingError, one_line
from sbd_core.masks import TrainingLayout
from sbd_core.training.examples import NO_LIMITS, ExampleStream, ModelLimits, padding_id
from sbd_core.training.recipe import Recipe

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


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch of one step, or one process's share of it.

    ntp_weight: what to divide the sums of its loss by.
    """

    packed: PackedBatch
    ntp_weight: float


class BatchBuilder:
    """The batch of every step of a recipe, or one process's share of it."""

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: Any,
        process_index: int = 0,
        num_processes: int = 1,
        min_rows: int = 1,
        limits: ModelLimits = NO_LIMITS,
    ) -> None:
        """limits: of the model. min_rows: pad each process's batch with empty rows up to this."""
        self._recipe = recipe
        self._min_rows = min_rows
        self._tokenizer = tokenizer
        self._process_index = process_index
        self._num_processes = num_processes
        self.stream = ExampleStream(recipe, tokenizer, limits)

    def batch(self, step: int) -> Batch:
        """The batch of a step.

        Of several processes each takes its share of the examples; gradients are averaged over
        processes, so each divides by the mean weight of a share.
        """
        recipe = self._recipe
        pairs = self.stream.draw(step)
        clean = [clean_sequence(prompt, answer, recipe.prompt_weight) for prompt, answer in pairs]
        ntp_weight = sum(sequence.ntp_weight for sequence in clean) / self._num_processes
        own = range(self._process_index, len(pairs), self._num_processes)
        sequences = [clean[index] for index in own]
        if recipe.stage == "sbd":
            nums_prompt = [len(pairs[index][0]) for index in own]
            sequences = self._masked(sequences, nums_prompt, own, step)
        padding = padding_id(self._tokenizer)
        packed = pack(sequences, self.stream.row_tokens, padding, self._min_rows)
        return Batch(packed, ntp_weight)

    def _masked(
        self, sequences: list[TrainingSequence], nums_prompt: list[int], own: range, step: int
    ) -> list[TrainingSequence]:
        """The sequences number `own` with their masked copies, all in blocks of one size."""
        recipe = self._recipe.at(step)
        draw = random.Random(recipe.seed * 1_000_003 + step)
        block_size = draw.randint(recipe.min_block_size, recipe.max_block_size)
        # Half the steps start blocks at the answer, as decoding does; the others anywhere.
        phase = draw.choice((0, draw.randrange(block_size)))
        # Numbers of its own for every sequence, however the sequences are shared out.
        seed = draw.getrandbits(62)
        generator = torch.Generator()
        masked = []
        for index, sequence, num_prompt in zip(own, sequences, nums_prompt, strict=True):
            draws = generator.manual_seed(seed + index)
            num_answer = len(sequence) - num_prompt
            is_masked = draw_masks(num_answer, draws, recipe.full_mask_ratio)
            mask_id = self._tokenizer.mask_token_id
            masked.append(
                noisy_sequence(sequence, num_prompt, is_masked, block_size, phase, mask_id)
            )
        return masked


MOST_WORKERS = 14
AHEAD = 2
"""Batches that each worker has ready or under way."""


def chosen_workers(device: torch.device) -> int:
    """Workers that keep a device busy: on a CPU none, which would take the cores it computes on."""
    return min(MOST_WORKERS, max(1, (os.cpu_count() or 1) - 1)) if device.type == "cuda" else 0


class _Steps(Dataset[Batch | SetBlockDecodingError]):
    def __init__(self, builder: BatchBuilder) -> None:
        self._builder = builder

    def __getitem__(self, step: int) -> Batch | SetBlockDecodingError:
        try:
            return self._builder.batch(step)
        except SetBlockDecodingError as error:
            # Raised here it would reach the run as the text of a traceback.
            return error


def batches(builder: BatchBuilder, first: int, num_workers: int) -> Iterator[Batch]:
    """The batches of step `first` and all after it, without end.

    Raises TrainingError, also for what a worker raised or for one that was killed.
    """
    if num_workers == 0:
        return map(builder.batch, count(first))
    loader = DataLoader(
        _Steps(builder),
        batch_size=None,
        sampler=count(first),
        num_workers=num_workers,
        prefetch_factor=AHEAD,
        worker_init_fn=_prepare_worker,
    )
    return _checked(loader)


def _checked(loader: "DataLoader[Batch | SetBlockDecodingError]") -> Iterator[Batch]:
    batches = iter(loader)
    while True:
        try:
            item = next(batches)
        except RuntimeError as error:
            raise TrainingError(
                f"workers: one that builds batches ended: {one_line(error)}"
            ) from error
        if isinstance(item, SetBlockDecodingError):
            raise item
        yield item


def _prepare_worker(worker: int) -> None:
    """Leave signals to the run, and the other cores to the other workers.

    A wish to stop goes to every process of a terminal; the step under way needs its batch.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
