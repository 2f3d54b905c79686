"""Describes what a result depends on besides model and config: machine, threads and versions."""

import os
import platform
from pathlib import Path
from typing import Any

import torch
import transformers

from sbd_core.files import weights_sha256
from sbd_core.version import VERSION


def environment(model_folder: Path | None) -> dict[str, Any]:
    """Describe the machine, threads and versions, and the digest of a model folder's weights."""
    facts: dict[str, Any] = {
        "processor": processor_name(),
        "vectors": vector_width(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        **versions(),
    }
    digest = None if model_folder is None else weights_sha256(model_folder)
    if digest is not None:
        facts["weights_sha256"] = digest
    return facts


VECTORS = {"amx_int8": "AMX", "avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
"""{flag in /proc/cpuinfo: name of the SIMD extension}, widest first."""


def vector_width() -> str | None:
    """Name of this processor's widest SIMD extension; None if unknown or not on Linux."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text(errors="replace").split()) if info.is_file() else set()
    return next((name for flag, name in VECTORS.items() if flag in flags), None)


def processor_name() -> str:
    """Name of the processor, as the operating system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of this package, Python, torch and transformers."""
    return {
        "sbd_core": VERSION,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
