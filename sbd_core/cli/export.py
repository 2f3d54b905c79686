"""`export`: write a model for the Hugging Face Hub or for browsers."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sbd_core.hf.export_web import WebExport
    from sbd_core.hf.hub import HubFolder

HELP = "write a model for the Hugging Face Hub or for browsers"
PLACES = {
    "hub": "a folder for the Hugging Face Hub, which decodes through transformers alone",
    "web": "a folder that a browser decodes with, and this package too",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the places, and the flags of each."""
    places = parser.add_subparsers(dest="place", required=True, metavar="PLACE")
    for place, words in PLACES.items():
        flags = places.add_parser(place, help=words, description=words)
        flags.add_argument("--model", help="folder or hub id of a trained model (the bundled one)")
        flags.add_argument("--out", type=Path, required=True, help="new folder to write")
        flags.add_argument("--json", action="store_true", help="one JSON object as the last line")
        if place == "hub":
            words = "also write the files for browsers, in its folder web"
            flags.add_argument("--web", action="store_true", help=words)
        if place == "web":
            words = "dtype of matrix products: float32 or int8 (int8 with a base from sbd fetch)"
            flags.add_argument("--dtype", choices=("float32", "int8"), help=words)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Export, and say what was written. Raises our errors."""
    from sbd_core.hf.export_web import export_web
    from sbd_core.hf.hub import export_hub

    done: HubFolder | WebExport
    if arguments.place == "web":
        done = export_web(arguments.model, arguments.out, dtype=arguments.dtype)
    else:
        done = export_hub(arguments.model, arguments.out, has_web=arguments.web)
    print(done)
    return asdict(done)
