"""An evaluation that the processes of accelerate launch share, taken up again after a kill."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from sbd_core.config import DecodeConfig
from sbd_core.errors import SetBlockDecodingError
from sbd_core.evaluation.api import Sample
from sbd_core.evaluation.runners import Job, LocalRunner
from sbd_core.evaluation.scoring import Tally
from sbd_core.hf.prompt_files import Share
from sbd_core.models.adapters import Fingerprint
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.package.journal import Journal


class UnfinishedError(SetBlockDecodingError):
    """Other processes still work on their share; the last one has all of it."""


class SharedRunner:
    """Every n-th job for this process, the others' from their journals once they are there.

    Jobs are of one batch, whatever the number of processes, so another number can go on.
    """

    batches_per_job = 1

    def __init__(self, runner: LocalRunner, journal: Journal, share: Share) -> None:
        self._runner, self._journal, self._share = runner, journal, share
        self.num_processes = share.num_processes

    def tallies(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Every job, those of this process first. Raises UnfinishedError where some lack."""
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
    """The journal of an evaluation that writes `out`, by all that its scores depend on."""
    work = repr((sorted(configs.items()), sample, Fingerprint.of(model.model)))
    return Journal(out, hashlib.sha256(work.encode()).hexdigest()[:12], rank)
