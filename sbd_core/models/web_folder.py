"""Reads folders that export_web() wrote for browsers, and caches exports on this machine.

The weights are split into files small enough for any web host, in the formats of stored_tensors.py.
Cached exports are in the user's cache folder and may be deleted. Torch is imported only to read
tensors, as the page opens such folders before it loads a model.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.errors import ModelError, one_line, shown
from sbd_core.files import sha256
from sbd_core.models.model_folder import WEB_MANIFEST, object_in

if TYPE_CHECKING:
    from sbd_core.models.block_adapter import BlockAdapter
    from sbd_core.models.stored_tensors import Stored
import shutil

from sbd_core.files import PACKAGE, cache_folder, new_work_folder
from sbd_core.models.bases import BASES
from sbd_core.models.model_folder import ADAPTER_INFO, is_block_adapter, is_web_folder

FORMAT = 1
GRAPHS = {"wasm": "model.onnx", "webgpu": "model-webgpu.onnx"}
"""{engine of the browser: name of the file with its graph}."""
PRODUCTS = "products.onnx"
"""Name of a graph by which a browser checks that its int8 products are exact."""
PART_BYTES = 8_000_000
DAMAGED = "export it again"


@dataclass(frozen=True, slots=True)
class WebFolder:
    """A folder that export_web() wrote. manifest: facts about the model, and where tensors are."""

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
    def names(self) -> tuple[str, ...]:
        """Names of the folder's files, the manifest first."""
        parts = [part["file"] for part in self.manifest["parts"]]
        return (WEB_MANIFEST, *self.manifest["files"], *parts)


def open_web(folder: Path, *, reads_all: bool = True) -> WebFolder:
    """Open a folder that export_web() wrote, and check its files.

    reads_all: whether to check the files' digests as well as their sizes.
    Raises ModelError if a file is missing or altered, or if the format is not this version's.
    """
    subject = f"model: {shown(str(folder))}"
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
    """Compute the digest of a manifest; its own entry "digest" is left out."""
    told = {name: value for name, value in manifest.items() if name != "digest"}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def write_parts(folder: Path, tensors: Mapping[str, "Stored"]) -> dict[str, Any]:
    """Write tensors to files weights-NN.bin, in order; tensors with equal bytes are written once.

    Returns two entries for the manifest: "parts" lists the files with sizes and digests, "tensors"
    gives each tensor's kind, shape, offset and length. Raises OSError.
    """
    entries, kept, end = {}, dict[bytes, int](), 0
    for name, stored in tensors.items():
        offset = kept.setdefault(stored.data, end)
        end = max(end, offset + len(stored.data))
        entry = {"kind": stored.kind, "shape": list(stored.shape), "offset": offset}
        entries[name] = {**entry, "bytes": len(stored.data)}
    parts = []
    for index, data in enumerate(_pieces(kept)):
        file = folder / f"weights-{index:02}.bin"
        file.write_bytes(data)
        parts.append({"file": file.name, **entry_of(file)})
    return {"parts": parts, "tensors": entries}


def _pieces(tensors: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for data in tensors:
        held += data
        while len(held) >= PART_BYTES:
            yield bytes(held[:PART_BYTES])
            del held[:PART_BYTES]
    if held:
        yield bytes(held)


def entry_of(file: Path) -> dict[str, Any]:
    """Make a file's entry for the manifest: its size in bytes and its SHA-256."""
    return {"size": file.stat().st_size, "sha256": sha256(file)}


OF_MODEL = ("model.", "lm_head.")
"""How names of a transformers model's weights begin; an adapter's begin otherwise."""


def tensors_of(web: WebFolder) -> "dict[str, Stored]":
    """Read a folder's tensors, keyed by their names in transformers or BlockAdapter.tensors()."""
    from sbd_core.models.stored_tensors import Stored

    parts = (web.folder / part["file"] for part in web.manifest["parts"])
    data, tensors = b"".join(part.read_bytes() for part in parts), {}
    for name, entry in web.manifest["tensors"].items():
        part = data[entry["offset"] : entry["offset"] + entry["bytes"]]
        tensors[name] = Stored(entry["kind"], tuple(entry["shape"]), part)
    return tensors


def read_web(web: WebFolder) -> "tuple[Any, Any, BlockAdapter | None]":
    """Read (model in fp32, tokenizer, block adapter or None) from a folder. Raises ModelError.

    The weights are the same, to the bit, as those that a browser computes from the folder.
    """
    from sbd_core.models.block_adapter import BlockAdapter, BlockAdapterInfo
    from sbd_core.models.runtime import quietly

    tensors = {name: stored.tensor() for name, stored in tensors_of(web).items()}
    folder = str(web.folder)
    try:
        with quietly():
            from transformers import (
                MODEL_FOR_CAUSAL_LM_MAPPING,
                AutoConfig,
                AutoTokenizer,
                GenerationConfig,
            )

            where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            config = AutoConfig.from_pretrained(folder, **where)
            if config.get_text_config().num_hidden_layers < 1:
                raise ValueError("its config names no layer (num_hidden_layers)")
            kind: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
            weights = {n: tensor for n, tensor in tensors.items() if n.startswith(OF_MODEL)}
            options: dict[str, Any] = {"config": config, "state_dict": weights}
            model: Any = kind.from_pretrained(None, attn_implementation="sdpa", **options)
            model.generation_config = GenerationConfig.from_pretrained(folder, **where)
            tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise ModelError(
            f"model: {shown(folder)} cannot be read: {one_line(error)}; {DAMAGED}"
        ) from error
    told, adapter = web.manifest["adapter"], None
    if told is not None:
        info = BlockAdapterInfo.of(told)
        mask = tensors["model.embed_tokens.weight"][info.mask_token_id]
        adapter = BlockAdapter.of(info, {**tensors, "mask_embedding": mask})
    return model, tokenizer, adapter


CODE = (
    "models/web_export.py",
    "models/stored_tensors.py",
    "models/web_folder.py",
    *(f"models/backends/onnx/{name}.py" for name in ("export", "web_graph")),
)
"""Source files whose changes make a cached export outdated."""


def exports_folder() -> Path:
    """The folder of cached exports."""
    return cache_folder() / "web"


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

    Raises SetBlockDecodingError, OSError.
    """
    kept = find_export(folder)
    if kept is not None:
        return kept
    from sbd_core.models.web_export import export_web

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
    return exports_folder() / f"{whole.name}-{owner}-{state.hexdigest()[:12]}"
