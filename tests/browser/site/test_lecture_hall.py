"""Visitors of one file server at once: a short form of lecture_hall, and of measure_site."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.browser import lecture_hall, measure_site

pytestmark = pytest.mark.browser


@pytest.fixture
def said(capsys) -> Callable[..., tuple[int, dict]]:
    """A command's exit status and the JSON object that is its last line."""

    def run(main: Callable[[Sequence[str]], int], *words: str) -> tuple[int, dict]:
        # In a thread of its own: in this one the browser tests' Playwright may be at work.
        with ThreadPoolExecutor(1) as thread:
            status = thread.submit(main, words).result()
        return status, json.loads(capsys.readouterr().out.splitlines()[-1])

    return run


def test_visitors_at_once_lose_nothing_and_read_what_sbd_core_writes(said):
    status, found = said(lecture_hall.main, "--visitors", "2", "--at-once", "2")
    assert status == 0
    assert found["requests_failed"] == found["decodes_lost"] == found["other_texts"] == 0
    assert found["requests"] > 2


def test_every_figure_of_the_site_is_measured(said):
    _, found = said(measure_site.main, "--decodes", "3")
    assert 0 < found["first_decode_megabytes"] <= found["targets"]["first_decode_megabytes"]
    assert found["first_decode_seconds"] > 0
    assert 0 < found["longest_task_processor_ms"] <= found["longest_task_ms"]
    assert 0.5 < found["memory_ratio"] < 2
