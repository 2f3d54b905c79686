"""Answers to held-out examples, from models in this process or in several that share the work."""

import hashlib
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from typing import Any, Protocol

import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, generate_batch
from sbd_core.errors import ArgumentError
from sbd_core.evaluation.scoring import Answer, Tally, checked, tally
from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks import Example

ROUND = 4
"""Batches that are enough for slots to be filled again."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some examples of a suite, to be answered in batches as a row says."""

    row: str
    suite: str
    model: str
    config: DecodeConfig
    items: tuple[Example, ...]
    batch_size: int


class Runner(Protocol):
    """What has the models and answers with them.

    batches_per_job: of one row before the next row's turn.
    """

    num_processes: int
    batches_per_job: int

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Every job with what came of it, in any order."""


class LocalRunner:
    """The models of this process; the first job of a row warms up."""

    num_processes = 1
    batches_per_job = ROUND

    def __init__(self, models: Mapping[str, SetBlockModel]) -> None:
        self._models = models
        self._warm_rows: set[str] = set()

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Every job in its turn."""
        for job in jobs:
            yield job, self.tally(job)

    def tally(self, job: Job) -> Tally:
        """What came of one job."""
        return tally(self.answers(job))

    def answers(self, job: Job) -> list[Answer]:
        """One job's answers, in the order of its examples."""
        model = self._models[job.model]
        prompts = [item.prompt for item in job.items]
        if job.row not in self._warm_rows:
            self._warm_rows.add(job.row)
            generate(model, prompts[0], job.config)
        seeds = [seed_of(job.config.seed, item) for item in job.items]
        traces = generate_batch(model, prompts, job.config, batch_size=job.batch_size, seeds=seeds)
        return checked(job.items, traces)


def seed_of(seed: int, item: Example) -> int:
    """The seed that an example is decoded with: its own, whatever it is decoded together with."""
    text = f"{seed}\0{item.task}\0{item.prompt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


class ProcessPoolRunner:
    """Several processes, each with one thread and the models of its own.

    sources: a folder or hub id of each model, None for the bundled one; load_options: what else
    load() is given. Small models only: much of a batch's time is Python's, which threads do not
    share.
    """

    batches_per_job = ROUND

    def __init__(
        self,
        num_processes: int,
        sources: Mapping[str, str | None],
        load_options: Mapping[str, Any],
    ) -> None:
        self.num_processes = num_processes
        self._sources, self._load_options = dict(sources), dict(load_options)

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Every job as it is done."""
        others = set(active_children())
        with ProcessPoolExecutor(
            self.num_processes, get_context("spawn"), _begin, (self._sources, self._load_options)
        ) as pool:
            futures = {pool.submit(_tally, job): job for job in jobs}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool as error:
                rule = "must be processes that the memory has room for; one was killed"
                raise ArgumentError("processes", rule, self.num_processes) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in set(active_children()) - others:
                    child.terminate()
                raise


_runner_of_process: list[LocalRunner] = []
"""In a process of the pool: the one with its models."""


def _begin(sources: Mapping[str, str | None], load_options: Mapping[str, Any]) -> None:
    # Ctrl-C is the parent's to handle; a parent that was killed takes this process with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from sbd_core.models.loading import load

    torch.set_num_threads(1)
    models = {name: load(source, **load_options) for name, source in sources.items()}
    _runner_of_process.append(LocalRunner(models))


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _tally(job: Job) -> Tally:
    return _runner_of_process[0].tally(job)
