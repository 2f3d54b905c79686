"""The losses of a run in bf16 beside those in fp32: `python -m ... --steps 200`.

Prints the losses averaged over windows of 20 steps and the largest difference of a window. A
small batch of the shipped recipe, from the same new model.
"""

import argparse
import tempfile
from pathlib import Path

import torch

from sbd_core.training import loop
from sbd_core.training.recipes.recipe import read_recipe
from sbd_core.training.step.step_runner import RunSettings
from tests.core.training.training_runs import all_losses

WINDOW = 20


def main() -> None:
    """Train twice and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    arguments = parser.parse_args()
    changes = {"steps": arguments.steps, "batch_size": arguments.batch_size, "decay_steps": 0}
    recipe = read_recipe("sbd", None, changes)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("fp32", "bf16"):
            out = Path(folder) / precision
            loop.train(recipe, None, out, settings=RunSettings(precision=precision))
            found[precision] = torch.tensor(all_losses(out))
    windows = {name: losses.split(WINDOW) for name, losses in found.items()}
    means = {name: torch.stack([part.mean() for part in parts]) for name, parts in windows.items()}
    for number, (first, second) in enumerate(zip(means["fp32"], means["bf16"], strict=True)):
        print(f"steps {number * WINDOW + 1:>4}-: fp32 {first:.3f}  bf16 {second:.3f}")
    print(f"largest difference of a window: {(means['fp32'] - means['bf16']).abs().max():.4f}")


if __name__ == "__main__":
    main()
