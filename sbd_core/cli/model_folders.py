"""The commands that write model folders: fetch, prepare, merge, export."""

import argparse
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.cli import Command

if TYPE_CHECKING:
    from sbd_core.hf.hub import HubFolder
    from sbd_core.models.web_export import WebExport


def _fetch_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", default="SmolLM2-135M-Instruct", help="name of the base")
    parser.add_argument("--remove", action="store_true", help="delete it from the cache instead")


@partial(Command, add_flags=_fetch_flags, extra="fetch")
def fetch(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Download the base of the bundled real model once and export the bundled models for browsers;
    generate and the page then need no network.
    """
    from sbd_core.models.bases import SMOLLM2, fetch, find_base, known_base, remove
    from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL, bundled_folder
    from sbd_core.models.web_folder import keep_export

    source = known_base(arguments.base)
    if arguments.remove:
        was_there = remove(source)
        print(f"{source.name} was {'removed' if was_there else 'not there'}")
        return None
    if find_base(source) is None:
        print(f"{source.name}, of {source.original}, {source.licence}", flush=True)
    folder = fetch(source)
    print(f"{source.name} is in {folder}")
    for name in (DEFAULT_CHECKPOINT.name, REAL_MODEL):
        own = bundled_folder(name)
        if own is not None and source == SMOLLM2:
            size = keep_export(own).download["wasm"] / 1e6
            print(f"{name} is ready for browsers: {size:.1f} MB to download")
    return {"base": source.name, "folder": str(folder)}


def _prepare_flags(parser: argparse.ArgumentParser) -> None:
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


@partial(Command, add_flags=_prepare_flags)
def prepare(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give a causal language model a mask token, ready for train --stage sbd."""
    from sbd_core.hf.conversions import prepare

    block_range = (arguments.min_block_size, arguments.max_block_size)
    done = prepare(
        arguments.model, arguments.out, block_range=block_range, strategy=arguments.strategy
    )
    print(done)
    return asdict(done)


def _merge_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("adapter", metavar="ADAPTER", type=Path, help="folder of the adapter")
    parser.add_argument("--out", type=Path, required=True, help="new model folder to write")


@partial(Command, add_flags=_merge_flags, extra="lora")
def merge(arguments: argparse.Namespace) -> dict[str, Any]:
    """Write an adapter and its base as a model folder that needs no peft."""
    from sbd_core.hf.conversions import merge

    done = merge(arguments.adapter, arguments.out)
    print(done)
    return asdict(done)


PLACES = {
    "hub": "a folder for the Hugging Face Hub, which decodes through transformers",
    "web": "a folder that a browser decodes with",
}


def _export_flags(parser: argparse.ArgumentParser) -> None:
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


@partial(Command, add_flags=_export_flags, has_own_json=True)
def export(arguments: argparse.Namespace) -> dict[str, Any]:
    """Write a model for the Hugging Face Hub or for browsers."""
    from sbd_core.hf.hub import export_hub
    from sbd_core.models.web_export import export_web

    done: HubFolder | WebExport
    if arguments.place == "web":
        done = export_web(arguments.model, arguments.out, dtype=arguments.dtype)
    else:
        done = export_hub(arguments.model, arguments.out, has_web=arguments.web)
    print(done)
    return asdict(done)
