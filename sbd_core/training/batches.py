"""Batches of a training step: sequences, their masked copies, and how they share rows.

A sequence is a prompt and an answer. Stage sbd adds x_hat, a copy of the answer in which tokens
are masked (Alg. 1); blocks start at the answer, as they do at decode time. Randomness is seeded by
(recipe seed, step), and for a sequence by its number in the step, so neither resuming nor the
number of processes changes it. Knows no model.
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

    targets: the token to predict at each index, NO_TARGET for none.
    weights: of that prediction in the loss, float32. The other fields are those of TrainingLayout.
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
        """Split the rows into `count` parts, whose sizes differ by one row at most."""
        split = [torch.tensor_split(tensor, count) for tensor in self._tensors()]
        return [_of_tensors(tensors) for tensors in zip(*split, strict=True)]

    def beginning(self, num_tokens: int) -> "PackedBatch":
        """The first row, cut to `num_tokens`."""
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
    """The sequence without a masked copy (x of Alg. 1): every token predicts the next.

    prompt_weight: weight in the loss of a prompt token's prediction; an answer's token has 1.
    """
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
    """The sequence [x ; x_hat] (Alg. 1): x_hat is the answer in blocks, with some tokens masked.

    num_prompt: number of prompt tokens in `clean`. is_masked: (num_answer,) bool.
    block_size, phase: see blocks_of(). mask_id: token id of <m>.
    The last block is whole: behind the answer it holds <m> without a target, as in decoding.
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
    """Block number of each position of x_hat. phase: positions that the first block lacks."""
    num_copied = -(-(num_answer + phase) // block_size) * block_size - phase
    return (np.arange(num_copied) + phase) // block_size


def draw_masks(num_answer: int, draws: torch.Generator, full_ratio: float = 0.0) -> Tensor:
    """Draw a mask, (num_answer,) bool; one eta ~ U(0, 1) is the chance of each token (Alg. 1).

    full_ratio: probability that all are masked instead, as before a block's first forward pass.
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
    """Pack sequences, none longer than row_tokens, into rows by first-fit decreasing.

    pad_id: token id of padding. num_rows: least number of rows; the last may be padding alone.
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
    """The batch of one step, or one process's share of it. ntp_weight: divisor of its loss sums."""

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

        Each process takes its share of the examples. As gradients are averaged over processes, each
        divides its loss by the mean weight of a share.
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
        """Add masked copies to the sequences number `own` of the step, in blocks of one size."""
        recipe = self._recipe.at(step)
        draw = random.Random(recipe.seed * 1_000_003 + step)
        block_size = draw.randint(recipe.min_block_size, recipe.max_block_size)
        # Half the steps start blocks at the answer, as decoding does; the others anywhere.
        phase = draw.choice((0, draw.randrange(block_size)))
        # Each sequence has its own seed, whichever process it goes to.
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
    """Number of workers that keep a device busy: 0 on a CPU, whose cores they would take."""
    return min(MOST_WORKERS, max(1, (os.cpu_count() or 1) - 1)) if device.type == "cuda" else 0


class _Steps(Dataset[Batch | SetBlockDecodingError]):
    def __init__(self, builder: BatchBuilder) -> None:
        self._builder = builder

    def __getitem__(self, step: int) -> Batch | SetBlockDecodingError:
        try:
            return self._builder.batch(step)
        except SetBlockDecodingError as error:
            # If raised here, it would reach the run as the text of a traceback.
            return error


def batches(builder: BatchBuilder, first: int, num_workers: int) -> Iterator[Batch]:
    """Batches of step `first` and all later steps, endlessly.

    num_workers: processes that build them ahead; 0: this one, when asked.
    Raises TrainingError if a worker was killed, and any error of ours that one raised.
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
                f"workers: a process that builds batches ended: {one_line(error)}"
            ) from error
        if isinstance(item, SetBlockDecodingError):
            raise item
        yield item


def _prepare_worker(worker: int) -> None:
    """Ignore stop signals, and tokenize in one thread.

    Ctrl-C reaches every process of a terminal, but the step under way needs its batch; the other
    cores are for the other workers.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
