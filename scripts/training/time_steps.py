"""How long a training step takes by each of some recipes, on this machine.

    python -m scripts.training.time_steps sbd_core/training/recipes/trials/sizes/*.json --compile

New models take a few steps each, in turns, so that a busy moment of the machine meets all alike.
Stopped with Ctrl-C it writes nothing and keeps nothing.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from sbd_core.circumstances import circumstances
from sbd_core.errors import ArgumentError
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.package.files import require_writable, write_text
from sbd_core.training.checkpoints.state import state_folder
from scripts.tables.results_files import RESULTS

WARM_UP = 5
"""Steps of each turn that are not counted: the first one compiles."""


class CommandError(Exception):
    """`train` ended badly, and has said why. status: its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def step_seconds(recipe: Path, num_steps: int, flags: Sequence[str]) -> list[float]:
    """Seconds of each counted step of a new model. flags: of `train`. Raises CommandError."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        words = ["--stage", "sbd", "--recipe", str(recipe), "--out", str(out)]
        words += ["--tokenizer", str(DEFAULT_CHECKPOINT), "--steps", str(num_steps), *flags]
        if status := subprocess.run([sys.executable, "-m", "sbd_core", "train", *words]).returncode:
            raise CommandError(status)
        lines = (state_folder(out) / "metrics.jsonl").read_text("utf-8").splitlines()
    ends = [json.loads(line)["seconds"] for line in lines][WARM_UP - 1 :]
    return [later - earlier for earlier, later in pairwise(ends)]


def time_steps(
    recipes: Sequence[Path], num_steps: int, rounds: int, flags: Sequence[str]
) -> dict[str, Any]:
    """Of each recipe, by its file's stem: median and quartiles of the seconds a step."""
    found: dict[str, list[float]] = {recipe.stem: [] for recipe in recipes}
    for _ in range(rounds):
        for recipe in recipes:
            found[recipe.stem] += step_seconds(recipe, num_steps, flags)
    return {name: _summary(seconds) for name, seconds in found.items()}


def _summary(seconds: list[float]) -> dict[str, float]:
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    named = {"median": median, "low": low, "high": high}
    return {name: round(value, 3) for name, value in named.items()}


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, else that of the training that failed."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.training.time_steps",
        description="Time the training steps of recipes, in turns.",
    )
    parser.add_argument("recipes", nargs="+", type=Path, metavar="RECIPE")
    parser.add_argument("--steps", type=int, default=40, help="of a turn (%(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each (%(default)s)")
    parser.add_argument("--compile", action="store_true", help="as `train --compile`")
    parser.add_argument("--precision", default="bf16", help="as of `train` (%(default)s)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", default=RESULTS / "step_times.json",
        help="where the results go (assets/results/step_times.json)",
    )  # fmt: skip
    chosen = parser.parse_args(words)
    flags = ["--precision", chosen.precision, *(["--compile"] if chosen.compile else [])]
    try:
        if chosen.steps <= WARM_UP + 1:
            raise ArgumentError("steps", f"must be at least {WARM_UP + 2}", chosen.steps)
        if chosen.rounds < 1:
            raise ArgumentError("rounds", "must be at least 1", chosen.rounds)
        require_writable("out", chosen.out)
        found = time_steps(chosen.recipes, chosen.steps, chosen.rounds, flags)
    except CommandError as error:
        return error.status
    except ArgumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    data = {
        "seconds_a_step": found,
        "steps": chosen.steps - WARM_UP,
        "rounds": chosen.rounds,
        "flags": flags,
        "circumstances": circumstances(None),
    }
    write_text(chosen.out, json.dumps(data, indent=1) + "\n")
    for name, seconds in found.items():
        print(f"{name}: {seconds['median']:.2f} s a step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
