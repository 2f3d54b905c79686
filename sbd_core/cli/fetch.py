"""`fetch`: download the base model that the bundled adapter needs."""

import argparse
from typing import Any

HELP = (
    "download the base of the bundled real model once and export the bundled models for browsers; "
    "generate and the page then need no network"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `fetch`."""
    parser.add_argument("--base", default="SmolLM2-135M-Instruct", help="name of the base")
    parser.add_argument("--remove", action="store_true", help="delete it from the cache instead")


def run(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Download a base model if it is missing or damaged, or remove it. Raises our errors."""
    from tqdm import tqdm

    from sbd_core.hf.export_cache import keep_export
    from sbd_core.models.bases import (
        SMOLLM2,
        base_folder,
        damaged_file,
        fetch,
        known_base,
        remove,
    )
    from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL, bundled_folder

    source = known_base(arguments.base)
    if arguments.remove:
        was_there = remove(source)
        print(f"{source.name} was {'removed' if was_there else 'not there'}")
        return None
    folder, bar = base_folder(source), None
    if folder.exists() and (damaged := damaged_file(folder, reads_all=True)):
        print(f"{source.name} is damaged ({damaged}) and is fetched anew")

    def tell(what: str, done: int, total: int) -> None:
        nonlocal bar
        if total:
            if bar is None:
                print(f"{source.name}, of {source.original}, {source.licence}")
                bar = tqdm(total=source.num_bytes, unit="B", unit_scale=True)
            bar.set_description(what)
            bar.update(max(0, done - bar.n))
        elif bar is not None:  # unpacking, where transformers shows a bar of its own
            bar.update(source.num_bytes - bar.n)
            bar.close()

    try:
        fetch(source, tell)
    finally:
        if bar is not None:
            bar.close()
    print(f"{source.name} is in {folder}")
    for name in (DEFAULT_CHECKPOINT.name, REAL_MODEL):
        own = bundled_folder(name)
        if own is not None and source == SMOLLM2:
            size = keep_export(own).manifest["download"] / 1e6
            print(f"{name} is ready for browsers: {size:.1f} MB to download")
    return {"base": source.name, "folder": str(folder)}
