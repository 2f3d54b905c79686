"""A folder that a browser decodes with: its manifest and its files. Knows no tensors.

Weights lie in parts small enough for any host, as stored_tensors.py has them.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.errors import ModelError, shown
from sbd_core.files import sha256
from sbd_core.models.checkpoint_info import WEB_MANIFEST, object_in

if TYPE_CHECKING:
    from sbd_core.models.stored_tensors import Stored

FORMAT = 1
GRAPHS = {"wasm": "model.onnx", "webgpu": "model-webgpu.onnx"}
"""Files of the graphs by the engine that each is for."""
PRODUCTS = "products.onnx"
"""Of an export in int8: the graph that tries out the products."""
PART_BYTES = 8_000_000
DAMAGED = "export it again"


@dataclass(frozen=True, slots=True)
class WebFolder:
    """A folder whose files are all here as they were written. manifest: see write_manifest()."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the model."""
        return str(self.manifest["name"])

    @property
    def digest(self) -> str:
        """Digest of the whole folder."""
        return str(self.manifest["digest"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its files, the manifest first."""
        parts = [part["file"] for part in self.manifest["parts"]]
        return (WEB_MANIFEST, *self.manifest["files"], *parts)


def open_web(folder: Path, argument: str = "model", *, reads_all: bool = True) -> WebFolder:
    """A folder that export_web() wrote. reads_all: whether digests are looked at, or sizes alone.

    Raises ModelError for one that a newer version wrote, or that is not whole.
    """
    subject = f"{argument}: {shown(str(folder))}"
    try:
        manifest = object_in(folder / WEB_MANIFEST)
        if manifest["format"] != FORMAT:
            rule = f"was exported for format {manifest['format']}, and this version reads {FORMAT}"
            raise ModelError(f"{subject} {rule}: install the version that wrote it")
        if manifest["digest"] != digest_of(manifest):
            raise ModelError(f"{subject} has a manifest that was altered: {DAMAGED}")
        web = WebFolder(folder, manifest)
        sizes = {part["file"]: part for part in manifest["parts"]} | manifest["files"]
        ends = [entry["offset"] + entry["bytes"] for entry in manifest["tensors"].values()]
        if max(ends) > sum(part["size"] for part in manifest["parts"]):
            raise ValueError("tensors that its parts have no room for")
    except ModelError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{subject} has a damaged {WEB_MANIFEST}: {DAMAGED}") from error
    for name, entry in sizes.items():
        _require_whole(folder, name, entry, subject, reads_all=reads_all)
    return web


def _require_whole(
    folder: Path, name: str, entry: Mapping[str, Any], subject: str, *, reads_all: bool
) -> None:
    file = folder / name
    if Path(name).name != name or not file.is_file():
        raise ModelError(f"{subject} lacks {shown(name)}: {DAMAGED}")
    size = file.stat().st_size
    if size != entry["size"]:
        raise ModelError(
            f"{subject}: {name} has {size} bytes, not the {entry['size']} of its manifest: it was "
            f"cut off, or belongs to another export; {DAMAGED}"
        )
    if reads_all and sha256(file) != entry["sha256"]:
        raise ModelError(f"{subject}: {name} is altered, or of another export: {DAMAGED}")


def digest_of(manifest: Mapping[str, Any]) -> str:
    """Digest of all that a manifest says but this."""
    told = {name: value for name, value in manifest.items() if name != "digest"}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write_parts(folder: Path, tensors: Mapping[str, "Stored"]) -> dict[str, Any]:
    """Write tensors one behind the other; what the manifest says of them. Raises OSError."""
    entries, offset = {}, 0
    for name, stored in tensors.items():
        entry = {"kind": stored.kind, "shape": list(stored.shape), "offset": offset}
        entries[name] = {**entry, "bytes": len(stored.data)}
        offset += len(stored.data)
    parts = []
    for index, data in enumerate(_pieces(tensors.values())):
        file = folder / f"weights-{index:02}.bin"
        file.write_bytes(data)
        parts.append({"file": file.name, **entry_of(file)})
    return {"parts": parts, "tensors": entries}


def _pieces(tensors: "Iterable[Stored]") -> Iterator[bytes]:
    held = bytearray()
    for stored in tensors:
        held += stored.data
        while len(held) >= PART_BYTES:
            yield bytes(held[:PART_BYTES])
            del held[:PART_BYTES]
    if held:
        yield bytes(held)


def entry_of(file: Path) -> dict[str, Any]:
    """Size and digest of a file, as the manifest has them."""
    return {"size": file.stat().st_size, "sha256": sha256(file)}
