"""Exports a trained model to a folder from which a browser can decode.

The folder holds a manifest, the tokenizer and, for each engine of the browser, an ONNX graph with
its weights, ready to run. The weights are those of the model or, for dtype int8, rounded to 8 bits;
those of a fetched base are rounded as in its GGUF file. A block adapter is rounded to 4 bits, its
sampler head to 8. Nothing is uploaded.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.files import replaced_folder, require_new_folder
from sbd_core.models.backends.llama.forward import has_known_shape
from sbd_core.models.bases import BASES
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.loading import read, read_with_adapter
from sbd_core.models.logits_processors import rules_of_folder
from sbd_core.models.mask_token import usable_mask_token_id
from sbd_core.models.model_folder import (
    WEB_MANIFEST,
    BlockSettings,
    end_token_ids,
    folder_of,
    is_block_adapter,
    own_repetition_penalty,
    reach_of,
)
from sbd_core.models.rounding import fits_blocks, rounded_to_4_bits, rounded_to_8_bits
from sbd_core.models.web_folder import (
    ENGINES,
    FORMAT,
    PART_BYTES,
    PRODUCTS,
    Parts,
    digest_of,
    entry_of,
)
from sbd_core.version import VERSION

Dtype = Literal["float32", "int8"]
MOST_BYTES = 2_000_000_000
"""Largest size in bytes of a model's weights in fp32, as WebAssembly has 4 GB of memory."""
TRIAL = tuple(range(24))
"""Prompt after which a browser compares its logits with Python's, as a check of its GPU."""


@dataclass(frozen=True, slots=True)
class WebExport:
    """The result of export_web().

    model: the model's name. folder: path of the export. dtype: float32 or int8, see export_web().
    digest: digest of the export's manifest.
    download: {engine of the browser: number of bytes that it fetches}, without the program that
        runs the graphs.
    """

    model: str
    folder: str
    dtype: str
    digest: str
    download: Mapping[str, int]

    def __str__(self) -> str:
        size, of_gpu = (f"{self.download[engine] / 1e6:.1f} MB" for engine in ENGINES)
        size = f"{size} to download, {of_gpu} for a GPU"
        return f"wrote {self.folder}: {self.model}, {self.dtype}, {size}"


def export_web(model: str | Path | None, out: str | Path, *, dtype: str | None = None) -> WebExport:
    """Write a model for browsers to the new folder `out`.

    model: folder or hub id of a trained model, or a block adapter; None is the bundled model.
    out: a new or empty folder; it stays unchanged if ArgumentError or ModelError is raised.
    dtype: "float32" or "int8", the dtype in which the graph multiplies matrices. None is int8 for
        an adapter whose base was fetched, else float32. int8 also rounds matrices to 8 bits in
        blocks first, except those of a fetched base.
    """
    from sbd_core.models.backends.onnx.build import products_graph

    target = require_new_folder(out)
    source = folder_of(model)
    if dtype not in (None, "float32", "int8"):
        raise ArgumentError("dtype", "must be float32 or int8", dtype)
    read_model, tokenizer, adapter, kind = read_rounded(source, dtype)
    name = source.resolve().name
    with torch.inference_mode():
        trial = read_model(torch.tensor([TRIAL])).logits[0, -1].topk(8)
    with replaced_folder(target) as fresh:
        if isinstance(tokenizer.chat_template, dict):  # named templates, of which one is used
            tokenizer.chat_template = tokenizer.get_chat_template()
        tokenizer.save_pretrained(fresh)
        plain = fresh / "tokenizer.json"  # rewritten without white space, a third of it
        data = json.loads(plain.read_text(encoding="utf-8"))
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        plain.write_text(text, encoding="utf-8")
        for_all = {file.name for file in fresh.iterdir()}
        if kind == "int8":
            # The graph by which a browser checks that its int8 products are exact.
            (fresh / PRODUCTS).write_bytes(products_graph())
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "name": name,
            "dtype": kind,
            "config": _config(read_model, tokenizer, name, adapter),
            "trial": list(zip(trial.indices.tolist(), trial.values.tolist(), strict=True)),
            "part_bytes": PART_BYTES,
            "graphs": _write_graphs(fresh, read_model, adapter, kind),
            "files": {file.name: entry_of(file) for file in sorted(fresh.iterdir())},
        }
        manifest["download"] = {}
        for engine, graph in manifest["graphs"].items():
            checks = {PRODUCTS} if engine == "wasm" and kind == "int8" else set()
            fetched = {graph["file"], *graph["parts"], *for_all, *checks}
            sizes = [manifest["files"][file]["size"] for file in fetched]
            manifest["download"][engine] = sum(sizes)
        manifest["digest"] = digest_of(manifest)
        (fresh / WEB_MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    return WebExport(name, str(target), kind, manifest["digest"], manifest["download"])


def read_rounded(
    source: Path, dtype: str | None = None
) -> tuple[Any, Any, BlockAdapter | None, Dtype]:
    """Read (model in fp32, tokenizer, block adapter or None, dtype), rounded as browsers have them.

    source: a model folder. dtype: as in export_web(); the result names the dtype if this is None.
    Raises ModelError, also for a model that browsers cannot run.
    """
    adapter = None
    if is_block_adapter(source):
        model, tokenizer, adapter = read_with_adapter(source, torch.float32)
    else:
        model, tokenizer = read(str(source), torch.float32)
    name = source.resolve().name
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
    is_fetched = adapter is not None and adapter.info.base in BASES
    is_int8 = dtype == "int8" or (dtype is None and is_fetched)
    # All weights of a fetched base are rounded but the mask token's row, which its adapter brought.
    coarse = list(model.parameters()) if is_int8 else []
    coarse = [model.get_input_embeddings().weight] if is_fetched else coarse
    with torch.no_grad():
        for weight in coarse:
            if weight.ndim == 2 and fits_blocks(weight.shape[1]):
                weight.copy_(rounded_to_8_bits(weight))
    if adapter is not None:
        tensors = adapter.tensors()
        for part, each in tensors.items():
            tensors[part] = each.float()
            if part != "mask_embedding" and fits_blocks(each.numel()):
                store = rounded_to_8_bits if part.startswith("sampler.") else rounded_to_4_bits
                tensors[part] = store(each.flatten()).view(each.shape)
        adapter = BlockAdapter.of(adapter.info, tensors)
    return model, tokenizer, adapter, "int8" if is_int8 else "float32"


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
        "width": model.config.intermediate_size,
        "num_parameters": sum(parameter.numel() for parameter in model.parameters()),
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


def _write_graphs(
    folder: Path, model: Any, adapter: BlockAdapter | None, dtype: Dtype
) -> dict[str, Any]:
    """Write the graph and weights of every engine; returns the manifest's entries of the graphs.

    The model is of no use afterwards, as the last graph reorders its heads.
    """
    from sbd_core.models.backends.onnx.web_graph import WebExporter, WebGpuExporter

    graphs, known = {}, dict[bytes, str]()
    for engine, exporter in zip(ENGINES, (WebExporter, WebGpuExporter), strict=True):
        file, parts = f"model-{engine}.onnx", Parts(folder, known)
        tables = exporter(model, dtype, adapter).write_graph(folder / file, parts)
        parts.close()
        graph = {"file": file, "parts": parts.files, "bytes": parts.size, "sampler": tables}
        graphs[engine] = graph
    return graphs
