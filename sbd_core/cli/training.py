"""The commands that train a model (train, train-adapter) or write text to train on (synthesize)."""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sbd_core.cli import Command
from sbd_core.errors import ArgumentError, ModelError, require_number
from sbd_core.models.model_folder import BlockSettings, object_in
from sbd_core.settings import add_flags, given, settings_of
from sbd_core.training.recipe import (
    RECIPES,
    Recipe,
    RunSettings,
    SynthesisConfig,
    read_fields,
    read_recipe,
)

RECIPE_SETTINGS = {item.name: item for item in settings_of(Recipe)}
TRAIN_SETTINGS = [
    RECIPE_SETTINGS[name]
    for name in (
        *("minutes", "steps", "batch_size", "seed", "learning_rate", "lora_rank", "tokenizer"),
        *("row_tokens", "prompt_weight", "min_block_size", "max_block_size"),
    )
]
ADAPTER_SETTINGS = [
    *(RECIPE_SETTINGS[name] for name in ("adapter_rank", "sampler_width", "learning_rate")),
    *(RECIPE_SETTINGS[name] for name in ("average_decay", "batch_size", "rows_per_text")),
    *(RECIPE_SETTINGS[name] for name in ("full_mask_ratio", "first_weight", "loss_decay", "seed")),
    replace(RECIPE_SETTINGS["row_tokens"], flag="max-tokens", help="longest text; the rest is cut"),
]
RUN_SETTINGS = settings_of(RunSettings)
ADAPTER_RUN_SETTINGS = [i for i in RUN_SETTINGS if i.name in ("save_minutes", "is_compiled")]


def _train_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stage", required=True, help="ntp, sbd or baseline")
    parser.add_argument("--init", type=Path, help="model folder to start from (none: a new model)")
    parser.add_argument("--out", type=Path, required=True, help="model folder to write")
    group = parser.add_argument_group("recipe")
    group.add_argument(
        "--recipe",
        type=Path,
        help="recipe file (the stage's own), or finetune or lora for a prepared model and --data",
    )
    unset = "the recipe's"
    add_flags(group, [replace(item, default=None, unset=unset) for item in TRAIN_SETTINGS])
    group = parser.add_argument_group("data")
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
    add_flags(parser.add_argument_group("machine"), RUN_SETTINGS)


