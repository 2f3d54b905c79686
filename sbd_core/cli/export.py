"""`export`: a model in the form that another place takes."""

import argparse
import json
from pathlib import Path

HELP = "write a model in the form that another place takes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The places, and the flags of each."""
    places = parser.add_subparsers(dest="place", required=True, metavar="PLACE")
    words = "a folder for the Hugging Face Hub, which decodes through transformers alone"
    hub = places.add_parser("hub", help=words, description=words)
    hub.add_argument("--model", help="folder or hub id of a trained model (the bundled one)")
    hub.add_argument("--out", type=Path, required=True, help="new folder to write")
    hub.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Export, and say what was written. Raises our errors."""
    from sbd_core.hf.hub import export_hub

    done = export_hub(arguments.model, arguments.out)
    print(done)
    if arguments.json:
        print(json.dumps(done.to_data()))
