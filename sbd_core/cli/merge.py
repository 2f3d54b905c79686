"""`merge`: an adapter and its base as one model folder."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

HELP = "write an adapter and its base as a model folder that needs no peft"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `merge`."""
    parser.add_argument("adapter", metavar="ADAPTER", type=Path, help="folder of the adapter")
    parser.add_argument("--out", type=Path, required=True, help="new model folder to write")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Merge, and say what was done. Raises our errors."""
    from sbd_core.hf.merging import merge

    done = merge(arguments.adapter, arguments.out)
    print(done)
    return asdict(done)
