"""`train`: run one stage of training from a recipe."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.errors import ArgumentError, ModelError, require_number
from sbd_core.models.model_config import BlockSettings
from sbd_core.models.model_folder import object_in

if TYPE_CHECKING:
    from sbd_core.training.recipe import Recipe

HELP = "train a model: a base (ntp), then Set Block Decoding on top (sbd), or its baseline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `train`."""
    parser.add_argument("--stage", required=True, help="ntp, sbd or baseline")
    parser.add_argument("--init", type=Path, help="model folder to start from (none: a new model)")
    parser.add_argument("--out", type=Path, help="model folder to write")
    parser.add_argument(
        "--tokenizer",
        metavar="FOLDER",
        help="folder whose tokenizer a new model takes, instead of a trained one",
    )
    parser.add_argument("--lora", type=int, metavar="RANK", help="train an adapter of this rank")
    _add_recipe(parser.add_argument_group("recipe"))
    _add_data(parser.add_argument_group("data"))
    _add_machine(parser.add_argument_group("machine"))
    _add_estimate(parser)


def _add_recipe(group: argparse._ArgumentGroup) -> None:
    """Add the flags of the recipe and of values that replace its own."""
    group.add_argument(
        "--recipe",
        type=Path,
        help="recipe file (the stage's own), or finetune or lora for a prepared model and --data",
    )
    group.add_argument(
        "--minutes", type=float, help="time to train, decay included, instead of steps"
    )
    for flag in ("--steps", "--batch-size", "--seed"):
        group.add_argument(flag, type=int, help="instead of the recipe's")
    group.add_argument("--learning-rate", type=float, help="instead of the recipe's")
    group.add_argument(
        "--prompt-weight",
        type=float,
        help="weight of prompt tokens in the next-token loss; 0: the loss is on answers only",
    )
    group.add_argument("--min-block-size", type=int, help="smallest block to train on")
    group.add_argument("--max-block-size", type=int, help="largest block to train on")


def _add_data(group: argparse._ArgumentGroup) -> None:
    """Add the flags that name the training data."""
    group.add_argument(
        "--tasks",
        help="comma-separated, each with an optional weight, as math:3,json; '' for none",
    )
    group.add_argument(
        "--data",
        action="append",
        metavar="SOURCE",
        help="a file or hf:NAME[:SPLIT] to mix with the tasks: chats, prompts and answers, or "
        "texts; may be given several times",
    )
    group.add_argument("--row-tokens", type=int, help="longest packed row")


def _add_machine(group: argparse._ArgumentGroup) -> None:
    """Add the flags of time and memory, which change the result only by rounding."""
    group.add_argument("--save-every", type=int, help="steps between saves (1000)")
    group.add_argument("--save-minutes", type=float, help="minutes between saves (10)")
    group.add_argument(
        "--gradient-checkpointing", action="store_true", help="less memory, a third more time"
    )
    group.add_argument(
        "--accumulate",
        type=int,
        default=1,
        metavar="N",
        help="less memory: split each batch into N forward and backward passes (1)",
    )
    group.add_argument("--compile", action="store_true", help="use torch.compile")
    group.add_argument("--precision", default="auto", help="auto (times both), bf16 or fp32")
    group.add_argument("--attention", default="auto", help="auto, eager, sdpa or flex_attention")
    group.add_argument("--workers", type=int, help="processes that build batches")


