"""`prepare`: make a causal language model ready for training with Set Block Decoding."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

HELP = "give a causal language model a mask token, ready for train --stage sbd"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `prepare`."""
    parser.add_argument("model", metavar="MODEL", help="model folder, hub id or known base")
    parser.add_argument("--out", type=Path, required=True, help="new model folder to write")
    parser.add_argument(
        "--min-block-size", type=int, default=2, help="smallest block of the training to come"
    )
    parser.add_argument(
        "--max-block-size", type=int, default=16, help="largest block of the training to come"
    )
    parser.add_argument(
        "--strategy",
        choices=("sbd", "verify", "ntp"),
        default="sbd",
        help="strategy by which the model decodes by default",
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Prepare, and say what was done. Raises our errors."""
    from sbd_core.hf.preparation import prepare

    block_range = (arguments.min_block_size, arguments.max_block_size)
    done = prepare(
        arguments.model, arguments.out, block_range=block_range, strategy=arguments.strategy
    )
    print(done)
    return asdict(done)
