"""Reads folders that export_web() wrote for browsers, and caches exports on this machine.

The weights are split into files small enough for any web host, in the formats of stored_tensors.py.
Cached exports are in the user's cache folder and may be deleted. Torch is imported only to read
tensors, as the page opens such folders before it loads a model.
"""

import hashlib
import json
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.errors import ArgumentError, ModelError, one_line, shown, shown_name
from sbd_core.files import PACKAGE, cache_folder, fill_cache, sha256
from sbd_core.models.bases import BASES
from sbd_core.models.model_folder import (
    ADAPTER_INFO,
    WEB_MANIFEST,
    is_block_adapter,
    is_web_folder,
    object_in,
)

if TYPE_CHECKING:
    from sbd_core.models.block_adapter import BlockAdapter
    from sbd_core.models.stored_tensors import Stored
FORMAT = 1
GRAPHS = {"wasm": "model.onnx", "webgpu": "model-webgpu.onnx"}
"""{engine of the browser: name of the file with its graph}."""
PRODUCTS = "products.onnx"
"""Name of a graph by which a browser checks that its int8 products are exact."""
PART_BYTES = 8_000_000
DAMAGED = "export it again"
BLOCK_OF_KIND = {"f32": (1, 4), "bf16": (1, 2), "q8_0": (32, 34), "q4_1": (32, 20)}
"""{kind of a stored tensor: (number of values in a block, bytes of the block)}."""


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
    Raises ModelError if a file is missing or altered, if the format is not this version's, or for a
    manifest that export_web() does not write.
    """
    subject = f"model: {shown(str(folder))}"
    try:
        manifest = object_in(folder / WEB_MANIFEST)
        if manifest["format"] != FORMAT:
            rule = f"was exported for format {manifest['format']}, and this version reads {FORMAT}"
            raise ModelError(f"{subject} {rule}: install the version that wrote it")
        if manifest["digest"] != digest_of(manifest):
            raise ModelError(f"{subject} has a manifest that was altered: {DAMAGED}")
        sizes = _checked_entries(manifest)
    except ModelError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = shown_name("lacks " * isinstance(error, KeyError) + one_line(error))
        raise ModelError(f"{subject} has a damaged {WEB_MANIFEST} ({why}): {DAMAGED}") from error
    for name, entry in sizes.items():
        _require_whole(folder, name, entry, subject, reads_all=reads_all)
    return WebFolder(folder, manifest)


def _checked_entries(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the entries of all files by name, after checking whatever Python reads of a manifest.

    Raises ValueError, KeyError, TypeError or AttributeError, with a message that names the entry.
    """

    def require(is_fine: object, entry: str, rule: str) -> None:
        if not is_fine:
            raise ValueError(f"{entry} must be {rule}")

    def is_count(value: object, least: int = 0) -> bool:
        return type(value) is int and value >= least

    def is_file(name: object) -> bool:  # as ui/web/engine/files.js asks it, too
        return isinstance(name, str) and bool(re.fullmatch(r"(?!\.*$)[A-Za-z0-9_.-]+", name))

    name, parts, config = manifest["name"], manifest["parts"], manifest["config"]
    is_part = isinstance(name, str) and name not in ("", "..") and Path(name).name == name
    require(is_part and name.isprintable(), "name", "one plain part of a path")
    require(is_count(manifest["download"]), "download", "a number of bytes")
    entries = [(part["file"], part) for part in parts] + [*manifest["files"].items()]
    for file, entry in entries:
        require(is_file(file), "a file's name", "letters, digits, dots, - and _")
        require(is_count(entry["size"]), f"size of {file}", "a number of bytes")
        require(isinstance(entry["sha256"], str), f"sha256 of {file}", "a text")
    for engine, graph in manifest["graphs"].items():
        require(graph["file"] in manifest["files"], f"graph of {engine}", "one of the files")
    low, high = config["block_range"]
    require(is_count(low, 1) and is_count(high, low), "block_range", "two rising whole numbers")
    room = sum(part["size"] for part in parts)
    for tensor, entry in manifest["tensors"].items():
        shape, (values, size) = entry["shape"], BLOCK_OF_KIND[entry["kind"]]
        is_shape = isinstance(shape, list) and all(is_count(each, 1) for each in shape)
        require(is_shape, f"shape of {tensor}", "a list of whole numbers")
        require(entry["bytes"] * values == size * math.prod(shape), tensor, "of its shape")
        is_inside = is_count(entry["offset"]) and entry["offset"] + entry["bytes"] <= room
        require(is_inside, tensor, "inside the parts")
    if manifest["adapter"] is not None:
        vocabulary, _ = manifest["tensors"]["model.embed_tokens.weight"]["shape"]
        mask = manifest["adapter"]["mask_token_id"]
        require(is_count(mask) and mask < vocabulary, "mask_token_id", "a row of the embedding")
    return dict(entries)


def _require_whole(
    folder: Path, name: str, entry: Mapping[str, Any], subject: str, *, reads_all: bool
) -> None:
    file = folder / name
    if not file.is_file():
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
    from sbd_core.models.block_adapter import LINEARS, BlockAdapter, BlockAdapterInfo
    from sbd_core.models.loading import LOADING_ERRORS, require_whole
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
            model, report = kind.from_pretrained(
                None,
                config=config,
                state_dict=weights,
                attn_implementation="sdpa",
                output_loading_info=True,
                ignore_mismatched_sizes=True,
            )
            if report["mismatched_keys"]:
                raise ValueError(f"{sorted(report['mismatched_keys'])[0][0]} is of another shape")
            model.generation_config = GenerationConfig.from_pretrained(folder, **where)
            tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    except LOADING_ERRORS as error:
        raise ModelError(
            f"model: {shown(folder)} cannot be read: {one_line(error)}; {DAMAGED}"
        ) from error
    require_whole(folder, report, "model")
    told, adapter = web.manifest["adapter"], None
    if told is not None:
        try:
            info = BlockAdapterInfo.of(told)
            for index, layer in enumerate(model.model.layers):
                for name, place in LINEARS.items():
                    (out, into), key = (
                        layer.get_submodule(place).weight.shape,
                        f"layers.{index}.{name}",
                    )
                    found = tensors[f"{key}.A"].shape, tensors[f"{key}.B"].shape
                    if found != ((info.rank, into), (out, info.rank)):
                        raise ValueError(f"{key} is of another shape")
            if sampler := web.manifest["config"]["sampler"]:
                width, hidden = sampler["width"], model.config.hidden_size
                found = tensors["sampler.into"].shape, tensors["sampler.out"].shape
                if found != ((2 * width, 2 * hidden), (hidden, width)):
                    raise ValueError("its sampler head is of another shape")
            mask = tensors["model.embed_tokens.weight"][info.mask_token_id]
            adapter = BlockAdapter.of(info, {**tensors, "mask_embedding": mask})
        except (ValueError, KeyError, TypeError, AttributeError, ArgumentError) as error:
            rule = f"has a damaged block adapter: {one_line(error)}; {DAMAGED}"
            raise ModelError(f"model: {shown(folder)} {rule}") from error
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
    return exports_folder() / f"{whole.name}-{owner}-{state.hexdigest()[:12]}"