def run(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Train, resuming from the state beside --out if there is one. Raises our errors."""
    changes = _changes(arguments)
    if arguments.estimate:
        from sbd_core.training.recipe import read_recipe

        # The estimate does not read the data.
        changes.setdefault("data", ("file:data.jsonl",))
        recipe = read_recipe(arguments.stage, arguments.recipe, changes)
        return _estimated(arguments, recipe)
    if arguments.out is None:
        raise ArgumentError("out", "must be given", None)
    _check_finetuning(arguments)
    from sbd_core.shared_work import Share
    from sbd_core.training.checkpoint import read_metrics, state_folder
    from sbd_core.training.recipe import read_recipe
    from sbd_core.training.run_settings import RunSettings
    from sbd_core.training.train import train

    saving = {
        name: value
        for name in ("save_every", "save_minutes")
        if (value := getattr(arguments, name)) is not None
    }
    settings = RunSettings(
        is_compiled=arguments.compile,
        precision=arguments.precision,
        attention=arguments.attention,
        num_workers=arguments.workers,
        is_checkpointed=arguments.gradient_checkpointing,
        num_parts=arguments.accumulate,
    )
    recipe = read_recipe(arguments.stage, arguments.recipe, changes)
    train(recipe, arguments.init, arguments.out, settings=settings, **saving)
    if Share.of_environment().rank:
        return None
    return {"out": str(arguments.out), **read_metrics(state_folder(arguments.out))[-1]}


def _check_finetuning(arguments: argparse.Namespace) -> None:
    """Check what --recipe finetune and lora need. Raises ArgumentError."""
    recipe = arguments.recipe
    if str(recipe) not in ("finetune", "lora") or recipe.exists():
        return
    if arguments.init is None:
        rule = f"must be a folder that sbd prepare wrote: --recipe {recipe} tunes a model"
        raise ArgumentError("init", rule, None)
    if not arguments.data and not arguments.tasks:
        raise ArgumentError(
            "data", f"must be given for --recipe {recipe}, as file:chat.jsonl", None
        )


def _changes(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of the recipe that the flags change."""
    names = (
        *("steps", "minutes", "batch_size", "learning_rate", "seed"),
        *("tokenizer", "row_tokens", "prompt_weight", "min_block_size", "max_block_size"),
    )
    changes: dict[str, Any] = dict(_prepared_range(arguments.init))
    changes |= {
        name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None
    }
    if arguments.lora is not None:
        changes["lora_rank"] = arguments.lora
    if arguments.minutes is not None:
        require_number("minutes", arguments.minutes, 0)
        if arguments.minutes == 0:
            raise ArgumentError("minutes", "must be above 0", arguments.minutes)
    elif arguments.steps is not None:
        changes["minutes"] = 0.0
    if arguments.tasks is not None:
        changes["tasks"] = _tasks(arguments.tasks)
    if arguments.data is not None:
        changes["data"] = tuple(
            source if source.startswith(("file:", "hf:")) else f"file:{source}"
            for source in arguments.data
        )
    return changes


def _prepared_range(init: Path | None) -> dict[str, int]:
    """The block sizes that `prepare` recorded in the folder `init`, as fields of the recipe."""
    if init is None:
        return {}
    try:
        data = object_in(init / "config.json").get("set_block_decoding")
        settings = BlockSettings.read(data, "init")
    except (OSError, ValueError, ModelError):
        return {}  # loading will say what is wrong
    if settings.is_trained or settings.block_range is None:
        return {}
    return dict(zip(("min_block_size", "max_block_size"), settings.block_range, strict=True))


def _tasks(words: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word in words.split(",") if words else ():
        name, _, weight = word.partition(":")
        try:
            weights[name] = weights.get(name, 0.0) + (float(weight) if weight else 1.0)
        except ValueError as error:
            rule = "must be task names, each with an optional weight, as math:3,json"
            raise ArgumentError("tasks", rule, words) from error
    return weights


def _add_estimate(parser: argparse.ArgumentParser) -> None:
    """Add --estimate and the flags that need it."""
    group = parser.add_argument_group("memory")
    group.add_argument(
        "--estimate",
        action="store_true",
        help="estimate a GPU's memory, train nothing; --init may be a hub id or a config.json",
    )
    group.add_argument("--gpus", type=int, default=1, help="with --estimate (1)")
    group.add_argument("--sharding", help="with --estimate: ddp or fsdp (fsdp with several --gpus)")
    group.add_argument(
        "--gpu-memory",
        type=float,
        metavar="GIB",
        help="with --estimate: find --accumulate and --gradient-checkpointing that fit a GPU",
    )


def _estimated(arguments: argparse.Namespace, recipe: "Recipe") -> dict[str, Any]:
    """Print the estimate of memory and return it. Raises our errors."""
    from sbd_core.training import estimate as memory

    init = None if arguments.init is None else str(arguments.init)
    config, name = memory.read_config(init, recipe)
    setup = memory.Setup(
        num_gpus=arguments.gpus,
        sharding=arguments.sharding or ("fsdp" if arguments.gpus > 1 else "none"),
        num_parts=arguments.accumulate,
        is_checkpointed=arguments.gradient_checkpointing,
        is_bf16=arguments.precision != "fp32",
    )
    estimate = memory.estimate(config, recipe, setup)
    if arguments.gpu_memory is not None:
        fitting = memory.smallest_that_fits(config, recipe, setup, arguments.gpu_memory)
        if fitting is None:
            rule = f"must be more than one row of {recipe.row_tokens} tokens takes"
            raise ArgumentError("gpu_memory", rule, arguments.gpu_memory)
        setup, estimate = fitting
    print(memory.as_text(name, recipe, setup, estimate))
    if not setup.is_checkpointed:
        less = memory.estimate(config, recipe, replace(setup, is_checkpointed=True)).total
        print(f"with gradient checkpointing {less / memory.GIB:.2f} GiB")
    print(memory.command(init, str(arguments.recipe or arguments.stage), recipe, setup))
    return {"model": name, **estimate.to_data()}
