"""A Space with ZeroGPU: decodes run in forked processes, as its package does it.

That package is made for Spaces and is no requirement here; Lender stands in for it. As there, a
decorated generator runs in a process forked from this one, arguments and values are pickled, and
two calls at a time would wait for each other.
"""

import json
import multiprocessing
import os
import pickle
import sys
import threading
from types import ModuleType

import pytest

from tests.ui.doubles import ANSWER, outcome, story_model
from ui.decode.form import PUBLIC, Form, lane_forms
from ui.decode.session import Session


class Lender(ModuleType):
    """`spaces`, with one GPU. durations: asked for. pids: of the processes that decoded."""

    def __init__(self) -> None:
        super().__init__("spaces")
        self.durations: list[int] = []
        self.pids: set[int] = set()
        self._is_free = threading.Semaphore(1)

    def GPU(self, duration):
        self.durations.append(duration)

        def decorated(function):
            def called(*args):
                assert self._is_free.acquire(timeout=5), "a second GPU was asked for"
                try:
                    yield from self._elsewhere(function, pickle.dumps(args))
                finally:
                    self._is_free.release()

            return called

        return decorated

    def _elsewhere(self, function, packed):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(
            target=work, args=(function, packed, theirs)
        )
        process.start()
        theirs.close()
        try:
            self.pids.add(ours.recv())
            while True:
                yield ours.recv()
        except EOFError:
            return
        finally:
            process.kill()
            process.join()


def work(function, packed, pipe) -> None:
    pipe.send(os.getpid())
    for value in function(*pickle.loads(packed)):
        pipe.send(value)
    pipe.close()
    os._exit(0)


@pytest.fixture
def lender(monkeypatch) -> Lender:
    there = Lender()
    monkeypatch.setitem(sys.modules, "spaces", there)
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    return there


# Forking is ZeroGPU's way; Python warns of it in a process that has threads.
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_every_forward_pass_runs_on_the_lent_gpu_and_the_page_shows_all_of_it(lender) -> None:
    session = Session(story_model(), is_public=True)
    news = list(session.decode(Form("p", max_new_tokens=128)))
    rows = [json.loads(line) for update in news for line in update.lines.splitlines()]
    texts = {row["lane"]: row["text"] for row in rows if row["type"] == "end"}
    assert texts == {"sbd": ANSWER, "ntp": ANSWER}
    assert len(lender.pids) == 2
    assert os.getpid() not in lender.pids
    assert lender.durations == [PUBLIC.max_run_seconds]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_lanes_to_compare_run_there_one_by_one(lender) -> None:
    session = Session(story_model(), is_public=True)
    forms = lane_forms(["ntp", "sbd", "verify"], Form("p"))
    assert outcome(session.compare(forms))[1] == ""
    assert len(lender.pids) == len(forms)
