"""Tries each extra: installs it into an empty environment, imports its commands' modules there.

python -m scripts.try_extras               every extra, one after the other; takes minutes
python -m scripts.try_extras eval fetch    these; "" is the package alone

Each environment is a temporary folder, into which pip installs from the user's own index. The exit
status is 1 if a command that an extra is for, or that needs none, lacks a module there.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from types import FunctionType

from sbd_core.__main__ import COMMANDS
from sbd_core.cli import Command
from sbd_core.errors import EXTRAS

ROOT = Path(__file__).parents[1]


def modules_of(command: Command) -> set[str]:
    """Names of the modules of sbd_core that a command imports when it runs.

    The command's function is read, and the functions of its file that it calls.
    """
    functions, modules = [command.run], set[str]()
    for function in functions:  # grows
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            if name.startswith("sbd_core"):
                modules.add(name)
            elif isinstance(called, FunctionType) and called not in functions:
                functions += [called] * (called.__module__ == command.run.__module__)
    return modules


def commands_of(extra: str) -> dict[str, Command]:
    """The commands that must work where `extra` is installed: its own and those without one."""
    return {name: one for name, one in COMMANDS.items() if one.extra in (None, extra)}


def faults(extra: str) -> list[str]:
    """Try one extra; returns a line for each command that lacks a module, or for pip's failure."""
    requirement = f"{ROOT}[{extra}]" if extra else str(ROOT)
    with tempfile.TemporaryDirectory(prefix="sbd-extra-") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        done = _run([str(python), "-m", "pip", "install", "--quiet", requirement], folder)
        if done:
            return [f"{extra}: pip: {done}"]
        found = []
        for name, command in commands_of(extra).items():
            lines = "\n".join(f"import {module}" for module in sorted(modules_of(command)))
            if fault := _run([str(python), "-c", lines], folder):
                found.append(f"{extra}: {name}: {fault}")
        return found


def _run(words: list[str], folder: str) -> str:
    """Run a program in `folder`; returns the last line of its errors, "" if it succeeds."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return (done.stderr.strip().splitlines() or ["failed"])[-1] if done.returncode else ""


def main() -> int:
    """Run the command; returns 1 if any command lacks a module, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", default=["", *EXTRAS], help="extras to try (all)")
    status = 0
    for extra in parser.parse_args().extras:
        found = faults(extra)
        count = f"{extra or 'no extra'}: {len(commands_of(extra))} commands"
        print("\n".join(found) or count, flush=True)
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
