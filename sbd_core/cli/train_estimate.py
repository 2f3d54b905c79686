"""`train --estimate`: the memory that a run would take, without running it."""

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from sbd_core.errors import ArgumentError

if TYPE_CHECKING:
    from sbd_core.training.recipes.recipe import Recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that need --estimate."""
    group = parser.add_argument_group("memory")
    group.add_argument(
        "--estimate",
        action="store_true",
        help="work out a GPU's memory, train nothing; --init may be a hub id or a config.json",
    )
    group.add_argument("--gpus", type=int, default=1, help="with --estimate (1)")
    group.add_argument("--sharding", help="with --estimate: ddp or fsdp (fsdp with several --gpus)")
    group.add_argument(
        "--gpu-memory",
        type=float,
        metavar="GIB",
        help="with --estimate: find --accumulate and --gradient-checkpointing that fit a GPU",
    )


def run(arguments: argparse.Namespace, recipe: "Recipe") -> None:
    """Print the estimate. Raises our errors."""
    from sbd_core.training.estimate import memory, report

    init = None if arguments.init is None else str(arguments.init)
    config, name = report.read_config(init, recipe)
    setup = memory.Setup(
        num_gpus=arguments.gpus,
        sharding=arguments.sharding or ("fsdp" if arguments.gpus > 1 else "none"),
        num_parts=arguments.accumulate,
        is_checkpointed=arguments.gradient_checkpointing,
        is_bf16=arguments.precision != "fp32",
    )
    found = memory.estimate(config, recipe, setup)
    if arguments.gpu_memory is not None:
        fitting = memory.smallest_that_fits(config, recipe, setup, arguments.gpu_memory)
        if fitting is None:
            rule = f"must hold more than one row of {recipe.row_tokens} tokens takes"
            raise ArgumentError("gpu_memory", rule, arguments.gpu_memory)
        setup, found = fitting
    print(report.as_text(name, recipe, setup, found))
    if not setup.is_checkpointed:
        less = memory.estimate(config, recipe, replace(setup, is_checkpointed=True)).total
        print(f"with gradient checkpointing {less / memory.GIB:.2f} GiB")
    print(report.command(init, str(arguments.recipe or arguments.stage), recipe, setup))
    if arguments.json:
        print(json.dumps({"model": name, **found.to_data()}))
