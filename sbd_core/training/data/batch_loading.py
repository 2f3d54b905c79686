"""Batches ahead of their steps, made by worker processes while the device computes."""

import os
import signal
from collections.abc import Iterator
from itertools import count

import torch
from torch.utils.data import DataLoader, Dataset

from sbd_core.errors import SetBlockDecodingError, TrainingError
from sbd_core.training.data.batch_builder import Batch, BatchBuilder

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
    found = iter(loader)
    while True:
        try:
            item = next(found)
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
