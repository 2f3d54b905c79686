"""Exports a trained model to a folder from which a browser, or Python, can decode.

The folder holds ONNX graphs, the tokenizer, a manifest, and the weights in several files. A fetched
base model is stored with the rounding of its GGUF file; other models exactly, or in 8 bits for
dtype int8. A block adapter is stored in 4 bits, its sampler head in 8 bits. Nothing is uploaded.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.files import replaced_folder, require_new_folder
from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.bases import BASES
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.loading import read, read_with_adapter, require_source
from sbd_core.models.logits_processors import rules_of_folder
from sbd_core.models.mask_token import usable_mask_token_id
from sbd_core.models.model_folder import (
    WEB_MANIFEST,
    BlockSettings,
    end_token_ids,
    folder_of,
    is_block_adapter,
    is_web_folder,
    own_repetition_penalty,
    reach_of,
)
from sbd_core.models.stored_tensors import (
    Stored,
    exactly,
    fits_blocks,
    in_4_bits,
    in_8_bits,
    stored_weights,
)
from sbd_core.models.web_folder import (
    FORMAT,
    GRAPHS,
    PRODUCTS,
    WebFolder,
    digest_of,
    entry_of,
    read_web,
    write_parts,
)
from sbd_core.version import VERSION

MOST_BYTES = 2_000_000_000
"""Largest size in bytes of a model's weights in fp32, as WebAssembly has 4 GB of memory."""
EMBEDDING = "model.embed_tokens.weight"
TRIAL = tuple(range(24))
"""Prompt after which a browser compares its logits with Python's, as a check of its GPU."""


@dataclass(frozen=True, slots=True)
class WebExport:
    """The result of export_web().

    model: the model's name. folder: path of the export. dtype: float32 or int8, see export_web().
    digest: digest of the export's manifest.
    download: number of bytes that a browser fetches, besides the program that runs the graphs.
    """

    model: str
    folder: str
    dtype: str
    digest: str
    download: int

    def __str__(self) -> str:
        size = f"{self.download / 1e6:.1f} MB"
        return f"wrote {self.folder}: {self.model}, {self.dtype}, {size} to download"


