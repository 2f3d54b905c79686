"""An estimate for people, and where the config comes from that it is made of."""

from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, shown
from sbd_core.training.checkpoints.checkpoint import new_config
from sbd_core.training.estimate.memory import GIB, KNOWN, MARGIN, MemoryEstimate, Setup
from sbd_core.training.recipes.recipe import Recipe

LAUNCH = Path(__file__).parents[1] / "launch"
PARTS = (
    "weights",
    "gradients",
    "optimizer",
    "communication",
    "activations",
    "output_layer",
    "update",
)


def read_config(source: str | None, recipe: Recipe) -> tuple[Any, str]:
    """The transformers config of a folder, a config.json or a hub id, and what it is.

    source: None stands for the new model of the recipe. A hub id that cannot be reached may be of
    a shape that is known here. Raises ArgumentError.
    """
    from transformers import AutoConfig

    if source is None:
        return new_config(recipe, recipe.vocabulary_size), "the recipe's new model"
    try:
        is_here = Path(source).exists()
        config = AutoConfig.from_pretrained(
            source, trust_remote_code=False, local_files_only=is_here
        )
        return config, source
    except (OSError, ValueError, RecursionError) as error:
        known = {file.stem.lower(): file for file in KNOWN.glob("*.json")}
        file = known.get(source.rpartition("/")[2].lower())
        if file is None:
            rule = "must be a folder, a config.json or a hub id of a transformers model"
            raise ArgumentError("init", rule, shown(source)) from error
        return AutoConfig.from_pretrained(file), f"{source}, by the shape that is known here"


def as_text(name: str, recipe: Recipe, setup: Setup, found: MemoryEstimate) -> str:
    """A line a part, in GiB."""
    kind = f"an adapter of rank {recipe.lora_rank}" if recipe.lora_rank else "all weights"
    gpus = "1 GPU" if setup.num_gpus == 1 else f"{setup.num_gpus} GPUs ({setup.sharding})"
    lines = [
        f"{name}: {found.num_weights:,} weights, {found.num_trained:,} trained ({kind})",
        f"{gpus}, {'bf16' if setup.is_bf16 else 'fp32'}, batch of {recipe.batch_size} rows of "
        f"{found.row_tokens} tokens, {found.num_rows} at once on a GPU, "
        f"{'with' if setup.is_checkpointed else 'without'} gradient checkpointing",
    ]
    lines += [
        f"{part.replace('_', ' '):>14} {getattr(found, part) / GIB:8.2f} GiB" for part in PARTS
    ]
    margin = f"and {MARGIN / GIB:g} GiB for CUDA and gaps"
    return "\n".join([*lines, f"{'total':>14} {found.total / GIB:8.2f} GiB, {margin}"])


def command(init: str | None, recipe_name: str, recipe: Recipe, setup: Setup) -> str:
    """The command line of the run."""
    launch = "python -m sbd_core train"
    if setup.num_gpus > 1:
        file = LAUNCH / f"{setup.sharding}.yaml"
        launch = f"accelerate launch --config_file {file} --num_processes {setup.num_gpus}"
        launch += " -m sbd_core train"
    words = [launch, f"--stage {recipe.stage} --recipe {recipe_name}"]
    words += [] if init is None else [f"--init {init}"]
    words += [f"--accumulate {setup.num_parts}"] if setup.num_parts > 1 else []
    words += ["--gradient-checkpointing"] if setup.is_checkpointed else []
    return " ".join(words)
