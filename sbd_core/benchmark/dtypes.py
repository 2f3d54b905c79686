"""What a forward pass of ONNX Runtime costs by rows and dtype, and each strategy's speed in it."""

import copy
import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from sbd_core.benchmark.forward_passes import forward_seconds, median_seconds
from sbd_core.benchmark.llama_cpp import by_llama_cpp
from sbd_core.benchmark.methods import (
    Method,
    by_engine,
    by_transformers,
    laid_out_as_usual,
    ours,
    time_methods,
)
from sbd_core.errors import ArgumentError
from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.hf_model import HuggingFaceModel

DTYPES: tuple[Literal["float32", "int8", "int4"], ...] = ("float32", "int8", "int4")
ROWS = (1, 5, 9, 17, 33)
NUM_CACHED = 100


def dtype_costs(
    model: HuggingFaceModel,
    prompts: Sequence[Sequence[int]],
    max_new_tokens: int,
    gguf: Path | None = None,
) -> dict[str, Any]:
    """{"dtypes": {dtype: {"rows", "tokens_per_second"}}, "others", "onnx_threads", "num_prompts"}.

    rows: {count: milliseconds of a forward pass and of its matrix products alone in ONNX Runtime,
    over those of one row, and over the products}. others: tokens a second of generate() and, with
    a `gguf` file of the same weights, llama.cpp. Medians of all prompts, every method in turn.
    Raises ArgumentError for a model that ONNX Runtime does not run here.
    """
    from sbd_core.models.backends.onnx.build import OnnxUnavailable, build, threads_of
    from sbd_core.models.backends.onnx.export import Exporter
    from sbd_core.models.backends.onnx.forward import session_of

    if model.device != "cpu" or not has_known_shape(model.model):
        rule = "must be Llama-shaped and on a CPU for dtypes to be measured"
        raise ArgumentError("model", rule, model.name)
    layers = model.adapter.layers if model.adapter else None
    num_threads = threads_of(model.model)
    found: dict[str, Any] = {}
    others = by_transformers(model, laid_out_as_usual(model), max_new_tokens, None)[:1]
    if gguf is not None:
        others.append(by_llama_cpp(model, gguf, max_new_tokens, num_threads))
    methods = list(others)
    for dtype in DTYPES:
        twin = copy.copy(model)
        try:
            twin.backend = build(model.model, dtype, layers)
        except OnnxUnavailable as error:
            if found:
                continue  # int4, where this processor's products are not exact
            raise ArgumentError("model", "must run in ONNX Runtime here", str(error)) from error
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            graph = Exporter(model.model, dtype).write_products(Path(folder))
            products = session_of(graph, num_threads)
        found[dtype] = {"rows": {str(count): _costs(twin, products, count) for count in ROWS}}
        first = found[dtype]["rows"]["1"]["milliseconds"]
        for cell in found[dtype]["rows"].values():
            cell["over_one_row"] = round(cell["milliseconds"] / first, 3)
        configs = ours(twin, max_new_tokens)
        # sbd is lossy, and `bench` without --dtypes times it.
        configs = {name: each for name, each in configs.items() if each.strategy != "sbd"}
        for name, config in configs.items():
            methods.append(Method(f"{dtype} {name}", by_engine(twin, config)))
    *_, times = time_methods(methods, prompts, 1)
    rates = {name: round(statistics.median(row.rates), 2) for name, row in times.items()}
    for used, cell in found.items():
        own = {name: rate for name, rate in rates.items() if name.startswith(f"{used} ")}
        cell["tokens_per_second"] = {name.split(" ", 1)[1]: rate for name, rate in own.items()}
    return {
        "dtypes": found,
        "others": {method.name: rates[method.name] for method in others},
        "num_prompts": len(prompts),
        "onnx_threads": num_threads,
    }


def _costs(model: HuggingFaceModel, products: Any, count: int) -> dict[str, float]:
    sizes = [(each.name, each.shape[1]) for each in products.get_inputs()]
    inputs = {name: np.ones((count, size), np.float32) for name, size in sizes}
    whole = forward_seconds(model, count, NUM_CACHED)
    alone = median_seconds(lambda: products.run(None, inputs), "cpu")
    return {
        "milliseconds": round(1000 * whole, 4),
        "products_milliseconds": round(1000 * alone, 4),
        "over_products": round(whole / alone, 3),
    }
