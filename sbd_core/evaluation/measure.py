"""Held-out examples decoded for every row of a table: a row is a model and how it decodes."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from sbd_core.config import DecodeConfig
from sbd_core.evaluation.runners import Job, Runner
from sbd_core.evaluation.scoring import Score, Tally, score
from sbd_core.tasks import Example

Rows = Mapping[str, tuple[str, DecodeConfig]]
"""The name of a model and how it decodes, by the name of the row."""


def measure(
    rows: Rows,
    suites: Mapping[str, Sequence[Example]],
    batch_size: int,
    runner: Runner,
    advance: Callable[[int], object] = lambda count: None,
) -> dict[str, list[Score]]:
    """Scores of every row, one a suite. Rows take turns, so all share the machine's load.

    suites: none empty. advance is told of each number of answers as they are done.
    """
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for job, tally in runner.tallies(_jobs(rows, suites, batch_size, runner.batches_per_job)):
        tallies[job.row, job.suite] += tally
        advance(len(job.items))
    return {row: [score(suite, tallies[row, suite]) for suite in suites] for row in rows}


def _jobs(
    rows: Rows, suites: Mapping[str, Sequence[Example]], batch_size: int, num_batches: int
) -> Iterator[Job]:
    share = num_batches * batch_size
    for suite, items in suites.items():
        for start in range(0, len(items), share):
            part = tuple(items[start : start + share])
            for row, (model, config) in rows.items():
                yield Job(row, suite, model, config, part, batch_size)
