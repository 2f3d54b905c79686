"""Keeps exports for browsers of models on this machine in the user's cache folder.

Deleting them does no harm. Each is written elsewhere and moved there in one step, and replaces the
export of an earlier state of the same model. Knows no tensors until it writes.
"""

import hashlib
import shutil
from pathlib import Path

from sbd_core.errors import ModelError
from sbd_core.files import PACKAGE, cache_folder, new_work_folder
from sbd_core.models.bases import BASES
from sbd_core.models.model_folder import ADAPTER_INFO, is_block_adapter, is_web_folder, object_in
from sbd_core.models.web_folder import WebFolder, open_web

CODE = (
    "hf/export_web.py",
    "models/stored_tensors.py",
    "models/web_folder.py",
    *(f"models/backends/onnx/{name}.py" for name in ("basis", "export", "web_graph")),
)
"""Source files that an export depends on."""


def exports_folder() -> Path:
    """The folder of all exports."""
    return cache_folder() / "web"


def find_export(folder: Path) -> WebFolder | None:
    """The export of a model folder, or that folder itself if it is one; None without.

    Checks the sizes of its files, not their digests.
    """
    try:
        return open_web(folder if is_web_folder(folder) else _place(folder), reads_all=False)
    except (ModelError, OSError):
        return None


def keep_export(folder: Path) -> WebFolder:
    """The export of a model folder, written if none is kept. Raises our errors, OSError."""
    kept = find_export(folder)
    if kept is not None:
        return kept
    from sbd_core.hf.export_web import export_web

    place = _place(folder)
    work = new_work_folder(place.parent)
    try:
        export_web(folder, work / "made")
        owner, _, _ = place.name.rpartition("-")
        for old in place.parent.glob(f"{owner}-*"):
            if find_export(folder) is None or old != place:
                old.rename(work / f"old-{old.name}")
        if not place.exists():  # else another process was first
            (work / "made").rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return open_web(place, reads_all=False)


def _place(folder: Path) -> Path:
    """The place of a model folder's export, named by the folder's path and state."""
    whole = folder.resolve()
    owner = hashlib.sha256(str(whole).encode()).hexdigest()[:8]
    state = hashlib.sha256()
    for name in CODE:
        state.update((PACKAGE / name).read_bytes())
    for file in sorted(path for path in whole.iterdir() if path.is_file()):
        about = file.stat()
        state.update(f"{file.name} {about.st_size} {about.st_mtime_ns}\n".encode())
    if is_block_adapter(whole):
        base = BASES.get(str(object_in(whole / ADAPTER_INFO).get("base")))
        state.update((base.sha256 if base else "").encode())
    return exports_folder() / f"{whole.name}-{owner}-{state.hexdigest()[:12]}"
