"""Commands one after the other in each process of a launch, which is what takes the time.

python -m tests.core.cli.commands '[["generate", ...], ["evaluate", ...]]'
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbd_core.__main__ import main

ROOT = Path(__file__).parents[3]


def run_all(commands: str) -> int:
    """0, or the exit status of the first command that fails; `commands` is a JSON list of lists."""
    for words in json.loads(commands):
        if status := main(words):
            return status
    return 0


def in_two(launcher: Sequence[str], module: str, *commands: Sequence[str]) -> str:
    """The output of `commands`, run by `module` in two processes that know of each other."""
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true"}
    words = [sys.executable, "-m", *launcher, "-m", module, json.dumps(commands)]
    done = subprocess.run(
        words, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(code: str, *words: object, **where: Any) -> subprocess.CompletedProcess[str]:
    """What a new Python makes of `code` and its words; where: folder and environment of the run."""
    line = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, **where)


def refusal(capsys, words: Sequence[str]) -> str:
    """The one line with which a command ends with status 2, without `error: ` before it."""
    capsys.readouterr()
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("error: ")


def last_line(capsys) -> dict:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(run_all(sys.argv[1]))
