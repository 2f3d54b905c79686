"""Where a measurement was made: machine, threads, versions, weights."""

import os
import platform
from pathlib import Path
from typing import Any

import torch

from sbd_core.decoding.api import versions
from sbd_core.package.files import weights_sha256


def circumstances(model_folder: Path | None) -> dict[str, Any]:
    """Machine, threads, versions and, for a folder, what weights were measured."""
    facts: dict[str, Any] = {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        **versions(),
    }
    digest = None if model_folder is None else weights_sha256(model_folder)
    if digest is not None:
        facts["weights_sha256"] = digest
    return facts


def processor_name() -> str:
    """The processor as the system names it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
