"""The folders that export_web() writes for browsers, and the cache of such folders.

The weights of each engine are split into compressed files small enough for any web host. Cached
exports are in the user's cache folder and may be deleted. Torch is not imported, as the page opens
such folders before it loads a model.
"""

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.errors import ModelError, one_line, shown, shown_name
from sbd_core.files import PACKAGE, cache_folder, fill_cache, sha256
from sbd_core.models.bases import BASES
from sbd_core.models.model_folder import (
    ADAPTER_INFO,
    WEB_MANIFEST,
    is_block_adapter,
    is_web_folder,
    object_in,
)

FORMAT = 2
ENGINES = ("wasm", "webgpu")
"""What computes in a browser: its processor or its GPU."""
PRODUCTS = "products.onnx"
"""Name of a graph by which a browser checks that its int8 products are exact."""
PART_BYTES = 7_990_000
"""Bytes of weights in a part: compressed, a part has at most 8 MB, whatever the weights."""
COMPRESSION = 3
"""zlib's level: higher ones take much longer for few bytes less."""
DAMAGED = "export it again"


@dataclass(frozen=True, slots=True)
class WebFolder:
    """A folder that export_web() wrote. manifest: facts about the model and its files."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self.manifest["name"])

    @property
    def digest(self) -> str:
        """Digest of the manifest, which in turn holds the digests of all other files."""
        return str(self.manifest["digest"])

    @property
    def download(self) -> Mapping[str, int]:
        """{engine: number of bytes that it fetches}."""
        return dict(self.manifest["download"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the folder's files, the manifest first."""
        return (WEB_MANIFEST, *self.manifest["files"])


def open_web(folder: Path, *, reads_all: bool = True) -> WebFolder:
    """Open a folder that export_web() wrote, and check its files.

    reads_all: whether to check the files' digests as well as their sizes.
    Raises ModelError if a file is missing or altered, if the format is not this version's, or for a
    manifest that is no JSON, that was altered, or whose names may leave the folder.
    """
    subject = f"model: {shown(str(folder))}"
    try:
        manifest = object_in(folder / WEB_MANIFEST)
        if manifest["format"] != FORMAT:
            rule = f"was exported for format {manifest['format']}, and this version reads {FORMAT}"
            raise ModelError(f"{subject} {rule}: {DAMAGED}, or install the version that wrote it")
        if manifest["digest"] != digest_of(manifest):
            raise ModelError(f"{subject} has a manifest that was altered: {DAMAGED}")
        name, entries = manifest["name"], manifest["files"].items()
        is_text = isinstance(name, str) and name.isprintable()
        if not is_text or name in ("", "..") or Path(name).name != name:
            raise ValueError("name must be one plain part of a path")
        # As ui/web/engine/files.ts asks it, too.
        if not all(re.fullmatch(r"(?!\.*$)[A-Za-z0-9_.-]+", file) for file, _ in entries):
            raise ValueError("a file's name must be letters, digits, dots, - and _")
        files = {file: (entry["size"], entry["sha256"]) for file, entry in entries}
    except ModelError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = shown_name("lacks " * isinstance(error, KeyError) + one_line(error))
        raise ModelError(f"{subject} has a damaged {WEB_MANIFEST} ({why}): {DAMAGED}") from error
    for name, (size, digest) in files.items():
        file = folder / name
        if not file.is_file():
            raise ModelError(f"{subject} lacks {shown(name)}: {DAMAGED}")
        if file.stat().st_size != size or (reads_all and sha256(file) != digest):
            raise ModelError(f"{subject}: {name} is cut off, or of another export: {DAMAGED}")
    return WebFolder(folder, manifest)


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Compute the digest of a manifest; its own entry "digest" is left out."""
    others = {name: value for name, value in manifest.items() if name != "digest"}
    text = json.dumps(others, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Parts:
    """The weights file of a graph, written in compressed parts of PART_BYTES.

    files: names of the parts. size: number of bytes written, before compression.
    """

    def __init__(self, folder: Path, known: dict[bytes, str]) -> None:
        """Take the export's folder, and the names of its parts by the digests of their weights.

        known: shared by the graphs of an export, so that their equal parts are one file.
        """
        self.files, self.size = list[str](), 0
        self._folder, self._known = folder, known
        self._held = bytearray()
        self._places = dict[bytes, int]()

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self.size

    def write(self, data: Any) -> None:
        """Write bytes or an array. Raises OSError."""
        held = memoryview(data).cast("B")
        self._places.setdefault(hashlib.sha256(held).digest(), self.size)
        self._held += held
        self.size += held.nbytes
        while len(self._held) >= PART_BYTES:
            self._put()

    def place(self, data: Any) -> int:
        """Return the place of an array in the file; writes it unless an equal one was written."""
        place = self._places.get(hashlib.sha256(data).digest())
        if place is None:
            place = self.size
            self.write(data)
        return place

    def close(self) -> None:
        """Write the last part. Raises OSError."""
        if self._held:
            self._put()

    def _put(self) -> None:
        data, self._held = self._held[:PART_BYTES], self._held[PART_BYTES:]
        key, name = hashlib.sha256(data).digest(), f"weights-{len(self._known):02}.bin"
        if key not in self._known:
            (self._folder / name).write_bytes(gzip.compress(data, COMPRESSION, mtime=0))
        self.files.append(self._known.setdefault(key, name))


def entry_of(file: Path) -> dict[str, Any]:
    """Make a file's entry for the manifest: its size in bytes and its SHA-256."""
    return {"size": file.stat().st_size, "sha256": sha256(file)}


CODE = (
    "models/web_export.py",
    "models/rounding.py",
    "models/web_folder.py",
    *(f"models/backends/onnx/{name}.py" for name in ("export", "web_graph")),
)
"""Source files whose changes make a cached export outdated."""


def find_export(folder: Path) -> WebFolder | None:
    """Find the cached export of a model folder; None if there is none.

    A folder that is itself an export is returned. Checks the sizes of files, not their digests.
    """
    try:
        return open_web(folder if is_web_folder(folder) else _place(folder), reads_all=False)
    except (ModelError, OSError):
        return None


def keep_export(folder: Path) -> WebFolder:
    """Return the cached export of a model folder; writes the export if there is none.

    A folder that is itself an export is checked and returned.
    Raises SetBlockDecodingError, OSError.
    """
    if is_web_folder(folder):
        return open_web(folder)
    kept = find_export(folder)
    if kept is not None:
        return kept
    from sbd_core.models.web_export import export_web

    place = _place(folder)
    for old in place.parent.glob(f"{place.name.rpartition('-')[0]}-*"):
        shutil.rmtree(old, ignore_errors=True)
    fill_cache(place, lambda fresh: export_web(folder, fresh))
    return open_web(place, reads_all=False)


def _place(folder: Path) -> Path:
    """Make the path of a folder's cached export, which depends on the folder's path and files."""
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
    return cache_folder() / "web" / f"{whole.name}-{owner}-{state.hexdigest()[:12]}"
