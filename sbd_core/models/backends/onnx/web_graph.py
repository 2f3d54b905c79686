"""Writes the graph with which a browser makes the forward passes of a single text.

The graph is that of export.py with other inputs and outputs, for R rows, L rows whose logits are
returned and C cache positions:

    token_ids (R), wanted (L): int32
    cosines, sines (R, head size / 2): rotary cosines and sines for the position of each row
    places (KV heads * R, 1): int64; for each row and KV head, an index in keys.N and values.N
    bias (R, C); with an adapter also is_of_block (R, 1)
    keys.N, values.N (KV heads * C, head size): the cache of layer N
outputs: logits (L, vocabulary); keys.N.new, values.N.new; with a sampler head also sampler
(L, 2 * width), the part of `into @ x` that comes from the hidden states (see SamplerHead).

Each entry of `places` is a single index, as ONNX Runtime Web on WebGPU would write entries of
several indices one after the other. A model with an adapter has only the graph with the adapter,
as two sessions would hold the weights twice.

On WebGPU each node of the graph costs a kernel launch, so attention is a single operator there.
For dtype int8, layers there multiply fp32 inputs by 8-bit weights, with a scale per 32 columns.

The other weights of a sampler head, with which the browser computes itself, are tables beside the
graph's weights.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx import TensorProto
from torch import Tensor
from torch.nn import Linear

from sbd_core.models.backends.onnx.export import (
    FLOAT,
    MIDDLE,
    OWN,
    Dtype,
    Exporter,
    Writer,
    values_of,
)
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.rounding import BLOCK, fits_blocks, in_8_bits
from sbd_core.models.web_folder import Parts


class WebExporter(Exporter):
    """Writes the graph of one model for a browser's CPU (WebAssembly)."""

    def __init__(self, model: Any, dtype: Dtype, adapter: BlockAdapter | None) -> None:
        """Take a Llama-shaped model and its block adapter, None if it has none.

        dtype: "int8" reads the embedding in 8 bits, as in_8_bits() rounds it, if blocks fit it.
        """
        super().__init__(model, dtype, None if adapter is None else adapter.layers)
        self._sampler = None if adapter is None else adapter.sampler
        self._has_coarse_rows = dtype == "int8" and fits_blocks(self.shape.hidden)

    def write_graph(self, file: Path, parts: Parts) -> dict[str, Any] | None:
        """Write the graph, and its weights to `parts`. Raises OSError.

        Returns where `parts` has the tables of the sampler head, None without one: in bytes, for
        of_token, the columns of `into` for embeddings (2 * width, hidden), and `out`; for the rows
        of embedding and head {"values"} in fp32, or {"integers", "scales"} as in in_8_bits().
        """
        self._write_graph(file, Writer(parts, reads_blocks=self.adapter is not None))
        if self._sampler is None:
            return None
        into, out = self._sampler
        of_token = into[:, self.shape.hidden :]
        return {
            "of_token": parts.place(_array(of_token)),
            "out": parts.place(_array(out)),
            "embedding": self._rows(self.model.model.embed_tokens.weight, parts),
            "head": self._rows(self.model.lm_head.weight, parts),
        }

    def _rows(self, weight: Tensor, parts: Parts) -> dict[str, int]:
        if not self._has_coarse_rows:
            return {"values": parts.place(_array(weight))}
        integers, scales = in_8_bits(weight)
        return {"integers": parts.place(integers.numpy()), "scales": parts.place(scales.numpy())}

    def _nodes(self) -> None:
        super()._nodes()
        if self._sampler is None:
            return
        w, of_hidden = self.writer, self._sampler[0][:, : self.shape.hidden]
        ones = w.matrix("ones", torch.ones(self.shape.hidden))
        kind, epsilon = "SimplifiedLayerNormalization", torch.finfo(torch.float32).eps
        read = w.node(kind, ["norm", ones], "sampler.read", axis=-1, epsilon=epsilon)
        weight = w.weight("sampler.of_hidden", lambda: of_hidden)
        w.node("Gemm", [read, weight], "sampler", transB=1)

    def _inputs(self) -> list[Any]:
        half = self.shape.head_size // 2
        return [
            *values_of(TensorProto.INT32, token_ids=["rows"], wanted=["num_logits"]),
            *values_of(TensorProto.INT64, places=["heads_of_rows", 1]),
            *values_of(FLOAT, cosines=["rows", half], sines=["rows", half]),
            *values_of(FLOAT, bias=["rows", "capacity"]),
            *self._block_inputs(),
            *self._caches(["places_of_heads", self.shape.head_size]),
        ]

    def _outputs(self) -> list[Any]:
        sizes = {"logits": ["num_logits", self.shape.vocabulary]}
        if self._sampler is not None:
            sizes["sampler"] = ["num_logits", len(self._sampler[0])]
        caches = self._caches(["places_of_heads", self.shape.head_size], ".new")
        return [*values_of(FLOAT, **sizes), *caches]

    def _embedded(self, module: Any) -> str:
        if not self._has_coarse_rows:
            return super()._embedded(module)
        w, (integers, scales) = self.writer, in_8_bits(module.weight)
        num_blocks = scales.shape[1]

        def gathered(part: str, table: Tensor) -> str:
            weight = w.weight(f"embedding.{part}", lambda: table)
            return w.node("Gather", [weight, "token_ids"], f"hidden.{part}")

        values = gathered("integers", integers)
        values = w.node("Cast", [values], "hidden.values", to=FLOAT)
        values = w.reshape(values, "hidden.blocks", -1, num_blocks, BLOCK)
        scale = w.reshape(gathered("scales", scales), "hidden.steps", -1, num_blocks, 1)
        values = w.node("Mul", [values, scale], "hidden.scaled")
        return w.reshape(values, "hidden", -1, self.shape.hidden)

    def _with_rotary(self, x: str, positions: str) -> str:
        """Apply the rotary embedding to x: row i takes row i of the cosines and sines."""
        return super()._with_rotary(x, self.writer.integers(0))

    def _cached(self, name: str, x: str) -> str:
        w, s = self.writer, self.shape
        rows = w.reshape(x, f"{name}.rows", -1, s.head_size)
        new = w.node("ScatterND", [name, "places", rows], f"{name}.new")
        return w.reshape(new, f"{name}.heads", 1, s.num_kv_heads, -1, s.head_size)

    def _queries_by_slot(self, query: str, name: str) -> str:
        s = self.shape
        asked = self.writer.reshape(query, f"{name}.asked", 1, -1, s.num_heads * s.head_size)
        return self._with_rotary(asked, "")

    def _attention_weights(self, scores: str, name: str) -> str:
        w, kv_heads = self.writer, self.shape.num_kv_heads
        group = self.shape.num_heads // kv_heads
        scores = w.reshape(scores, f"{scores}.by_head", kv_heads, group, -1, 0)
        shares = super()._attention_weights(scores, name)
        return w.reshape(shares, f"{shares}.rows", 1, kv_heads, -1, 0)

    def _by_row(self, mixed: str) -> str:
        return mixed


