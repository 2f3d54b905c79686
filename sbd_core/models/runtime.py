"""Chooses a model's device and dtype, sets CPU threads, and silences libraries."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import torch
from huggingface_hub.utils import logging as hub_logging
from transformers.utils import logging as transformers_logging

from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.models.model_folder import own_cpu_dtype
from sbd_core.models.protocol import SetBlockModel

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
QUANTIZED = ("int8",)
"""Dtypes for CPUs only; weights are loaded in fp32 and then converted to them."""


def chosen_device(device: str) -> torch.device:
    """Return the torch device called `device`. Raises ArgumentError if there is no such device."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise ArgumentError("device", "must be auto, cpu, cuda or cuda:N", device)
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise ArgumentError("device", f"{torch.cuda.device_count()} CUDA devices here", device)
    return torch.device(device)


def chosen_dtype(
    dtype: str | None, device: torch.device, source: str
) -> tuple[str, torch.dtype | str]:
    """Return the dtype's name, and the torch dtype to load weights in ("auto": the checkpoint's).

    dtype: None is "auto" on a GPU; on a CPU, what the folder `source` names.
    Raises ArgumentError if `dtype` is unknown or `device` does not support it, ModelError if the
    folder names an unknown one.
    """
    known = ("auto", *DTYPES, *QUANTIZED)
    if dtype is None:
        dtype = str(own_cpu_dtype(source)) if device.type == "cpu" else "auto"
        if dtype not in known:
            rule = f"names {dtype!r} as cpu_dtype, which is unknown"
            raise ModelError(f"model: {shown(source)} {rule}")
    if dtype not in known:
        raise ArgumentError("dtype", f"must be one of {', '.join(known)}", dtype)
    if dtype in QUANTIZED and device.type != "cpu":
        raise ArgumentError("dtype", f"must not be {dtype} on a GPU", str(device))
    is_auto_on_gpu = dtype == "auto" and device.type != "cpu"
    return dtype, "auto" if is_auto_on_gpu else DTYPES.get(dtype, torch.float32)


def has_bf16(device: torch.device) -> bool:
    """Whether `device` multiplies bf16 matrices in hardware."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    # Read from the processor's flags: without them PyTorch emulates bf16, slowly.
    known = torch.cpu.get_capabilities()
    return any(known.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))


SMALL_MODEL_PARAMETERS = 20_000_000
LONG_BATCH = 8
CGROUP_FILES = (
    ("/sys/fs/cgroup/cpu.max", ""),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""A cgroup's quota and period in microseconds: version 2 has both in one file."""


def usable_cores() -> int:
    """Number of cores that this process may use, by its CPU affinity and its cgroup's quota."""
    affinity = getattr(os, "sched_getaffinity", None)  # missing on macOS and Windows
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
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
    """Whether a model's forward passes over one text are too short to gain from more threads."""
    return num_parameters < SMALL_MODEL_PARAMETERS


def choose_threads(num_parameters: int, batch_size: int = 1) -> None:
    """Set torch to one CPU thread if both the model and the batch are small; else change nothing.

    A short forward pass gains little from a second thread, and on a busy machine the two threads
    wait for each other far longer than the pass takes. The setting holds for the whole process, so
    the command line and the page call this function, but load() does not.
    """
    if is_small(num_parameters) and batch_size < LONG_BATCH:
        torch.set_num_threads(1)


class _OneThread:
    """Limits torch to one thread as long as anybody is inside; the setting is the process's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._num_inside = 0
        self._count = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._num_inside == 0:
                self._count = torch.get_num_threads()
                torch.set_num_threads(1)
            self._num_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._num_inside -= 1
            if self._num_inside == 0:
                torch.set_num_threads(self._count)


_limited = _OneThread()


def one_thread_between_passes(model: SetBlockModel) -> AbstractContextManager[None]:
    """Limit torch to one thread within a `with` block, if another library runs forward passes.

    Otherwise torch's waiting threads would keep cores busy that the next forward pass needs.
    Several threads may be in such blocks; the last one to leave restores the number.
    """
    return _limited if model.has_own_threads else nullcontext()


_quiet = threading.RLock()


@contextmanager
def quietly() -> Iterator[None]:
    """Silence transformers and the Hub within the `with` block; errors are still raised.

    Only one thread at a time can be in the block: the setting is global, and some imports of
    transformers fail when two threads make them at once.
    """
    with _quiet:
        libraries = [(each, each.get_verbosity()) for each in (transformers_logging, hub_logging)]
        for library, _ in libraries:
            library.set_verbosity_error()
        try:
            with bars_only_on_a_terminal():
                yield
        finally:
            for library, verbosity in libraries:
                library.set_verbosity(verbosity)


@contextmanager
def bars_only_on_a_terminal() -> Iterator[None]:
    """Hide transformers' progress bars within the `with` block, unless stderr is a terminal."""
    was_enabled = transformers_logging.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            transformers_logging.enable_progress_bar()
