"""Builds the batch of a step: sequences and their masked copies, packed into rows.

Everything random of a step is drawn from (recipe seed, step), and of a sequence from its number
in the step, so neither resuming nor the number of processes changes it.
"""

import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from sbd_core.errors import SetBlockDecodingError, TrainingError
from sbd_core.training.data.examples import NO_LIMITS, ExampleStream, ModelLimits
from sbd_core.training.data.masking import (
    PackedBatch,
    TrainingSequence,
    clean_sequence,
    draw_masks,
    noisy_sequence,
    pack,
)
from sbd_core.training.data.tokenizer import padding_id
from sbd_core.training.recipe import Recipe


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
        self._stream = ExampleStream(recipe, tokenizer, limits)

    @property
    def notes(self) -> list[str]:
        """See ExampleStream."""
        return self._stream.notes

    @property
    def row_tokens(self) -> int:
        """See ExampleStream."""
        return self._stream.row_tokens

    def batch(self, step: int) -> Batch:
        """The batch of a step.

        Of several processes each takes its share of the examples; gradients are averaged over
        processes, so each divides by the mean weight of a share.
        """
        recipe = self._recipe
        pairs = self._stream.draw(step)
        clean = [clean_sequence(prompt, answer, recipe.prompt_weight) for prompt, answer in pairs]
        ntp_weight = sum(sequence.ntp_weight for sequence in clean) / self._num_processes
        own = range(self._process_index, len(pairs), self._num_processes)
        sequences = [clean[index] for index in own]
        if recipe.stage == "sbd":
            nums_prompt = [len(pairs[index][0]) for index in own]
            sequences = self._masked(sequences, nums_prompt, own, step)
        padding = padding_id(self._tokenizer)
        packed = pack(sequences, self.row_tokens, padding, self._min_rows)
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
            reason = " ".join(str(error).split())[:200]
            raise TrainingError(f"workers: one that builds batches ended: {reason}") from error
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
