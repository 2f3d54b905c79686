"""Runners, which answer held-out examples in one process or in several.

A ProcessPoolRunner starts processes on this machine. A SharedRunner serves one of the processes of
`accelerate launch`, which share their results through journals.
"""

import hashlib
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any, Protocol

import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, generate_batch
from sbd_core.errors import ArgumentError, SetBlockDecodingError, require_integer
from sbd_core.evaluation.scoring import CheckedAnswer, Sample, Tally, checked, tally
from sbd_core.models.hf_model import Fingerprint, HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.runtime import choose_threads, is_small
from sbd_core.shared_work import Journal, Share
from sbd_core.tasks import Example

ROUND = 4
"""Number of batches per job; within a job, the next text takes the place of a finished one."""


@dataclass(frozen=True, slots=True)
class Job:
    """Examples of one task that are to be answered in batches with one config.

    row: name of the configuration that the answers count for; see evaluate_rows().
    task, model: names of the task and of one of the runner's models.
    """

    row: str
    task: str
    model: str
    config: DecodeConfig
    items: tuple[Example, ...]
    batch_size: int


class Runner(Protocol):
    """Protocol of a runner, which answers jobs with the models that it has.

    batches_per_job: number of batches that the caller should put into one job.
    """

    num_processes: int
    batches_per_job: int

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Answer the jobs; yield each job with its tally, in any order."""


class LocalRunner:
    """Answers jobs in this process. A warm-up decode precedes the first job of each Job.row."""

    num_processes = 1
    batches_per_job = ROUND

    def __init__(self, models: Mapping[str, SetBlockModel]) -> None:
        self._models = models
        self._warm_rows: set[str] = set()

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Answer the jobs in order; yield each job with its tally."""
        for job in jobs:
            yield job, self.tally(job)

    def tally(self, job: Job) -> Tally:
        """Answer one job; return its tally."""
        return tally(self.answers(job))

    def answers(self, job: Job) -> list[CheckedAnswer]:
        """Answer one job; return the answers in the order of its examples."""
        model = self._models[job.model]
        prompts = [item.prompt for item in job.items]
        if job.row not in self._warm_rows:
            self._warm_rows.add(job.row)
            generate(model, prompts[0], job.config)
        seeds = [seed_of(job.config.seed, item) for item in job.items]
        traces = generate_batch(model, prompts, job.config, batch_size=job.batch_size, seeds=seeds)
        return checked(job.items, traces)


def seed_of(seed: int, item: Example) -> int:
    """Compute the decoding seed of an example from `seed`, the example's task and its prompt."""
    text = f"{seed}\0{item.task}\0{item.prompt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


class ProcessPoolRunner:
    """Answers jobs in several processes, each with one thread and its own copy of the models.

    Several processes are faster for small models, which spend much of their time in Python code.
    sources: {model name: folder, hub id, or None for the bundled model}.
    load_options: further arguments of load().
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
        """Answer the jobs; yield each job with its tally as soon as it is done."""
        others = set(active_children())
        with ProcessPoolExecutor(
            self.num_processes, get_context("spawn"), _begin, (self._sources, self._load_options)
        ) as pool:
            futures = {pool.submit(_tally, job): job for job in jobs}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool as error:
                rule = "must be few enough to fit into memory; one process was killed"
                raise ArgumentError("processes", rule, self.num_processes) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in set(active_children()) - others:
                    child.terminate()
                raise


_runner_of_process: list[LocalRunner] = []
"""The runner of this process; empty unless the process belongs to a pool."""


def _begin(sources: Mapping[str, str | None], load_options: Mapping[str, Any]) -> None:
    # The parent handles Ctrl-C; this process ends with a parent that was killed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
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


MANY_ANSWERS = 1000
"""Number of answers from which starting several processes pays off."""


class ModelSet:
    """Loaded models by name. sources: {name: folder, hub id, or None for the bundled model}."""

    def __init__(
        self,
        sources: Mapping[str, str | None],
        *,
        device: str = "auto",
        dtype: str | None = None,
    ) -> None:
        """Load all models; see load() for device, dtype and errors."""
        self._sources = dict(sources)
        self._load_options = {"device": device, "dtype": dtype}
        self.models: dict[str, HuggingFaceModel] = {
            name: load(source, device=device, dtype=dtype) for name, source in self._sources.items()
        }
        self._largest = max(self.models.values(), key=lambda model: model.num_parameters)

    def __getitem__(self, name: str) -> HuggingFaceModel:
        return self.models[name]

    def folders(self) -> dict[str, Path]:
        """Return {model name: folder} for the models that were loaded from a folder."""
        return {name: model.folder for name, model in self.models.items() if model.folder}

    def runner(self, num_answers: int, batch_size: int, num_processes: int | None = None) -> Runner:
        """Choose the fastest runner, and set how many threads this process uses.

        num_answers: number of answers to make. batch_size: number of texts to decode together.
        num_processes: None means one process, or one per core if the models are small, run on a
            CPU, and have at least MANY_ANSWERS to make.
        Raises ArgumentError.
        """
        if num_processes is not None:
            require_integer("processes", num_processes, 1)
        choose_threads(self._largest.num_parameters, batch_size)
        count = num_processes or 1
        if num_processes is None and num_answers >= MANY_ANSWERS:
            on_cpu = self._largest.device == "cpu"
            count = os.cpu_count() or 1 if on_cpu and is_small(self._largest.num_parameters) else 1
        if count == 1:
            return LocalRunner(self.models)
        return ProcessPoolRunner(count, self._sources, self._load_options)


class UnfinishedError(SetBlockDecodingError):
    """Other processes still have jobs to answer; the process that finishes last gets the result."""


class SharedRunner:
    """Answers this process's share of the jobs, and reads the other jobs' tallies from journals.

    Process number `rank` of n answers every n-th job. Each job has one batch, so that a run can be
    resumed with another number of processes.
    """

    batches_per_job = 1

    def __init__(self, runner: LocalRunner, journal: Journal, share: Share) -> None:
        self._runner, self._journal, self._share = runner, journal, share
        self.num_processes = share.num_processes

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Yield each job with its tally, the jobs of this process first.

        Raises UnfinishedError if another process has not finished its jobs.
        """
        every = list(jobs)
        done = self._journal.entries()
        mine = range(self._share.rank, len(every), self._share.num_processes)
        with self._journal as write:
            for number in mine:
                if number not in done:
                    done[number] = asdict(self._runner.tally(every[number]))
                    write(number, done[number])
                yield every[number], Tally(**done[number])
        done = self._journal.entries()
        missing = len(every) - len(done)
        if missing:
            raise UnfinishedError(f"{missing} of {len(every)} jobs are with other processes")
        for number, job in enumerate(every):
            if number not in mine:
                yield job, Tally(**done[number])


def journal_of(
    model: HuggingFaceModel,
    configs: Mapping[str, DecodeConfig],
    sample: Sample,
    out: Path,
    rank: int,
) -> Journal:
    """Make the journal in which process `rank` stores the results of an evaluation.

    The journal lies beside `out`; its name has a digest of everything that the scores depend on.
    """
    work = repr((sorted(configs.items()), sample, Fingerprint.of(model.model)))
    return Journal.of(out, work, rank)
