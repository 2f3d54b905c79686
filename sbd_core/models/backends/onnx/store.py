"""Written graphs, kept in the user's cache folder between processes; deleting it does no harm.

A graph is a folder named by a digest of all it depends on. It is written elsewhere and moved there
in one step, so that another process finds all of it or nothing, and is read only where the digest
of its files is the one beside them.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import onnxruntime
import torch

from sbd_core.files import cache_folder, new_work_folder
from sbd_core.models.backends.onnx.export import (
    BLOCKS_GRAPH_FILE,
    GRAPH_FILE,
    WEIGHTS_FILE,
    AdapterLayers,
    Dtype,
)

logger = logging.getLogger(__name__)

DIGEST_FILE = "sha256"
CHUNK = 1 << 24


@contextmanager
def graph_folder(key: str, write: Callable[[Path], None]) -> Iterator[Path]:
    """The folder of the graph of this key, written by `write` unless it is kept already.

    Where the cache folder cannot be written, a temporary one that is gone afterwards. Raises
    OSError if that cannot be written either.
    """
    kept = cache_folder() / "graphs" / key
    if is_whole(kept):
        yield kept
        return
    try:
        _keep(kept, write)
    except OSError as error:
        logger.info("the ONNX graph is not kept: %s", error)
    else:
        yield kept
        return
    with TemporaryDirectory(prefix="sbd-graph-", ignore_cleanup_errors=True) as folder:
        write(Path(folder))
        yield Path(folder)


def _keep(kept: Path, write: Callable[[Path], None]) -> None:
    folder = new_work_folder(kept.parent)
    try:
        write(folder)
        (folder / DIGEST_FILE).write_text(files_digest(folder))
        for file in (*folder.iterdir(), folder):
            _sync(file)
        if kept.exists() and not is_whole(kept):
            kept.rename(folder / "damaged")  # out of the way in one step, too
        try:
            folder.rename(kept)
        except OSError:
            if not is_whole(kept):  # else another process was first
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(kept / "damaged", ignore_errors=True)


def _sync(path: Path) -> None:
    """Have what was written reach the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_whole(folder: Path) -> bool:
    """Whether a folder holds a graph whose files are as they were written."""
    try:
        return (folder / DIGEST_FILE).read_text() == files_digest(folder)
    except (OSError, ValueError):
        return False


def files_digest(folder: Path) -> str:
    """Of a graph's files."""
    found = hashlib.sha256()
    optional = [BLOCKS_GRAPH_FILE] if (folder / BLOCKS_GRAPH_FILE).exists() else []
    for name in (GRAPH_FILE, WEIGHTS_FILE, *optional):
        found.update(name.encode())
        with (folder / name).open("rb") as file:
            while chunk := file.read(CHUNK):
                found.update(chunk)
    return found.hexdigest()


def key_of(model: Any, dtype: Dtype, adapter: AdapterLayers | None = None) -> str:
    """Of all that a graph depends on: weights, config, dtype, versions, the code that writes it."""
    weights = dict(model.named_parameters())
    for index, layer in enumerate(adapter or ()):
        for name, pair in layer.items():
            weights |= {f"adapter.{index}.{name}.{i}": part for i, part in enumerate(pair)}
    found = hashlib.sha256(repr((dtype, onnx.__version__, onnxruntime.__version__)).encode())
    for file in ("export.py", "basis.py"):
        found.update(Path(__file__).with_name(file).read_bytes())
    found.update(model.config.to_json_string().encode())
    for name, weight in weights.items():
        found.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        values = weight.detach().contiguous().view(-1).view(torch.uint8)
        found.update(values.numpy().data)
    return found.hexdigest()[:32]
