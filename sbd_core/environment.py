"""Describes what a result depends on besides model and config: machine, threads and versions."""

import os
import platform
import re
from pathlib import Path
from typing import Any

import torch
import transformers

from sbd_core.files import weights_sha256
from sbd_core.version import VERSION


def environment(model_folder: Path | None) -> dict[str, Any]:
    """Describe the machine, threads and versions, and the digest of a model folder's weights.

    vectors: the processor's widest SIMD extension; None if unknown or not on Linux.
    """
    flags = set(_cpuinfo().split())
    facts: dict[str, Any] = {
        "processor": processor_name(),
        "vectors": next((name for flag, name in VECTORS.items() if flag in flags), None),
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


def processor_name() -> str:
    """Name of the processor, as the operating system gives it."""
    names = re.findall(r"^model name\s*:\s*(.*\S)", _cpuinfo(), re.MULTILINE)
    return names[0] if names else platform.processor() or platform.machine()


def _cpuinfo() -> str:
    info = Path("/proc/cpuinfo")
    return info.read_text(errors="replace") if info.is_file() else ""


def versions() -> dict[str, str]:
    """Versions of this package, Python, torch and transformers."""
    return {
        "sbd_core": VERSION,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
