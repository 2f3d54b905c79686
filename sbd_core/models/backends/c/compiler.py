"""The C files beside this one, compiled for this machine once and kept in the user's cache folder.

A C compiler must be there the first time. The same files become WebAssembly by
scripts/browser/build_wasm.py.
"""

import ctypes
import hashlib
import os
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


def found_compiler() -> str | None:
    """The path of the first of COMPILERS that is here."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


@cache
def library() -> Any:
    """Every function of SOURCES. Raises ArgumentError if they cannot be compiled."""
    compiler = found_compiler()
    if compiler is None:
        rule = f"needs a C compiler, one of {', '.join(COMPILERS)}, on the PATH"
        raise ArgumentError("native", rule, value=True)
    is_intel = platform.machine() in ("x86_64", "AMD64")
    flags = [*FLAGS, *(["-mprefer-vector-width=512"] if is_intel else [])]
    name = f"native-{_digest(compiler, flags)}.so"
    kept = cache_folder()
    try:
        return ctypes.CDLL(str(kept / name))
    except OSError:  # none yet, or a damaged one
        pass
    try:
        kept.mkdir(parents=True, exist_ok=True)
        room = TemporaryDirectory(dir=kept, prefix="compiling-")
    except OSError:  # a home that cannot be written: compiled anew in each process
        room = TemporaryDirectory()
    with room as folder:
        linked = _compiled(compiler, flags, Path(folder))
        if Path(folder).parent == kept:
            # In one step, so that another process finds the whole file or none.
            linked = linked.replace(kept / name)
        return ctypes.CDLL(str(linked))


def cache_folder() -> Path:
    """Where the compiled file is kept between processes; deleting the folder does no harm."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "sbd_core"


def _digest(compiler: str, flags: list[str]) -> str:
    """Of all that the compiled file depends on, this processor among it."""
    found = hashlib.sha256(repr((flags, SOURCES, compiler, _processor())).encode())
    found.update(str(Path(compiler).resolve().stat().st_mtime_ns).encode())
    for file in sorted(Path(__file__).parent.glob("*.[ch]")):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:24]


def _processor() -> str:
    """What tells processors with other instructions apart; a cache folder may be shared by some."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:
        return f"{platform.node()} {platform.machine()} {platform.processor()}"
    told = ("model name", "flags", "Features", "CPU part")
    return "\n".join(line for line in lines if line.startswith(told))


def _compiled(compiler: str, flags: list[str], folder: Path) -> Path:
    """The shared library, made in `folder`."""
    objects = []
    for name, own in SOURCES.items():
        objects.append(str(folder / f"{name}.o"))
        source = str(Path(__file__).with_name(name))
        _call([compiler, *flags, *own, "-c", source, "-o", objects[-1]])
    linked = folder / "native.so"
    _call([compiler, "-shared", *objects, "-o", str(linked)])
    return linked


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = " ".join(done.stderr.split())[:300]
        raise ArgumentError("native", f"needs {command[0]} to compile", reason)