def export_web(model: str | Path | None, out: str | Path, *, dtype: str | None = None) -> WebExport:
    """Write a model for browsers to the new folder `out`.

    model: folder or hub id of a trained model, or a block adapter; None is the bundled model.
    out: a new or empty folder; it stays unchanged if ArgumentError or ModelError is raised.
    dtype: "float32" or "int8", the dtype in which the graph multiplies matrices. None is int8 for
        an adapter whose base was fetched, else float32. int8 also stores matrices in 8 bits, except
        those of a fetched base.
    """
    from sbd_core.models.backends.onnx.build import products_graph

    target = require_new_folder(out)
    source = folder_of(model)
    if dtype not in (None, "float32", "int8"):
        raise ArgumentError("dtype", "must be float32 or int8", dtype)
    read_model, tokenizer, adapter = _read(source)
    name = source.resolve().name
    _require_fit(read_model, name, adapter)
    is_fetched = adapter is not None and adapter.info.base in BASES
    kind = dtype or ("int8" if is_fetched else "float32")
    tensors = _stored(read_model, adapter, kind, is_fetched=is_fetched)
    with replaced_folder(target) as fresh:
        read_model.config.save_pretrained(fresh)
        read_model.generation_config.save_pretrained(fresh)
        if isinstance(tokenizer.chat_template, dict):  # named templates, of which one is used
            tokenizer.chat_template = tokenizer.get_chat_template()
        tokenizer.save_pretrained(fresh)
        plain = fresh / "tokenizer.json"  # rewritten without white space, a third of it
        data = json.loads(plain.read_text(encoding="utf-8"))
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        plain.write_text(text, encoding="utf-8")
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "name": name,
            "dtype": kind,
            "adapter": adapter and {**asdict(adapter.info), "trained": {}},
            "config": _config(read_model, tokenizer, name, adapter),
            **write_parts(fresh, tensors),
        }
        del read_model
        if kind == "int8":
            # The graph by which a browser checks that its int8 products are exact.
            (fresh / PRODUCTS).write_bytes(products_graph())
        written = WebFolder(fresh, manifest)
        manifest["graphs"] = {name: _write_graph(written, name, tensors) for name in GRAPHS}
        parts = {part["file"] for part in manifest["parts"]}
        files = [file for file in sorted(fresh.iterdir()) if file.name not in parts]
        manifest["files"] = {file.name: entry_of(file) for file in files}
        sizes = [*manifest["files"].values(), *manifest["parts"]]
        manifest["download"] = sum(entry["size"] for entry in sizes)
        manifest["digest"] = digest_of(manifest)
        (fresh / WEB_MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    return WebExport(
        model=name,
        folder=str(target),
        dtype=kind,
        digest=manifest["digest"],
        download=manifest["download"],
    )


def _read(source: Path) -> tuple[Any, Any, BlockAdapter | None]:
    """Read (model in fp32, tokenizer, block adapter or None). Raises ModelError."""
    name = str(source)
    if is_web_folder(source):
        raise ModelError(f"model: {shown(name)} is an export for browsers already")
    is_folder = require_source(name)
    if is_block_adapter(source):
        return read_with_adapter(source, torch.float32)
    return *read(name, torch.float32, is_folder=is_folder), None


def _require_fit(model: Any, name: str, adapter: BlockAdapter | None) -> None:
    """Raise ModelError for a model that browsers cannot run."""
    subject = f"model: {shown(name)}"
    if not has_known_shape(model):
        kind = model.config.model_type
        raise ModelError(f"{subject} is of type {kind}, which cannot be exported as a graph")
    settings = BlockSettings.of(model.config, name)
    if adapter is None and not settings.is_trained:
        rule = f"is not trained for Set Block Decoding: {settings.how_to_train(name)}"
        raise ModelError(f"{subject} {rule}")
    size = 4 * sum(parameter.numel() for parameter in model.parameters())
    if size > MOST_BYTES:
        rule = f"a browser has room for {MOST_BYTES / 1e9:g} GB"
        raise ModelError(f"{subject} has weights of {size / 1e9:.1f} GB in fp32, and {rule}")


def _stored(
    model: Any, adapter: BlockAdapter | None, dtype: str, *, is_fetched: bool
) -> dict[str, Stored]:
    """Convert all tensors of a model and its adapter to the form that the export stores.

    is_fetched: whether the base was fetched; its weights are then taken from its GGUF file.
    """
    rows = {}
    if is_fetched:
        assert adapter is not None
        rows = stored_weights(adapter.info.base)
        mask = in_8_bits(model.get_input_embeddings().weight[adapter.info.mask_token_id][None])
        rows[EMBEDDING] = rows[EMBEDDING] + mask
    stored = {}
    for name, weight in model.named_parameters():
        is_matrix = weight.ndim == 2 and fits_blocks(weight[:1])  # graphs split rows in blocks
        store = in_8_bits if dtype == "int8" and is_matrix else exactly
        stored[name] = rows[name] if name in rows else store(weight)
    for name, tensor in ({} if adapter is None else adapter.tensors()).items():
        if name != "mask_embedding":  # stored as a row of the embedding
            store = in_8_bits if name.startswith("sampler.") else in_4_bits
            stored[name] = store(tensor) if fits_blocks(tensor) else exactly(tensor)
    return stored


def _config(model: Any, tokenizer: Any, name: str, adapter: BlockAdapter | None) -> dict[str, Any]:
    """Make the manifest's "config": what decoding needs besides a graph. Raises ModelError."""
    from sbd_core.models.backends.onnx.export import GraphShape

    mask = usable_mask_token_id(model, tokenizer)
    rules = rules_of_folder(model, mask, name)
    if rules.before or rules.after:
        kind = type((rules.before + rules.after)[0]).__name__
        raise ModelError(f"model: {shown(name)} asks for a {kind}, which no browser has")
    rotary = model.model.rotary_emb
    settings = BlockSettings.of(model.config, name)
    calibration = (adapter and adapter.info.calibration) or settings.calibration
    into = None if adapter is None or adapter.sampler is None else adapter.sampler[0]
    return {
        **asdict(GraphShape.of(model)),
        "max_positions": reach_of(model.config),
        "mask_token_id": mask,
        "end_token_ids": sorted(end_token_ids(model, tokenizer)),
        "block_range": settings.block_range,
        "repetition_penalty": own_repetition_penalty(model, name),
        "calibration": asdict(calibration),
        "rotary": {
            "inverse_frequencies": rotary.inv_freq.float().tolist(),
            "scaling": float(rotary.attention_scaling),
        },
        "has_adapter": adapter is not None,
        "sampler": None if into is None else {"width": into.shape[0] // 2},
    }


def _write_graph(target: WebFolder, engine: str, tensors: Mapping[str, Stored]) -> dict[str, Any]:
    """Write the ONNX graph for one engine; returns the graph's entry in the manifest.

    engine: a key of GRAPHS. tensors: the result of _stored().
    """
    from sbd_core.models.backends.onnx.web_graph import WebExporter, WebGpuExporter
    from sbd_core.models.stored_tensors import rounded_parts

    model, _, adapter = read_web(target)
    with torch.inference_mode():
        largest = model(torch.tensor([TRIAL])).logits[0, -1].topk(8)
    trial = list(zip(largest.indices.tolist(), largest.values.tolist(), strict=True))
    dtype, embedding = target.manifest["dtype"], tensors[EMBEDDING]
    is_rounded = dtype == "int8" and embedding.kind == "q8_0"
    exporter = (WebGpuExporter if engine == "webgpu" else WebExporter)(
        model,
        dtype,
        None if adapter is None else adapter.layers,
        rounded_embedding=rounded_parts(embedding) if is_rounded else None,
        sampler=None if adapter is None or adapter.sampler is None else adapter.sampler[0],
    )
    made = exporter.write_graph(target.folder / GRAPHS[engine])
    weights = []
    for weight in made.weights:
        entry = {**asdict(weight), "from": weight.tensors, "bytes": weight.size}
        del entry["tensors"], entry["size"]
        weights.append({key: value for key, value in entry.items() if value is not None})
    told = {"file": GRAPHS[engine], "bytes": made.size, "sha256": made.sha256}
    return {**told, "weights": weights, "trial": trial}
