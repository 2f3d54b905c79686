"""Resident memory of a page with the bundled model, over hundreds of runs, many of them left."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.campaign.figure import Figure
from tests.campaign.server import Served, Visitor

ROOT = Path(__file__).parents[3]
MAX_NEW_TOKENS = 24
ASK = "Tom has 3 apples and buys 4 more. How many apples does Tom have?"


@contextmanager
def bundled_page() -> Iterator[tuple[Served, int]]:
    """A page in a process of its own, and that process's id."""
    words = [sys.executable, "-m", "tests.campaign.server"]
    process = subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield Served(**json.loads(process.stdout.readline())), process.pid
    finally:
        process.communicate(timeout=60)


def resident_bytes(pid: int) -> int:
    """As Linux counts them."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise LookupError("VmRSS")


def one_run(page: Served, number: int, *, is_left: bool) -> None:
    """A run of a visitor who stays to its end, or leaves it."""
    visitor = Visitor(page, f"127.0.0.{2 + number % 200}")
    if is_left:
        visitor.ask_page(ASK) if number % 2 else visitor.ask_api(ASK, 256)
        for count, _ in enumerate(visitor.messages()):
            if count > 2:
                break
    else:
        visitor.ask_api(ASK, MAX_NEW_TOKENS)
        visitor.listen()
    visitor.leave()


def growth(count: int, num_left: int, count_before: int) -> Figure:
    """How much larger the process is after `count` runs than after `count_before`."""
    with bundled_page() as (page, pid):
        for number in range(count_before):
            one_run(page, number, is_left=False)
        before = resident_bytes(pid)
        every = max(1, (count - count_before) // max(num_left, 1))
        left = 0
        for number in range(count_before, count):
            is_left = left < num_left and (number - count_before) % every == 0
            left += is_left
            one_run(page, number, is_left=is_left)
        after = resident_bytes(pid)
    return Figure(
        f"RSS after {count} decodes, {left} of them abandoned, over RSS after {count_before}",
        round(after / before - 1, 4),
        0.05,
        {"megabytes_before": round(before / 1e6, 1), "megabytes_after": round(after / 1e6, 1)},
    )
