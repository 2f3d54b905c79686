"""`train-adapter`: teach a causal language model to read blocks by an adapter of its own."""

import argparse
import json
import sys
from pathlib import Path

HELP = "train an adapter that only the rows of a block read; the base model stays as it is"
SAVE_MINUTES, MEASURE_MINUTES = 10.0, 10.0


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
    parser.add_argument("--rank", type=int, default=32, help="rank of every low-rank product")
    parser.add_argument(
        "--sampler-width", type=int, default=1024, help="width of the sampler head; 0: none"
    )
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="rate after the warm-up")
    parser.add_argument(
        "--cooldown",
        type=float,
        default=0.0,
        help="share of the minutes in which the rate falls to zero",
    )
    parser.add_argument(
        "--averaging",
        type=float,
        default=0.998,
        help="decay of the running average, which ships",
    )
    parser.add_argument("--batch-size", type=int, default=4, help="texts per step")
    parser.add_argument("--rows", type=int, default=256, help="block rows per text")
    parser.add_argument("--block-sizes", default="4,8,16", help="sizes to draw from, one per step")
    parser.add_argument(
        "--whole-ratio", type=float, default=0.5, help="share of blocks masked whole"
    )
    parser.add_argument(
        "--first-weight", type=float, default=0.5, help="weight of a block's first mask"
    )
    parser.add_argument(
        "--decay", type=float, default=0.9, help="decay of the weight from place to place"
    )
    parser.add_argument("--max-tokens", type=int, default=256, help="longest text; the rest is cut")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--compile", action="store_true", help="torch.compile; pays on a GPU")
    parser.add_argument(
        "--save-minutes", type=float, default=SAVE_MINUTES, help="minutes between saves"
    )
    parser.add_argument(
        "--measure-minutes",
        type=float,
        default=MEASURE_MINUTES,
        help="minutes between measurements",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Train, going on from the state beside --out. Raises our errors; Ctrl-C saves."""
    from sbd_core.errors import require_number
    from sbd_core.training.adapter import (
        AdapterRecipe,
        AdapterRun,
        read_base,
        read_texts,
        require_out,
    )
    from sbd_core.training.examples import ModelLimits

    require_number("minutes", arguments.minutes, 0)
    require_out(arguments.out)
    sizes = _sizes(arguments.block_sizes)
    recipe = AdapterRecipe(
        rank=arguments.rank,
        sampler_width=arguments.sampler_width,
        learning_rate=arguments.learning_rate,
        cooldown_ratio=arguments.cooldown,
        average_decay=arguments.averaging,
        num_texts=arguments.batch_size,
        rows_per_text=arguments.rows,
        block_sizes=sizes,
        max_tokens=arguments.max_tokens,
        whole_ratio=arguments.whole_ratio,
        weight_of_first=arguments.first_weight,
        decay=arguments.decay,
        seed=arguments.seed,
    )
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
    if arguments.json:
        names = ("step", "masked_tokens", "seconds", "measured")
        last = {name: trainer.metrics[-1][name] for name in names}
        print(json.dumps({"out": str(arguments.out), **last}))


def _sizes(words: str) -> tuple[int, ...]:
    from sbd_core.errors import ArgumentError

    try:
        return tuple(int(word) for word in words.split(","))
    except ValueError as error:
        rule = "must be whole numbers with commas between, as 4,8,16"
        raise ArgumentError("block_sizes", rule, words) from error
