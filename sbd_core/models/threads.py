"""Chooses the number of threads on a CPU; only programs set it, as it holds for all of torch."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from sbd_core.models.protocol import SetBlockModel

SMALL_MODEL_PARAMETERS = 20_000_000
LONG_BATCH = 8
CGROUP_FILES = (
    ("/sys/fs/cgroup/cpu.max", ""),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""A cgroup's quota and period in microseconds: version 2 has both in one file."""


def usable_cores() -> int:
    """Cores that this process may use: of its affinity, and no more than its cgroup's quota."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        count = os.cpu_count() or 1
    for quota_file, period_file in CGROUP_FILES:
        try:
            numbers = Path(quota_file).read_text().split()
            numbers += Path(period_file).read_text().split() if period_file else []
            quota, period = int(numbers[0]), int(numbers[1])
        except (OSError, ValueError, IndexError):  # none, or "max"
            continue
        if quota > 0 and period > 0:
            count = min(count, -(-quota // period))
    return max(1, count)


def is_small(num_parameters: int) -> bool:
    """Whether a model's forward passes are too short to be shared among threads."""
    return num_parameters < SMALL_MODEL_PARAMETERS


def choose_threads(num_parameters: int, batch_size: int = 1) -> None:
    """Set torch to one thread for a small model on the CPU, else leave its own choice.

    A forward pass of a few million parameters over one text is too short to share: a second thread
    gains little on an idle machine, and waits for its partner, many times the forward pass itself,
    on a busy one. A batch is long enough. Called by the command line and by the page, never by
    load(), as the setting is global.
    """
    if is_small(num_parameters) and batch_size < LONG_BATCH:
        torch.set_num_threads(1)


@contextmanager
def one_thread_between_passes(model: SetBlockModel) -> Iterator[None]:
    """Give torch one thread within the `with` block, if forward passes have threads of their own.

    Torch's other threads wait busily between operations, on cores that the next pass needs.
    """
    if not model.has_own_threads:
        yield
        return
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)
