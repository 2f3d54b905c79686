"""Average the weights of model folders of one shape: successive stretches of one training, say.

    python -m scripts.training.average_checkpoints runs/a runs/b --weights 1 2 --out runs/mean

All else (config, tokenizer, recipe) is the last folder's. What it is
good for: docs/bundled-model.md.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from sbd_core.errors import ArgumentError, SetBlockDecodingError, TrainingError
from sbd_core.training.checkpoints.checkpoint import RECIPE_FILE, export, load_model
from sbd_core.training.recipes.recipe import Recipe
from sbd_core.training.recipes.recipe_files import read_recipe


def average(folders: Sequence[Path], weights: Sequence[float], out: Path) -> None:
    """Write the weighted mean of `folders` to `out`.

    Raises ArgumentError for weights that do not fit the folders or are not above 0, or tensors
    of other shapes than the last folder's; TrainingError for a folder that holds no model.
    """
    if len(weights) != len(folders) or min(weights) <= 0:
        raise ArgumentError("weights", "must be one number above 0 for each folder", list(weights))
    model, tokenizer = load_model(folders[-1])
    mean = {name: torch.zeros_like(one) for name, one in model.state_dict().items()}
    for folder, weight in zip(folders, weights, strict=True):
        part = load_model(folder)[0].state_dict()
        if {n: t.shape for n, t in part.items()} != {n: t.shape for n, t in mean.items()}:
            raise ArgumentError("folders", "must hold models of one shape", str(folder))
        for name, total in mean.items():
            total += part[name] * (weight / sum(weights))
    model.load_state_dict(mean)
    export(model, tokenizer, _recipe_of(folders[-1]), out)


def _recipe_of(folder: Path) -> Recipe:
    path = folder / RECIPE_FILE
    try:
        stage = json.loads(path.read_text("utf-8"))["stage"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{path}: cannot be read as a recipe: {error}") from error
    return read_recipe(stage, path, {})


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.training.average_checkpoints")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--weights", nargs="+", type=float, help="one each (all the same)")
    parser.add_argument("--out", type=Path, required=True)
    flags = parser.parse_args(words)
    try:
        average(flags.folders, flags.weights or [1.0] * len(flags.folders), flags.out)
    except (SetBlockDecodingError, OSError) as error:
        print(f"average_checkpoints: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
