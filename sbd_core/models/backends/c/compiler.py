"""The C files beside this one, compiled for this machine at the first use in a process.

A C compiler must be there; nothing is left on disk. The same files become
WebAssembly by scripts/browser/build_wasm.py.
"""

import ctypes
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sbd_core.errors import ArgumentError

COMPILERS = ("cc", "gcc", "clang")
STEADY = ("-fno-math-errno", "-fno-trapping-math")
"""Leaves every sum in its order: the same code compiled elsewhere gives nearly the same bits."""
FLAGS = ("-O3", "-march=native", "-fPIC", *STEADY)
NOT_NAN = ("-ffinite-math-only", "-fno-signed-zeros")
SOURCES = {"forward.c": NOT_NAN, "logit_stats.c": ()}
"""Files and the flags each has of its own."""


@cache
def library() -> Any:
    """Every function of SOURCES. Raises ArgumentError if they cannot be compiled."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        rule = f"needs a C compiler, one of {', '.join(COMPILERS)}, on the PATH"
        raise ArgumentError("native", rule, value=True)
    is_intel = platform.machine() in ("x86_64", "AMD64")
    flags = [*FLAGS, *(["-mprefer-vector-width=512"] if is_intel else [])]
    with TemporaryDirectory() as folder:
        objects = []
        for name, own in SOURCES.items():
            objects.append(str(Path(folder, f"{name}.o")))
            source = str(Path(__file__).with_name(name))
            _call([compiler, *flags, *own, "-c", source, "-o", objects[-1]])
        linked = str(Path(folder, "native.so"))
        _call([compiler, "-shared", *objects, "-o", linked])
        return ctypes.CDLL(linked)


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.split())[:300]
        raise ArgumentError("native", f"needs {command[0]} to compile", reason)
