"""Visitors of one file server at once: a short form of lecture_hall, and of measure_site."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.browser


def said(module: str, *words: str) -> tuple[int, dict]:
    """A command's exit status and the JSON object that is its last line."""
    command = [sys.executable, "-m", f"scripts.browser.{module}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_visitors_at_once_lose_nothing_and_read_what_sbd_core_writes():
    status, found = said("lecture_hall", "--visitors", "2", "--at-once", "2")
    assert status == 0
    assert found["requests_failed"] == found["decodes_lost"] == found["other_texts"] == 0
    assert found["requests"] > 2


def test_every_figure_of_the_site_is_measured():
    _, found = said("measure_site", "--decodes", "3")
    assert 0 < found["first_decode_megabytes"] <= found["targets"]["first_decode_megabytes"]
    assert found["first_decode_seconds"] > 0
    assert 0 < found["longest_task_processor_ms"] <= found["longest_task_ms"]
    assert 0.5 < found["memory_ratio"] < 2