@partial(Command, add_flags=_train_flags, extra="train")
def train(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Train a model: a base (ntp), then Set Block Decoding on top (sbd), or its baseline."""
    changes = _changes(arguments)
    _check_finetuning(arguments)
    from sbd_core.shared_work import Share
    from sbd_core.training.checkpoint import read_metrics, state_folder
    from sbd_core.training.train import train

    settings = RunSettings(**given(arguments, RUN_SETTINGS))
    recipe = read_recipe(arguments.stage, arguments.recipe, changes)
    train(recipe, arguments.init, arguments.out, settings)
    if Share.from_environment().rank:
        return None
    return {"out": str(arguments.out), **read_metrics(state_folder(arguments.out))[-1]}


def _check_finetuning(arguments: argparse.Namespace) -> None:
    recipe = arguments.recipe
    if str(recipe) not in ("finetune", "lora") or recipe.is_file():
        return
    if arguments.init is None:
        rule = f"must be a folder that sbd prepare wrote: --recipe {recipe} tunes a model"
        raise ArgumentError("init", rule, None)
    if not arguments.data and not arguments.tasks:
        rule = f"must be given for --recipe {recipe}, as file:chat.jsonl"
        raise ArgumentError("data", rule, None)


def _changes(arguments: argparse.Namespace) -> dict[str, Any]:
    changes = _prepared_range(arguments.init) | given(arguments, TRAIN_SETTINGS)
    if arguments.minutes is not None:
        _require_minutes(arguments.minutes)
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


def _prepared_range(init: Path | None) -> dict[str, Any]:
    """Return min_block_size and max_block_size of the folder `init`; {} if it is not prepared."""
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


def _tasks(text: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word in text.split(",") if text else ():
        name, _, weight = word.partition(":")
        try:
            weights[name] = weights.get(name, 0.0) + (float(weight) if weight else 1.0)
        except ValueError as error:
            rule = "must be task names, each with an optional weight, as math:3,json"
            raise ArgumentError("tasks", rule, text) from error
    return weights


def _train_adapter_flags(parser: argparse.ArgumentParser) -> None:
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
    parser.add_argument("--minutes", type=float, required=True, help="training time of all starts")
    parser.add_argument("--init", type=Path, help="adapter folder to begin from")
    shipped = read_fields(RECIPES / "adapter.json")
    add_flags(
        parser,
        [replace(i, default=shipped.get(i.name, i.default)) for i in ADAPTER_SETTINGS],
    )
    parser.add_argument(
        "--cooldown",
        type=float,
        default=0.0,
        help="share of the minutes in which the rate falls to zero (0)",
    )
    parser.add_argument("--block-sizes", default="4,8,16", help="sizes to draw from, one per step")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    add_flags(parser, ADAPTER_RUN_SETTINGS)
    parser.add_argument(
        "--measure-minutes", type=float, default=10.0, help="minutes between measurements"
    )


def _adapter_changes(arguments: argparse.Namespace) -> dict[str, Any]:
    from sbd_core.training.train_adapter import recipe_changes

    _require_minutes(arguments.minutes)
    require_number("cooldown", arguments.cooldown, 0, 1)
    try:
        sizes = tuple(int(word) for word in arguments.block_sizes.split(","))
    except ValueError as error:
        rule = "must be whole numbers with commas between, as 4,8,16"
        raise ArgumentError("block_sizes", rule, arguments.block_sizes) from error
    own = recipe_changes(arguments.init, arguments.adapter_rank, arguments.sampler_width)
    return {
        **given(arguments, ADAPTER_SETTINGS),
        **own,
        "block_sizes": sizes,
        "minutes": arguments.minutes,
        # Of a timed run these two only say its ratio.
        "steps": 1001,
        "decay_steps": round(1000 * arguments.cooldown),
        "data": tuple(f"file:{file}" for file in arguments.data),
    }


def _require_minutes(minutes: float) -> None:
    require_number("minutes", minutes, 0)
    if minutes == 0:
        raise ArgumentError("minutes", "must be above 0", minutes)


@partial(Command, add_flags=_train_adapter_flags, extra="train")
def train_adapter(arguments: argparse.Namespace) -> dict[str, Any]:
    """Train an adapter that only the rows of a block read; the base model stays as it is."""
    from sbd_core.models.model_folder import ADAPTER_INFO
    from sbd_core.training.checkpoint import only_writer
    from sbd_core.training.train_adapter import AdapterRun, read_base, read_texts

    recipe = read_recipe("sbd", Path("adapter"), _adapter_changes(arguments))
    settings = RunSettings(**given(arguments, ADAPTER_RUN_SETTINGS))
    if not recipe.adapter_rank:
        raise ArgumentError("rank", "must be above 0", recipe.adapter_rank)
    with only_writer(arguments.out, ADAPTER_INFO):
        base = read_base(
            arguments.base,
            recipe.adapter_rank,
            (2, max(recipe.block_sizes)),
            name=arguments.base_name,
            device=arguments.device,
        )
        training, held_out, notes = read_texts(arguments.data, base, recipe.row_tokens)
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
            measure_minutes=arguments.measure_minutes,
            is_compiled=settings.is_compiled,
        )
        trainer.run(settings.save_minutes)
    names = ("step", "masked_tokens", "seconds", "measured")
    return {"out": str(arguments.out), **{name: trainer.metrics[-1][name] for name in names}}


def _synthesize_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="folder, hub id or known base")
    parser.add_argument("--out", type=Path, required=True, help="JSON Lines to write or resume")
    add_flags(parser, settings_of(SynthesisConfig))
    parser.add_argument(
        "--prompts",
        type=Path,
        action="append",
        default=[],
        help="file of requests to ask first (prompt, question or instruction)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")


@partial(Command, add_flags=_synthesize_flags, extra="train")
def synthesize(arguments: argparse.Namespace) -> dict[str, Any]:
    """Let a chat model write its own training text: requests it makes up, and its answers."""
    from tqdm import tqdm

    from sbd_core.decoding.prompt_files import read_prompts
    from sbd_core.models.backends.choose import prepare_for_many_texts
    from sbd_core.models.loading import load
    from sbd_core.models.runtime import chosen_device, has_bf16
    from sbd_core.training.synthesize import synthesize

    config = SynthesisConfig(**given(arguments, settings_of(SynthesisConfig)))
    prompts = [row["prompt"] for file in arguments.prompts for row in read_prompts("prompts", file)]
    chat = next((prompt for prompt in prompts if not isinstance(prompt, str)), None)
    if chat is not None:
        raise ArgumentError("prompts", "must hold single requests, not chats", chat)
    dtype = "bfloat16" if has_bf16(chosen_device(arguments.device)) else "float32"
    model = load(arguments.model, device=arguments.device, dtype=dtype)
    prepare_for_many_texts(model)
    with tqdm(total=config.num_examples, unit="examples") as bar:
        count = synthesize(
            model, arguments.out, config, prompts, lambda count: bar.update(count - bar.n)
        )
    return {"file": str(arguments.out), "num_examples": count}
