"""`train`: run one stage of training from a recipe."""

import argparse
import json
from pathlib import Path

from sbd_core.config import require_integer

HELP = "train a model: a base (ntp), then Set Block Decoding on top (sbd), or its baseline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `train`."""
    parser.add_argument("--stage", required=True, help="ntp, sbd or baseline")
    parser.add_argument("--init", type=Path, help="model folder to start from (none: a new model)")
    parser.add_argument("--out", type=Path, required=True, help="model folder to write")
    parser.add_argument("--recipe", type=Path, help="recipe file (the stage's own)")
    parser.add_argument("--steps", type=int, help="instead of the recipe's")
    parser.add_argument("--batch-size", type=int, help="instead of the recipe's")
    parser.add_argument("--learning-rate", type=float, help="instead of the recipe's")
    parser.add_argument("--seed", type=int, help="instead of the recipe's")
    parser.add_argument("--families", help="comma-separated, instead of the recipe's; '' for none")
    parser.add_argument(
        "--data",
        action="append",
        metavar="SOURCE",
        help="file:PATH or hf:NAME[:SPLIT] to mix with the tasks; may be given several times",
    )
    parser.add_argument("--save-every", type=int, default=100, help="steps between saves")
    parser.add_argument("--compile", action="store_true", help="use torch.compile")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Train, resuming from the state beside --out if there is one. Raises our errors."""
    require_integer("save_every", arguments.save_every, 1)
    changes = {
        name: getattr(arguments, name)
        for name in ("steps", "batch_size", "learning_rate", "seed")
        if getattr(arguments, name) is not None
    }
    if arguments.families is not None:
        names = arguments.families
        changes["families"] = tuple(names.split(",")) if names else ()
    if arguments.data is not None:
        changes["data"] = tuple(arguments.data)
    from sbd_core.training.loop import state_folder, train
    from sbd_core.training.recipe import read_recipe

    recipe = read_recipe(arguments.stage, arguments.recipe, changes)
    train(
        recipe,
        arguments.init,
        arguments.out,
        save_every=arguments.save_every,
        is_compiled=arguments.compile,
    )
    metrics = (state_folder(arguments.out) / "metrics.jsonl").read_text().splitlines()
    if arguments.json:
        print(json.dumps({"out": str(arguments.out), **json.loads(metrics[-1])}))
