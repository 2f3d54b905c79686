"""Runs untrusted Python functions in a separate, restricted process. Knows no task.

The process gets the inputs, but not the expected values, and reports the values that the function
returned. The parent process compares them, as bytes, so the function cannot forge a match.
The process is restricted in layers: an isolated interpreter, limits on time, memory, files and
processes, the user `nobody` if the parent is root, an audit hook, and builtins without file access.
This stops harm that a model's code does by accident, but not a determined attacker.

On some systems these layers do not work, and right answers would fail. So a function known to be
right runs before all others; if it fails, SandboxError says why.
"""

import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache

from sbd_core.errors import SandboxError

TIME_LIMIT_SECONDS = 2
CPU_LIMIT_SECONDS = 1
MEMORY_LIMIT_BYTES = 512 * 2**20
MAX_SOURCE_CHARACTERS = 4000

# Runs in the child: the stdin is a literal the parent wrote, hence the eval.
CHILD = r"""
import builtins, os, resource, sys
def main():
    token, source, name, inputs, seconds, memory = eval(sys.stdin.buffer.read())
    offered = ("collections", "functools", "itertools", "math", "re", "string")
    used = [name for name in offered if "import" in source and name in source]
    modules = {name: __import__(name) for name in used}
    for what, limit in (("CPU", seconds), ("AS", memory), ("FSIZE", 0), ("CORE", 0),
                        ("NPROC", 0), ("NOFILE", 3)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + what), (limit, limit))
    if os.geteuid() == 0:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
        except OSError:
            pass  # A container may forbid it; the other layers stay.
    for maker in ("mkfifo", "mknod"):  # They make files and raise no audit event.
        delattr(os, maker)
        delattr(sys.modules["posix"], maker)
    def load(name, *rest):
        if name in modules:
            return modules[name]
        raise ImportError(name)
    denied = {"open", "input", "breakpoint", "exit", "quit", "help"}
    allowed = {k: v for k, v in vars(builtins).items() if k not in denied}
    allowed["__import__"] = load
    allowed_events = {"compile", "exec", "builtins.id"}
    write, show, kind, leave, order = os.write, ascii, type, os._exit, sorted
    plain = (int, float, bool, str, kind(None))
    def canonical(value):
        if kind(value) is list:
            return "[" + ", ".join([canonical(item) for item in value]) + "]"
        if kind(value) is dict:
            pairs = [canonical(key) + ": " + canonical(value[key]) for key in value]
            return "{" + ", ".join(order(pairs)) + "}"
        for one in plain:
            if kind(value) is one:
                return show(value)
        leave(1)
    def guard(event, arguments):
        if event not in allowed_events:
            raise PermissionError(event)
    sys.addaudithook(guard)
    space = {"__builtins__": allowed, "__name__": "candidate"}
    exec(compile(source, "candidate", "exec"), space)
    functions = [k for k, v in space.items() if kind(v) is kind(main)]
    solve = space[name or ("solve" if "solve" in functions else functions[-1])]
    parts = []
    for value in inputs:
        result = solve(*value) if kind(value) is tuple else solve(value)
        parts.append(canonical(result))
    sys.stdout.flush()
    write(1, (token + "\n".join(parts)).encode())
    leave(0)
main()
"""
PYTHON = [sys.executable, "-I", "-S", "-B", "-c"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate, which is code that defines a function, and the calls to test it with.

    source: Python code of the candidate.
    inputs: the argument of each call, or a tuple if a call has several arguments.
    expected: the right result of each call, made of int, float, bool, str, None, lists and
        dictionaries. Types count, the order of a dictionary does not.
    name: name of the function; None takes `solve` if it exists, else the last function.
    """

    source: str
    inputs: tuple[object, ...]
    expected: tuple[object, ...]
    name: str | None = None


KNOWN_GOOD = Trial("def known(n):\n    return [n + 1]", (1, 2), ([2], [3]), "known")


def passes(trial: Trial) -> bool:
    """Whether the candidate returns every expected value and prints nothing.

    Never raises because of the candidate. Raises SandboxError if the sandbox does not work here.
    Takes at most TIME_LIMIT_SECONDS, plus about 20 ms to start a process.
    """
    require_sandbox()
    return len(trial.source) <= MAX_SOURCE_CHARACTERS and _passes(trial)


@cache
def require_sandbox() -> None:
    """Raise SandboxError unless a candidate known to be right passes. Success is cached."""
    if not _passes(KNOWN_GOOD):
        request, seconds = _request(KNOWN_GOOD, ""), 2 * TIME_LIMIT_SECONDS
        done = subprocess.run(
            [*PYTHON, CHILD], input=request, capture_output=True, timeout=seconds, check=False
        )
        last = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        said = last[:200] or "no reason given"
        raise SandboxError(
            "code answers cannot be scored on this machine: a function known to be right failed "
            f"in the sandbox, which needs the limits of setrlimit ({said}); "
            "leave out the task code, or run on Linux"
        )


def canonical(value: object) -> str:
    """Write `value` as the child process writes it: in ASCII, with sorted dictionary entries."""
    if isinstance(value, list):
        return "[" + ", ".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        pairs = [f"{canonical(key)}: {canonical(item)}" for key, item in value.items()]
        return "{" + ", ".join(sorted(pairs)) + "}"
    return ascii(value)


def _passes(trial: Trial) -> bool:
    token = secrets.token_hex(8)
    expected = (token + "\n".join(map(canonical, trial.expected))).encode()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _output(_request(trial, token), folder, len(expected) + 1) == expected
    except OSError as error:
        raise SandboxError(
            f"code answers cannot be scored: no process or folder for the sandbox ({error}); "
            "free memory, processes or disk and run again"
        ) from error


def _request(trial: Trial, token: str) -> bytes:
    limits = CPU_LIMIT_SECONDS, MEMORY_LIMIT_BYTES
    return ascii((token, trial.source, trial.name, trial.inputs, *limits)).encode()


def _output(request: bytes, folder: str, limit: int) -> bytes | None:
    """Run the child; return up to `limit` bytes of output, None if the child fails or is slow."""
    process = subprocess.Popen(
        [*PYTHON, CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.close()
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        output = _read(process.stdout.fileno(), limit, deadline)
        if output is None:
            return None
        status = process.wait(max(0.0, deadline - time.monotonic()))
        return output if status == 0 else None
    except (BrokenPipeError, subprocess.TimeoutExpired):
        return None
    finally:
        _end(process)


def _read(descriptor: int, limit: int, deadline: float) -> bytes | None:
    """Read a pipe up to its end or `limit` bytes; None if time.monotonic() passes `deadline`."""
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while len(output) < limit:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
            part = os.read(descriptor, limit - len(output))
            if not part:
                break
            output += part
    return output


def _end(process: subprocess.Popen) -> None:
    """If the child still runs, kill all processes in its session; then close its pipes."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    if not process.stdin.closed:
        process.stdin.close()
