"""`train-adapter`: teach a causal language model to read blocks through an adapter."""

import argparse
import sys
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, require_number

HELP = "train an adapter that only the rows of a block read; the base model stays as it is"
RECIPE: tuple[tuple[str, str, int | float, str], ...] = (
    ("--rank", "rank", 32, "rank of every low-rank product"),
    ("--sampler-width", "sampler_width", 1024, "width of the sampler head; 0: none"),
    ("--learning-rate", "learning_rate", 1e-3, "rate after the warm-up"),
    ("--cooldown", "cooldown_ratio", 0.0, "share of the minutes in which the rate falls to zero"),
    ("--averaging", "average_decay", 0.998, "decay of the running average, which ships"),
    ("--batch-size", "num_texts", 4, "texts per step"),
    ("--rows", "rows_per_text", 256, "block rows per text"),
    ("--whole-ratio", "whole_ratio", 0.5, "share of blocks masked whole"),
    ("--first-weight", "weight_of_first", 0.5, "weight of a block's first mask"),
    ("--decay", "decay", 0.9, "decay of the loss weight per masked position"),
    ("--max-tokens", "max_tokens", 256, "longest text; the rest is cut"),
    ("--seed", "seed", 0, "seed of everything random"),
)
"""Flags of numbers: the flag, its field of AdapterRecipe, default and help."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `train-adapter`."""
    parser.add_argument("--base", required=True, help="folder, hub id or known base")
    parser.add_argument("--base-name", help="name of the base in the adapter (--base itself)")
    parser.add_argument("--out", type=Path, required=True, help="adapter folder to write")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        required=True,
        help="file of chats or of prompts and answers, as train reads; may be given again",
    )
    parser.add_argument("--minutes", type=float, required=True, help="training time of this start")
    parser.add_argument("--init", type=Path, help="adapter folder to begin from")
    for flag, field, default, words in RECIPE:
        parser.add_argument(flag, dest=field, type=type(default), default=default, help=words)
    parser.add_argument("--block-sizes", default="4,8,16", help="sizes to draw from, one per step")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--compile", action="store_true", help="torch.compile; pays on a GPU")
    for flag, what in ("--save-minutes", "saves"), ("--measure-minutes", "measurements"):
        parser.add_argument(flag, type=float, default=10.0, help=f"minutes between {what}")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Train, resuming from any state beside --out; Ctrl-C saves. Raises our errors."""
    from sbd_core.models.model_folder import ADAPTER_INFO
    from sbd_core.training.checkpoint import only_writer
    from sbd_core.training.examples import ModelLimits
    from sbd_core.training.train_adapter import AdapterRecipe, AdapterRun, read_base, read_texts

    require_number("minutes", arguments.minutes, 0)
    try:
        sizes = tuple(int(word) for word in arguments.block_sizes.split(","))
    except ValueError as error:
        rule = "must be whole numbers with commas between, as 4,8,16"
        raise ArgumentError("block_sizes", rule, arguments.block_sizes) from error
    numbers = {field: getattr(arguments, field) for _, field, *_ in RECIPE}
    recipe = AdapterRecipe(**numbers, block_sizes=sizes)
    with only_writer(arguments.out, ADAPTER_INFO):
        base = read_base(
            arguments.base,
            recipe.rank,
            (2, max(sizes)),
            name=arguments.base_name,
            device=arguments.device,
        )
        limits = ModelLimits.of(base.model)
        training, held_out, notes = read_texts(
            arguments.data,
            base.tokenizer,
            base.name,
            max_tokens=min(recipe.max_tokens, limits.reach or recipe.max_tokens),
            limits=ModelLimits(limits.num_rows),  # what is longer is cut
        )
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        print(f"{len(training)} texts, {len(held_out)} held out", file=sys.stderr)
        trainer = AdapterRun(
            base,
            recipe,
            training,
            held_out,
            arguments.out,
            arguments.init,
            minutes=arguments.minutes,
            measure_minutes=arguments.measure_minutes,
            is_compiled=arguments.compile,
        )
        trainer.run(save_minutes=arguments.save_minutes)
    names = ("step", "masked_tokens", "seconds", "measured")
    return {"out": str(arguments.out), **{name: trainer.metrics[-1][name] for name in names}}
