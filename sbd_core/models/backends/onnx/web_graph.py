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

The graph has no weights file. Python and the browser compute each weight from smaller stored
tensors, by the same rule; see Weight.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import Tensor
from torch.nn import Linear

from sbd_core.models.backends.onnx.export import (
    LARGEST,
    MIDDLE,
    OWN,
    TINY,
    Dtype,
    Exporter,
    Operand,
    group_of,
    hadamard,
)
from sbd_core.models.block_adapter import GROUPS, LINEARS, AdapterLayers
from sbd_core.models.stored_tensors import BLOCK

NORMS = {
    "attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
}
"""{name of a layer's norm here: its name in transformers}."""
OF_HIDDEN = "sampler.of_hidden"
"""Name of the weight that holds the columns of a sampler head's `into` for hidden states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A weight of the graph: its place in a file that would hold all weights, and its rule.

    tensors: names in web_folder.tensors_of() of the tensors that the weight is computed from.
    rule: how the tensors become the weight. "values": stacked, in fp32. "diagonal": as a
        block-diagonal matrix, in fp32. "integers", "scales": stacked, rotated by `group`, then
        rounded by quantized() of export.py. "blocks.integers", "blocks.scales": stacked, then
        rounded by in_blocks(). "rounded.integers", "rounded.scales": a single tensor as it is
        stored, in 8 bits.
    offset, size: start and length in bytes.
    group: number of columns that are rotated together; None rotates no columns.
    turns_last: number of rows of the last tensor that are rotated together, before it is stacked;
        None rotates no rows. See GROUP of export.py.
    columns: (first, stop) of the columns taken from each tensor; None takes all.
    swaps: ("rows", KV heads, heads per group, i) reorders the rows of tensors[i] by swapped().
        ("columns", KV heads, heads per group, 0) reorders the columns of all tensors. None
        reorders nothing.
    """

    name: str
    rule: str
    tensors: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    offset: int
    size: int
    group: int | None = None
    turns_last: int | None = None
    columns: tuple[int, int] | None = None
    swaps: tuple[str, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class WebWeights:
    """The weights of a graph, in order.

    size, sha256: length in bytes and digest of a file that would hold all weights.
    """

    weights: tuple[Weight, ...]
    size: int
    sha256: str


class WebExporter(Exporter):
    """Writes the graph of one model for a browser's CPU (WebAssembly)."""

    def __init__(
        self,
        model: Any,
        dtype: Dtype,
        adapter: AdapterLayers | None,
        *,
        rounded_embedding: tuple[np.ndarray, np.ndarray] | None = None,
        sampler: Tensor | None = None,
    ) -> None:
        """Take a model, dtype and adapter as Exporter does.

        rounded_embedding: integers (vocabulary, hidden) and scales (vocabulary, blocks) of an
            embedding that is stored in 8 bits; None for any other embedding.
        sampler: the weight `into` of the model's sampler head, None if it has none.
        """
        super().__init__(model, dtype, adapter)
        self._rounded_embedding = rounded_embedding
        self._sampler = sampler
        # Rules of the parts of a product's weight.
        self._kinds = {"weight": "integers", "scales": "scales"} if dtype == "int8" else {}

    def write_graph(self, file: Path) -> WebWeights:
        """Write the graph without weights; returns how to compute the weights. Raises OSError."""
        sink, kept = _Sink(), dict[str, Any]()
        self._write_graph(file, sink, kept, reads_blocks=self.adapter is not None)  # type: ignore[arg-type]
        weights = [
            self._weight(name, str(dtype), tuple(shape), offset)
            for name, (dtype, shape, offset) in kept.items()
        ]
        return WebWeights(tuple(weights), sink.size, sink.digest.hexdigest())

    def _weight(self, name: str, dtype: str, shape: tuple[int, ...], offset: int) -> Weight:
        """Make the Weight of the graph's initializer `name`, whose bytes start at `offset`."""
        rule, tensors, last, is_turned = self._rule(name)
        size = int(np.dtype(dtype).itemsize * np.prod(shape))
        turns_last = group_of(self.shape.head_size) if last else None
        group = None
        if is_turned:
            width = self._width_of(name)
            group = group_of(self.shape.head_size if ".out." in name else width)
        return Weight(
            name=name,
            rule=rule,
            tensors=tuple(tensors),
            dtype=dtype,
            shape=shape,
            offset=offset,
            size=size,
            group=group,
            turns_last=turns_last,
            columns=(0, self.shape.hidden) if name == OF_HIDDEN else None,
            swaps=self._swaps(name, tensors),
        )

    def _swaps(self, name: str, tensors: list[str]) -> tuple[str, int, int, int] | None:
        """Return the field `swaps` of a Weight. It is None here, as only WebGPU reorders heads."""
        return None

    def _width_of(self, name: str) -> int:
        """Return the number of inputs of the linear layers whose joint weight is called `name`."""
        if name.startswith("head."):
            return self.shape.hidden
        _, index, product, _ = name.split(".", 3)
        module = self.model.model.layers[int(index)]
        return int(module.get_submodule(LINEARS[GROUPS[product][0]]).in_features)

    def _rule(self, name: str) -> tuple[str, list[str], bool, bool]:
        """Return (rule, tensor names, rotates_rows, rotates_columns) of the weight called `name`.

        rotates_rows: whether rows of the last tensor are rotated.
        rotates_columns: whether columns of all tensors are rotated.
        """
        is_plain = self.dtype == "float32"
        if name == OF_HIDDEN:
            return "values", ["sampler.into"], False, False
        parts = name.split(".")
        if parts[0] == "embedding":
            rule = f"rounded.{parts[1]}" if len(parts) > 1 else "values"
            return rule, ["model.embed_tokens.weight"], False, False
        kind = self._kinds.get(parts[-1], "values")
        if parts[0] == "head":
            is_tied = self.model.lm_head.weight is self.model.model.embed_tokens.weight
            source = "model.embed_tokens" if is_tied else "lm_head"
            if parts[-1] == "bias":
                return "values", ["lm_head.bias"], False, False
            return kind, [f"{source}.weight"], False, not is_plain
        if parts[0] == "norm":
            return "values", ["model.norm.weight"], False, False
        _, index, product, *rest = parts
        layer = f"model.layers.{index}"
        if product in NORMS:
            return "values", [f"{layer}.{NORMS[product]}.weight"], False, False
        linears, turns = GROUPS[product], product == "query_key_value" and not is_plain
        if rest[-1] == "norm" or "norm" in rest:
            head = "q" if rest[0] == "0" else "k"
            return "values", [f"{layer}.self_attn.{head}_norm.weight"], False, False
        if rest[0] == "B":
            rule = "values" if self._shares_down(int(index), linears) else "diagonal"
            return rule, [f"layers.{index}.{each}.B" for each in linears], turns, False
        leaf = "bias" if rest[0] == "bias" else "weight"
        names = [f"{layer}.{LINEARS[each]}.{leaf}" for each in linears]
        if rest[0] == "both":
            read = linears[:1] if self._shares_down(int(index), linears) else linears
            names = [*(f"layers.{index}.{each}.A" for each in read), *names]
        return kind, names, turns, not is_plain and leaf == "weight"

    def _shares_down(self, index: int, linears: Iterable[str]) -> bool:
        """Whether the adapter has the same matrix A for all these linear layers of a layer."""
        first, *others = [down for down, _ in self._pairs(index, *linears)]
        return all(torch.equal(down, first) for down in others)

    def _nodes(self) -> None:
        super()._nodes()
        if self._sampler is None:
            return
        w, sampler = self.writer, self._sampler[:, : self.shape.hidden].float()
        w.initializers.append(_constant("ones", torch.ones(self.shape.hidden)))
        kind, epsilon = "SimplifiedLayerNormalization", torch.finfo(torch.float32).eps
        read = w.node(kind, ["norm", "ones"], "sampler.read", axis=-1, epsilon=epsilon)
        w.node("Gemm", [read, w.weight(OF_HIDDEN, lambda: sampler)], "sampler", transB=1)

    def _inputs(self) -> list[Any]:
        s, make = self.shape, helper.make_tensor_value_info
        floats: dict[str, list[Any]] = {
            "cosines": ["rows", s.head_size // 2],
            "sines": ["rows", s.head_size // 2],
            "bias": ["rows", "capacity"],
        }
        if self.writer.reads_blocks:
            floats["is_of_block"] = ["rows", 1]
        return [
            make("token_ids", TensorProto.INT32, ["rows"]),
            make("wanted", TensorProto.INT32, ["num_logits"]),
            make("places", TensorProto.INT64, ["heads_of_rows", 1]),
            *(make(name, TensorProto.FLOAT, sizes) for name, sizes in floats.items()),
            *self._caches(),
        ]

    def _outputs(self) -> list[Any]:
        s, make = self.shape, helper.make_tensor_value_info
        logits = make("logits", TensorProto.FLOAT, ["num_logits", s.vocabulary])
        own = []
        if self._sampler is not None:
            sizes: list[Any] = ["num_logits", self._sampler.shape[0]]
            own = [make("sampler", TensorProto.FLOAT, sizes)]
        return [logits, *own, *self._caches(".new")]

    def _caches(self, suffix: str = "") -> list[Any]:
        sizes: list[Any] = ["places_of_heads", self.shape.head_size]
        return [
            helper.make_tensor_value_info(f"{part}.{index}{suffix}", TensorProto.FLOAT, sizes)
            for index in range(self.shape.num_layers)
            for part in ("keys", "values")
        ]

    def _embedded(self, module: Any) -> str:
        if self._rounded_embedding is None:
            return super()._embedded(module)
        w, (integers, scales) = self.writer, self._rounded_embedding
        num_blocks = scales.shape[1]

        def gathered(part: str, make: Callable[[], np.ndarray]) -> str:
            weight = w.weight(f"embedding.{part}", make)
            return w.node("Gather", [weight, "token_ids"], f"hidden.{part}")

        values = gathered("integers", lambda: integers)
        values = w.node("Cast", [values], "hidden.values", to=TensorProto.FLOAT)
        values = w.reshape(values, "hidden.blocks", -1, num_blocks, integers.shape[1] // num_blocks)
        scale = w.reshape(gathered("scales", lambda: scales), "hidden.steps", -1, num_blocks, 1)
        values = w.node("Mul", [values, scale], "hidden.scaled")
        return w.reshape(values, "hidden", -1, self.shape.hidden)

    def _rotated(self, name: str, x: str, size: int) -> str:
        """Rotate x (rows, size) by a Hadamard matrix that is stored in the graph itself."""
        w, group = self.writer, group_of(size)
        constant = f"hadamard.{group}"
        if constant not in w.constants:
            w.constants[constant] = constant
            w.initializers.append(_constant(constant, hadamard(group)))
        groups = w.reshape(x, f"{name}.x.groups", -1, group)
        groups = w.node("MatMul", [groups, constant], f"{name}.x.turned")
        return w.reshape(groups, f"{name}.x.rows", -1, size)

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
        if group == 1:
            return super()._attention_weights(scores, name)
        scores = w.reshape(scores, f"{scores}.by_head", kv_heads, group, -1, 0)
        shares = super()._attention_weights(scores, name)
        return w.reshape(shares, f"{shares}.rows", 1, kv_heads, -1, 0)

    def _by_row(self, mixed: str) -> str:
        return mixed


class WebGpuExporter(WebExporter):
    """Writes the graph of one model for WebGPU.

    It reorders the heads of the model in place, so the model is of no use afterwards.
    """

    def __init__(
        self, model: Any, dtype: Dtype, adapter: AdapterLayers | None, **rest: Any
    ) -> None:
        """Take the arguments of WebExporter, and reorder the heads of the model and its adapter."""
        super().__init__(model, "float32", adapter, **rest)
        s = self.shape
        self._heads = s.num_kv_heads, s.num_heads // s.num_kv_heads
        layers = [(each.self_attn.q_proj, each.self_attn.o_proj) for each in model.model.layers]
        for query, out in layers if self._heads[1] > 1 else []:
            for each in query.parameters():
                each.data = swapped(each.data, *self._heads)
            out.weight.data = swapped(out.weight.data.T, *self._heads).T
        if adapter is not None and self._heads[1] > 1:
            self.adapter = [self._swapped_pairs(pairs) for pairs in adapter]
        widths = {each.in_features for each in model.modules() if isinstance(each, Linear)}
        if dtype == "int8" and all(width % BLOCK == 0 for width in widths):
            self._kinds = {"weight": "blocks.integers", "scales": "blocks.scales"}

    def _swapped_pairs(
        self, pairs: Mapping[str, tuple[Tensor, Tensor]]
    ) -> Mapping[str, tuple[Tensor, Tensor]]:
        (a, b), (out_a, out_b) = pairs["q"], pairs["o"]
        query, out = (a, swapped(b, *self._heads)), (swapped(out_a.T, *self._heads).T, out_b)
        return {**pairs, "q": query, "o": out}

    def _swaps(self, name: str, tensors: list[str]) -> tuple[str, int, int, int] | None:
        product, part = name.split(".")[2:4] if name.startswith("layer.") else ("", "")
        if self._heads[1] == 1 or (product, part) == ("out", "bias"):
            return None
        if product == "query_key_value" and part in ("weight", "scales", "both", "bias", "B"):
            place = next(i for i, each in enumerate(tensors) if not each.endswith(".A"))
            return "rows", *self._heads, place
        is_of_out = product == "out" and part in ("weight", "scales", "both")
        return ("columns", *self._heads, 0) if is_of_out else None

    def _multiplied(
        self, name: str, x: Operand, weight: Callable[[], Tensor], shared: str | None = None
    ) -> str:
        if not self._kinds:
            return super()._multiplied(name, x, weight, shared)
        w, (rows, columns) = self.writer, weight().shape
        made: list[np.ndarray] = []

        def make_values() -> np.ndarray:
            numbers, scales = in_blocks(weight())
            made.append(scales)  # these are written next
            return numbers

        inputs = [x.values, w.weight(f"{name}.weight", make_values)]
        inputs.append(w.weight(f"{name}.scales", made.pop))
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
    """Round a weight (out, in) to 8 bits, with a scale for each block of 32 columns in a row.

    Returns uint8 (out, blocks, 32), in which 128 stands for 0, and scales (out * blocks,).
    """
    blocks = weight.unflatten(1, (-1, BLOCK))
    scales = blocks.abs().amax(2, keepdim=True).clamp_min(TINY) / LARGEST
    numbers = ((blocks / scales).round() + MIDDLE).to(torch.uint8)
    return numbers.numpy(), scales.flatten().numpy()


class _Sink:
    """A writable file that keeps only the number and the digest of the bytes written to it."""

    def __init__(self) -> None:
        self.digest, self.size = hashlib.sha256(), 0

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self.size

    def write(self, data: Any) -> None:
        """Count the bytes of `data`, which may be an array, and add them to the digest."""
        self.digest.update(data)
        self.size += memoryview(data).nbytes


def _constant(name: str, values: Tensor) -> Any:
    """Make an fp32 initializer that is stored in the graph itself."""
    array = np.ascontiguousarray(values.to(torch.float32).numpy())
    return helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.tobytes(), raw=True)
