"""Runs untrusted Python functions in a separate, restricted process. Knows no task.

A function passes by five rules:
1. It ends within TIME_LIMIT_SECONDS.
2. It keeps to limits of memory, files and processes.
3. It imports a few modules only, and prints, opens and starts nothing: an audit hook refuses the rest.
4. It is the function of the given name, else `solve`, else the last one.
5. Its values are the expected ones, also by type. The process gets the inputs but not these values;
   the parent compares them as bytes, so that the function cannot forge a match.
This stops harm that a model's code does by accident, but not a determined attacker.

Where a system refuses the limits, right answers would fail. So a function known to be right runs
before all others; if it fails, SandboxError says why.
"""

import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
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
    def load(name, *rest):
        if name in modules:
            return modules[name]
        raise ImportError(name)
    denied = {"open", "print", "input", "breakpoint", "exit", "quit", "help"}
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
    write(1, (token + "\n".join(parts)).encode())
    leave(0)
main()
"""
PYTHON = [sys.executable, "-I", "-S", "-B", "-c"]


KNOWN_GOOD = ("def known(n):\n    return [n + 1]", (1, 2), ([2], [3]), "known")


def passes(
    source: str,
    inputs: Sequence[object],
    expected: Sequence[object],
    name: str | None = None,
) -> bool:
    """Whether a candidate, which is code that defines a function, keeps the five rules.

    inputs: the argument of each call, or a tuple if a call has several arguments.
    expected: the right result of each call, made of int, float, bool, str, None, lists and
        dictionaries. Types count, the order of a dictionary does not.
    name: name of the function; None takes `solve` if it exists, else the last function.
    Never raises because of the candidate. Raises SandboxError if the sandbox does not work here.
    Takes at most TIME_LIMIT_SECONDS.
    """
    require_sandbox()
    return len(source) <= MAX_SOURCE_CHARACTERS and _passes(source, inputs, expected, name)[0]


@cache
def require_sandbox() -> None:
    """Raise SandboxError unless a candidate known to be right passes. Success is cached."""
    is_right, said = _passes(*KNOWN_GOOD)
    if not is_right:
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


def _passes(
    source: str, inputs: Sequence[object], expected: Sequence[object], name: str | None
) -> tuple[bool, str]:
    """Whether a candidate passes, and the last line that its process wrote about a failure."""
    token = secrets.token_hex(8)
    limits = CPU_LIMIT_SECONDS, MEMORY_LIMIT_BYTES
    request = ascii((token, source, name, tuple(inputs), *limits)).encode()
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [*PYTHON, CHILD],
                input=request,
                capture_output=True,
                cwd=folder,
                env={},
                timeout=TIME_LIMIT_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return False, f"it took more than {TIME_LIMIT_SECONDS} s"
    except OSError as error:
        raise SandboxError(
            f"code answers cannot be scored: no process or folder for the sandbox ({error}); "
            "free memory, processes or disk and run again"
        ) from error
    right = token + "\n".join(map(canonical, expected))
    said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
    is_right = done.returncode == 0 and done.stdout == right.encode()
    return is_right, said[:200] or "no reason given"
