"""An evaluation shared over processes has the scores of one process, also after a kill."""

from pathlib import Path

import pytest

from sbd_core import DecodeConfig
from sbd_core.__main__ import main
from sbd_core.evaluation import Sample, evaluate
from sbd_core.evaluation.api import MODEL
from sbd_core.evaluation.runners import LocalRunner, SharedRunner, UnfinishedError, journal_of
from sbd_core.shared_work import Share

CONFIGS = {
    name: DecodeConfig(strategy=name, max_new_tokens=8, top_k_recorded=0) for name in ("ntp", "sbd")
}
SAMPLE = Sample(tasks=("json", "math"), limit=5, batch_size=2)
CHOSEN = {"limit": 5, "batch_size": 2, "shows_progress": False}
UNTIMED = ("accuracy", "num_tokens", "num_forwards", "num_examples", "num_unseen")


def scores(evaluation) -> dict:
    return {
        (row, score.task): [getattr(score, name) for name in UNTIMED]
        for row, found in evaluation.rows.items()
        for score in found
    }


def shared(nano, out: Path, rank: int, num_processes: int, runner: LocalRunner | None = None):
    share = Share(rank, num_processes)
    journal = journal_of(nano, CONFIGS, SAMPLE, out, rank)
    mine = SharedRunner(runner or LocalRunner({MODEL: nano}), journal, share)
    return evaluate(nano, SAMPLE.tasks, CONFIGS, runner=mine, **CHOSEN), journal


class Killed(Exception):
    pass


class Counting(LocalRunner):
    """Counts its jobs, and is killed before one more than `most`."""

    def __init__(self, nano, most: int = 99) -> None:
        super().__init__({MODEL: nano})
        self.done, self.most = 0, most

    def tally(self, job):
        if self.done == self.most:
            raise Killed
        self.done += 1
        return super().tally(job)


def test_the_last_process_has_the_scores_of_one_whatever_was_killed(nano, tmp_path) -> None:
    expected = scores(evaluate(nano, SAMPLE.tasks, CONFIGS, **CHOSEN))
    out = tmp_path / "out.json"
    with pytest.raises(Killed):
        shared(nano, out, 0, 2, Counting(nano, most=2))
    with next(tmp_path.glob(".out.json.*")).open("a") as file:
        file.write('[5, {"num_ex')
    second = Counting(nano)
    with pytest.raises(UnfinishedError, match="4 of 12 jobs"):
        shared(nano, out, 1, 2, second)
    assert second.done == 6
    last = Counting(nano)
    found, journal = shared(nano, out, 0, 1, last)  # another number of processes goes on
    assert last.done == 4, "what the others did is kept"
    assert scores(found) == expected
    journal.clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        ([], "out"),
        (["--out", "x", "--table"], "table"),
        (["--out", "x", "--processes", "2"], "proc"),
    ],
)
def test_what_processes_cannot_share_is_named(words, argument, monkeypatch, capsys) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["evaluate", *words]) == 2
    assert capsys.readouterr().err.startswith(f"error: {argument}")