class WebGpuExporter(WebExporter):
    """Writes the graph of one model for WebGPU.

    It reorders the heads of the model in place, so the model is of no use afterwards.
    """

    def __init__(self, model: Any, dtype: Dtype, adapter: BlockAdapter | None) -> None:
        """Take the arguments of WebExporter, and reorder the heads of the model and its adapter."""
        super().__init__(model, dtype, adapter)
        self.dtype = "float32"
        s = self.shape
        self._heads = s.num_kv_heads, s.num_heads // s.num_kv_heads
        for attention in (layer.self_attn for layer in model.model.layers):
            for each in attention.q_proj.parameters():
                each.data = swapped(each.data, *self._heads)
            out = attention.o_proj.weight
            out.data = swapped(out.data.T, *self._heads).T
        if self.adapter is not None:
            self.adapter = [self._swapped_pairs(pairs) for pairs in self.adapter]
        widths = {each.in_features for each in model.modules() if isinstance(each, Linear)}
        self._is_in_blocks = dtype == "int8" and all(map(fits_blocks, widths))

    def _swapped_pairs(
        self, pairs: Mapping[str, tuple[Tensor, Tensor]]
    ) -> Mapping[str, tuple[Tensor, Tensor]]:
        (a, b), (out_a, out_b) = pairs["q"], pairs["o"]
        query, out = (a, swapped(b, *self._heads)), (swapped(out_a.T, *self._heads).T, out_b)
        return {**pairs, "q": query, "o": out}

    def _multiplied(
        self, name: str, x: str, weight: Callable[[], Tensor], shared: str | None = None
    ) -> str:
        if not self._is_in_blocks:
            return super()._multiplied(name, x, weight, shared)
        w, (rows, columns) = self.writer, weight().shape
        inputs = [x, *w.rounded_weight(name, lambda: in_blocks(weight()))]
        sizes = {"K": columns, "N": rows, "bits": 8, "block_size": BLOCK, "accuracy_level": 0}
        return w.node("MatMulNBits", inputs, name, domain=OWN, **sizes)

    def _nodes(self) -> None:
        w = self.writer
        rows = w.node("Unsqueeze", ["bias", w.integers(0, 2)], "bias.of_rows")
        rows = w.node("Concat", [rows] * self._heads[1], "bias.of_groups", axis=2)
        w.reshape(rows, "bias.of_heads", 1, 1, -1, 0)
        super()._nodes()

    def _mixed(self, query: str, keys: str, values: str, name: str) -> str:
        """Add attention as one operator, in which all heads of a group are queries of one KV head.

        For this, swapped() puts the groups' first heads first, then their second heads, and so on.
        """
        w, s = self.writer, self.shape
        width = s.num_kv_heads * s.head_size
        asked = w.reshape(self._queries_by_slot(query, name), f"{name}.asked.rows", 1, -1, width)
        inputs = [asked, keys, values, "", "", "bias.of_heads"]
        sizes: dict[str, Any] = {"num_heads": s.num_kv_heads, "scale": s.head_size**-0.5}
        mixed = w.node("MultiHeadAttention", inputs, f"{name}.mixed", domain=OWN, **sizes)
        return w.reshape(mixed, f"{name}.mixed.flat", -1, s.num_heads * s.head_size)


def swapped(weight: Tensor, kv_heads: int, group: int) -> Tensor:
    """Reorder rows from (KV head, head in its group, size) to (head in a group, KV head, size).

    kv_heads: number of KV heads. group: number of query heads for each KV head.
    """
    return weight.unflatten(0, (kv_heads, group, -1)).transpose(0, 1).flatten(0, 2).contiguous()


def in_blocks(weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Round a weight (out, in) as in_8_bits() does, to what MatMulNBits reads.

    Returns uint8 (out, blocks, 32), in which 128 stands for 0, and scales (out * blocks,).
    """
    integers, scales = in_8_bits(weight)
    numbers = (integers.int() + MIDDLE).to(torch.uint8).unflatten(1, (-1, BLOCK))
    return numbers.numpy(), scales.flatten().numpy()


def _array(values: Tensor) -> np.ndarray:
    """Convert a tensor to a contiguous fp32 array."""
    return np.ascontiguousarray(values.detach().float().numpy())
