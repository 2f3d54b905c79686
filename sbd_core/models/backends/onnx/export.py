"""Writes a Llama-shaped transformers model as an ONNX graph, from its loaded weights.

The graph makes one forward pass. Its rows are the tokens of one or more texts, in any order, and
its inputs say where each row belongs; the input `bias` is the only attention mask. Operators are
ONNX's (opset 21) and ONNX Runtime's own `com.microsoft`, which onnxruntime-web has too.

inputs (R rows, S slots of texts, W rows of the longest of them, C positions of capacity):
    token_ids (R), positions (1, R), wanted (L): the rows whose logits are asked for
    cosines, sines (positions, half a head): the rotary table
    places (R, KV heads, 3): slot, head and position where a row's keys and values are written
    queries (S, W): the rows of each slot's text, padded by any row
    rows (R): index of each row in queries, flattened
    query_positions (S, W): positions of the rows in queries
    bias (S, 1, G W, C): added to the scores, 0 where a row may attend and -inf where not; once for
        each of the G heads that share a KV head
    keys.N, values.N (S, KV heads, C, head size) of each layer
    is_of_block (R, 1): with an adapter 1 for the rows of blocks, 0 for the others
outputs: logits (L, vocabulary), and keys.N.new, values.N.new. The backend binds the latter to the
memory of keys.N and values.N, so that they are written in place and no forward pass copies the
cache.

A block adapter (sbd_core.models.block_adapter) is in a second graph, so that forward passes without
rows of blocks run none of its nodes. Its A is stacked on the base's weight, as one product of both
costs little more than the base's alone. In causal rows the outputs of A are multiplied by 0, so
that B adds nothing.

In int8, linear layers multiply integers. Inputs and weights are first rotated by hadamard(); then
each row of x is rounded to uint8 around 128, scaled by its own largest value, and each weight to
int8, with a scale for each output. Integer sums are exact, so a row's product does not depend on
other rows, threads or the kernel. All else stays fp32, even an adapter's B.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import Tensor

from sbd_core.models.block_adapter import AdapterLayers, Pairs, side_by_side

Dtype = Literal["float32", "int8"]
GRAPH_FILE, WEIGHTS_FILE = "model.onnx", "weights.bin"
BLOCKS_GRAPH_FILE = "model-blocks.onnx"
"""The graph with an adapter, for forward passes that read blocks."""
IR_VERSION, OPSET = 10, 21
OWN = "com.microsoft"
LARGEST, MIDDLE = 127, 128
"""The largest integer in int8, and the uint8 that stands for 0."""
TINY = 1e-30
"""Smallest scale of a weight's column, as one of zeros needs a scale too."""
ALIGNED = 4096
"""Alignment in bytes of tensors in the weights file, so that it can be memory-mapped."""


@dataclass(slots=True)
class Writer:
    """Collects the nodes and weights of a graph. Weights are computed when they are written."""

    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Callable[[], Tensor | np.ndarray]] = field(default_factory=dict)
    constants: dict[tuple[int, ...] | str, str] = field(default_factory=dict)
    initializers: list[Any] = field(default_factory=list)
    reads_blocks: bool = False
    """Whether an adapter is part of the graph."""

    def node(
        self, kind: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node with one output; node and output are called `name`, which is returned."""
        self.nodes.append(
            helper.make_node(kind, list(inputs), [name], name, domain=domain, **attributes)
        )
        return name

    def weight(self, name: str, make: Callable[[], Tensor | np.ndarray]) -> str:
        """Add a tensor that `make` will compute to the weights file; returns its name."""
        self.weights[name] = make
        return name

    def number(self, name: str, value: float, kind: int = TensorProto.FLOAT) -> str:
        """Add a constant of one number, unless one called `name` is there; returns `name`."""
        if name not in self.constants:
            self.constants[name] = name
            self.initializers.append(helper.make_tensor(name, kind, [], [value]))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant of int64 values, such as a shape, unless it is there; returns its name."""
        name = self.constants.get(values)
        if name is None:
            name = self.constants[values] = f"integers.{len(self.constants)}"
            self.initializers.append(
                helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
            )
        return name

    def reshape(self, x: str, name: str, *shape: int) -> str:
        """Add a Reshape; in `shape` 0 keeps a dimension and -1 takes what is left."""
        return self.node("Reshape", [x, self.integers(*shape)], name)


@dataclass(frozen=True, slots=True)
class GraphShape:
    """Sizes that the backend needs to make the graph's inputs."""

    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    hidden: int
    vocabulary: int

    @classmethod
    def of(cls, model: Any) -> "GraphShape":
        """The sizes of a model that has_known_shape()."""
        attention = model.model.layers[0].self_attn
        size = attention.head_dim
        vocabulary, hidden = model.lm_head.weight.shape
        return cls(
            num_layers=len(model.model.layers),
            num_heads=attention.q_proj.out_features // size,
            num_kv_heads=attention.k_proj.out_features // size,
            head_size=size,
            hidden=hidden,
            vocabulary=vocabulary,
        )


class Exporter:
    """Writes the graph of one model.

    Methods take and return names of values in the graph: "x (rows, n)" is the name of a value of
    that shape.
    """

    def __init__(
        self, model: Any, dtype: Dtype = "float32", adapter: AdapterLayers | None = None
    ) -> None:
        """Take a model that has_known_shape(), and the layers of its block adapter or None."""
        self.model = model
        self.adapter = adapter
        self.shape = GraphShape.of(model)
        self.dtype = dtype
        self.writer = Writer()

    def write(self, folder: Path) -> None:
        """Write the graphs and their weights into an existing folder. Raises OSError."""
        kept: dict[str, Any] = {}
        with (folder / WEIGHTS_FILE).open("wb") as weights:
            if self.adapter is not None:
                self._write_graph(folder / BLOCKS_GRAPH_FILE, weights, kept, reads_blocks=True)
            self._write_graph(folder / GRAPH_FILE, weights, kept)

    def _write_graph(
        self, file: Path, weights: BinaryIO, kept: dict[str, Any], *, reads_blocks: bool = False
    ) -> None:
        """Write a graph, and append its weights to the weights file unless they are in `kept`.

        kept: {name: (dtype, shape, offset)} of the weights in the file; new ones are added. In fp32
        a base's weight that lies in the file below the adapter's A is not written again.
        """
        self.writer = Writer(reads_blocks=reads_blocks)
        self._nodes()
        for name, make in self.writer.weights.items():
            if name in kept:
                continue
            value = np.ascontiguousarray(make())
            both = kept.get(name.replace(".weight", ".both.weight"))
            if both is not None and self.dtype == "float32":
                place = both[2] + math.prod(both[1]) * value.itemsize - value.nbytes
            else:
                weights.write(b"\0" * (-weights.tell() % ALIGNED))
                place = weights.tell()
                weights.write(value.data)
            kept[name] = value.dtype, value.shape, place
        tensors = list(self.writer.initializers)
        tensors += [_external(name, *kept[name]) for name in self.writer.weights]
        graph = helper.make_graph(
            self.writer.nodes, "forward", self._inputs(), self._outputs(), tensors
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        file.write_bytes(proto.SerializeToString(deterministic=True))

    def _caches(self, suffix: str = "") -> list[Any]:
        s = self.shape
        sizes: list[Any] = ["slots", s.num_kv_heads, "capacity", s.head_size]
        return [
            helper.make_tensor_value_info(f"{part}.{index}{suffix}", TensorProto.FLOAT, sizes)
            for index in range(s.num_layers)
            for part in ("keys", "values")
        ]

    def _inputs(self) -> list[Any]:
        s, make = self.shape, helper.make_tensor_value_info
        integers: dict[str, list[Any]] = {
            "token_ids": ["rows"],
            "positions": [1, "rows"],
            "wanted": ["num_logits"],
            "places": ["rows", s.num_kv_heads, 3],
            "queries": ["slots", "width"],
            "query_positions": ["slots", "width"],
            "rows": ["rows"],
        }
        floats: dict[str, list[Any]] = {
            "cosines": ["reach", s.head_size // 2],
            "sines": ["reach", s.head_size // 2],
            "bias": ["slots", 1, "queries_of_group", "capacity"],
        }
        if self.writer.reads_blocks:
            floats["is_of_block"] = ["rows", 1]
        return [
            *(make(name, TensorProto.INT64, sizes) for name, sizes in integers.items()),
            *(make(name, TensorProto.FLOAT, sizes) for name, sizes in floats.items()),
            *self._caches(),
        ]

    def _outputs(self) -> list[Any]:
        sizes: list[Any] = ["num_logits", self.shape.vocabulary]
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, sizes)
        return [logits, *self._caches(".new")]

    def _nodes(self) -> None:
        w, inner, head = self.writer, self.model.model, self.model.lm_head
        hidden = self._embedded(inner.embed_tokens)
        more = None
        for index, layer in enumerate(inner.layers):
            hidden, more = self._layer(index, layer, hidden, more)
        wanted = w.node("Gather", [hidden, "wanted"], "last")
        more_wanted = w.node("Gather", [str(more), "wanted"], "last.more")
        normed, _ = self._norm("norm", inner.norm, wanted, more_wanted)
        shares_embedding = head.weight is inner.embed_tokens.weight and self.dtype == "float32"
        self._product("head", [head], normed, shared="embedding" if shares_embedding else None)
        w.nodes[-1].output[0] = "logits"

    def _embedded(self, module: Any) -> str:
        """Add the embedding; returns hidden states (rows, hidden)."""
        embedding = self.writer.weight("embedding", module.weight.detach().float)
        return self.writer.node("Gather", [embedding, "token_ids"], "hidden")

    def _norm(self, name: str, module: Any, x: str, more: str | None) -> tuple[str, str]:
        """Add an RMSNorm of x + more, both (rows, n); returns (the norm, x + more).

        more: None adds nothing to x.
        """
        w, epsilon = self.writer, float(module.variance_epsilon)
        scale = w.weight(f"{name}.weight", module.weight.detach().float)
        if more is None:
            kind = "SimplifiedLayerNormalization"
            return w.node(kind, [x, scale], name, axis=-1, epsilon=epsilon), x
        outputs = [name, "", "", f"{name}.sum"]
        kind = "SkipSimplifiedLayerNormalization"
        w.nodes.append(
            helper.make_node(kind, [x, more, scale], outputs, name, domain=OWN, epsilon=epsilon)
        )
        return name, outputs[-1]

    def _rotated(self, name: str, x: str, size: int) -> str:
        """Rotate x (rows, size) for integer products; see GROUP."""
        w, group = self.writer, group_of(size)
        matrix = w.weight(f"hadamard.{group}", lambda: hadamard(group))
        groups = w.reshape(x, f"{name}.x.groups", -1, group)
        groups = w.node("MatMul", [groups, matrix], f"{name}.x.turned")
        return w.reshape(groups, f"{name}.x.rows", -1, size)

    def _rounded(self, name: str, x: str) -> "Operand":
        """Round x (rows, n) to uint8, with a scale per row.

        A row of zeros becomes NaN and then arbitrary integers, which its scale of 0 makes 0 again.
        """
        w = self.writer
        sizes = w.node("Abs", [x], f"{name}.x.sizes")
        scale = w.node("ReduceMax", [sizes, w.integers(-1)], f"{name}.x.scale", keepdims=1)
        share = w.node("Div", [x, scale], f"{name}.x.share")
        step, middle = w.number("step", 1 / LARGEST), w.number("middle", MIDDLE, TensorProto.UINT8)
        return Operand(w.node("QuantizeLinear", [share, step, middle], f"{name}.x.integers"), scale)

    def _product(
        self,
        name: str,
        linears: Sequence[Any],
        x: str,
        *,
        pairs: Pairs = (),
        shared: str | None = None,
        turned: int | None = None,
        turns_last: int | None = None,
    ) -> Sequence[str]:
        """Add linear layers that share the input x (rows, in); returns their outputs (rows, out).

        pairs: the adapter's (A, B) of each layer.
        shared: name of the layers' weight, if it is in the graph already.
        turned: size of the groups in which x is rotated already; None rotates x here (in int8).
        turns_last: size of the groups in which to rotate the last layer's output; None leaves it.
        """
        w, group = self.writer, turned or group_of(linears[0].in_features)
        is_plain = self.dtype == "float32"

        def joined(weights: Sequence[Tensor]) -> Tensor:
            """Stack weights that are applied to x, rotated as x is."""
            weight = torch.cat([each.detach().float() for each in weights])
            return weight if is_plain else turned_columns(weight, group)

        def written(parts: Sequence[Tensor]) -> list[Tensor]:
            """Convert the layers' weights or biases to fp32, the last one rotated by turns_last."""
            *others, last = (part.detach().float() for part in parts)
            return [*others, turned_rows(last, turns_last) if turns_last and not is_plain else last]

        if not is_plain and turned is None:
            x = self._rotated(name, x, linears[0].in_features)
        operand = Operand(x, None) if is_plain else self._rounded(name, x)
        weights = [y.weight for y in linears]
        sizes = [y.out_features for y in linears]
        if pairs and w.reads_blocks:
            ups = written([b for _, b in pairs])
            down, up = side_by_side([(a, b) for (a, _), b in zip(pairs, ups, strict=True)])
            both = self._multiplied(
                f"{name}.both", operand, lambda: joined([down, *written(weights)])
            )
            parts = [f"{name}.low", f"{name}.base"]
            low, base = self._split(both, parts, [len(down), sum(sizes)])
            low = w.node("Mul", [low, "is_of_block"], f"{low}.of_blocks")
            inputs = [low, w.weight(f"{name}.B", lambda: up), base]
            product = w.node("Gemm", inputs, name, transB=1)
        else:
            product = self._multiplied(
                name, operand, lambda: joined(written(weights)), shared=shared
            )
        if operand.scale is not None:
            product = w.node("Mul", [product, operand.scale], f"{name}.scaled")
        if linears[0].bias is not None:
            bias = w.weight(f"{name}.bias", lambda: torch.cat(written([y.bias for y in linears])))
            product = w.node("Add", [product, bias], f"{name}.biased")
        return self._split(product, [f"{name}.{i}" for i in range(len(sizes))], sizes)

    def _multiplied(
        self, name: str, x: "Operand", weight: Callable[[], Tensor], shared: str | None = None
    ) -> str:
        """Multiply x by a weight (out, in); if x has a scale, the caller multiplies by that."""
        w = self.writer
        if x.scale is None:
            values = shared or w.weight(f"{name}.weight", weight)
            return w.node("Gemm", [x.values, values], name, transB=1)
        made: list[np.ndarray] = []

        def make_values() -> np.ndarray:
            numbers, scales = quantized(weight())
            made.append(scales)  # these are written next
            return numbers

        values = w.weight(f"{name}.weight", make_values)
        scales = w.weight(f"{name}.scales", made.pop)
        step, middle = w.number("step", 1 / LARGEST), w.number("middle", MIDDLE, TensorProto.UINT8)
        # One per weight, as ONNX Runtime may rewrite a weight together with its zero.
        zero = w.number(f"{name}.zero", 0, TensorProto.INT8)
        inputs = [x.values, values, step, scales, middle, zero]
        return w.node("MatMulIntegerToFloat", inputs, name, domain=OWN)

    def _pairs(self, index: int, *parts: str) -> Pairs:
        """The adapter's (A, B) of the linear layers `parts` of a layer; [] without an adapter."""
        return [] if self.adapter is None else [self.adapter[index][part] for part in parts]

    def _split(self, x: str, names: Sequence[str], sizes: Sequence[int]) -> Sequence[str]:
        if len(sizes) == 1:
            return [x]
        inputs = [x, self.writer.integers(*sizes)]
        self.writer.nodes.append(helper.make_node("Split", inputs, list(names), axis=1))
        return names

    def _layer(self, index: int, layer: Any, hidden: str, more: str | None) -> tuple[str, str]:
        """Add one layer; hidden states enter and leave as two values (rows, hidden) to sum."""
        w, name = self.writer, f"layer.{index}"
        x, hidden = self._norm(f"{name}.attention_norm", layer.input_layernorm, hidden, more)
        out = self._attention(index, layer.self_attn, x)
        x, hidden = self._norm(
            f"{name}.feed_forward_norm", layer.post_attention_layernorm, hidden, out
        )
        mlp, pairs = layer.mlp, self._pairs(index, "gate", "up")
        gate, up = self._product(f"{name}.gate_up", [mlp.gate_proj, mlp.up_proj], x, pairs=pairs)
        silu = w.node("QuickGelu", [gate], f"{name}.silu", domain=OWN, alpha=1.0)
        x = w.node("Mul", [silu, up], f"{name}.gated")
        pairs = self._pairs(index, "down")
        [product] = self._product(f"{name}.down", [mlp.down_proj], x, pairs=pairs)
        return hidden, product

    def _attention(self, index: int, module: Any, x: str) -> str:
        """Add a layer's attention with its linear layers; takes and returns (rows, hidden)."""
        w, s, name = self.writer, self.shape, f"layer.{index}"
        size, kv_heads = s.head_size, s.num_kv_heads
        query, key, value = self._product(
            f"{name}.query_key_value",
            [module.q_proj, module.k_proj, module.v_proj],
            x,
            pairs=self._pairs(index, "q", "k", "v"),
            turns_last=group_of(size),
        )
        key = w.reshape(
            self._normed_heads(key, getattr(module, "k_norm", None), kv_heads),
            f"{key}.text",
            1,
            -1,
            kv_heads * size,
        )
        keys = self._cached(f"keys.{index}", self._with_rotary(key, "positions"))
        values = self._cached(f"values.{index}", value)

        query = self._normed_heads(query, getattr(module, "q_norm", None), s.num_heads)
        mixed = self._mixed(query, keys, values, name)
        pairs, turned = self._pairs(index, "o"), group_of(size)
        [product] = self._product(f"{name}.out", [module.o_proj], mixed, pairs=pairs, turned=turned)
        return product

    def _mixed(self, query: str, keys: str, values: str, name: str) -> str:
        """Mix values by attention, without linear layers; returns (rows, heads * size).

        query: (rows, heads * size), before the rotary embedding. keys, values: of _cached().
        """
        w, s = self.writer, self.shape
        size, kv_heads, group = s.head_size, s.num_kv_heads, s.num_heads // s.num_kv_heads
        asked = self._queries_by_slot(query, name)
        # (slots, KV heads, group * width, size): a KV head's queries are rows of one product.
        if group == 1:
            asked = w.reshape(asked, f"{asked}.heads", 0, 0, kv_heads, size)
            asked = w.node("Transpose", [asked], f"{asked}.by_head", perm=[0, 2, 1, 3])
        else:
            asked = w.reshape(asked, f"{asked}.heads", 0, 0, kv_heads, group, size)
            asked = w.node("Transpose", [asked], f"{asked}.by_head", perm=[0, 2, 3, 1, 4])
            asked = w.reshape(asked, f"{asked}.rows", 0, 0, -1, size)
        scores = w.node(
            "FusedMatMul", [asked, keys], f"{name}.scores", domain=OWN, transB=1, alpha=size**-0.5
        )
        shares = self._attention_weights(scores, name)
        mixed = w.node("MatMul", [shares, values], f"{name}.mixed")
        if group == 1:
            mixed = w.node("Transpose", [mixed], f"{mixed}.by_row", perm=[0, 2, 1, 3])
        else:
            mixed = w.reshape(mixed, f"{mixed}.heads", 0, kv_heads, group, -1, size)
            mixed = w.node("Transpose", [mixed], f"{mixed}.by_row", perm=[0, 3, 1, 2, 4])
        mixed = w.reshape(mixed, f"{mixed}.flat", -1, s.num_heads * size)
        return self._by_row(mixed)

    def _cached(self, name: str, x: str) -> str:
        """Write x, the rows' keys or values, into the cache `name`; returns the new cache."""
        s = self.shape
        x = self.writer.reshape(x, f"{x}.heads", -1, s.num_kv_heads, s.head_size)
        return self.writer.node("ScatterND", [name, "places", x], f"{name}.new")

    def _queries_by_slot(self, query: str, name: str) -> str:
        """Pad queries (rows, heads * size) to (slots, width, ..), with rotary embedding."""
        asked = self.writer.node("Gather", [query, "queries"], f"{name}.asked")
        return self._with_rotary(asked, "query_positions")

    def _attention_weights(self, scores: str, name: str) -> str:
        """Add bias and softmax to scores (slots, KV heads, G W, capacity); returns the weights."""
        scores = self.writer.node("Add", [scores, "bias"], f"{scores}.masked")
        return self.writer.node("Softmax", [scores], f"{name}.shares", axis=-1)

    def _by_row(self, mixed: str) -> str:
        """Rearrange attention's output (slots * width, heads * size) by row: (rows, ..)."""
        return self.writer.node("Gather", [mixed, "rows"], f"{mixed}.of_rows")

    def _normed_heads(self, x: str, norm: Any, num_heads: int) -> str:
        """Apply the RMSNorm `norm`, unless it is None, to each head of x (rows, heads * size)."""
        if norm is None:
            return x
        w, size = self.writer, self.shape.head_size
        normed, _ = self._norm(f"{x}.norm", norm, w.reshape(x, f"{x}.heads.flat", -1, size), None)
        return w.reshape(normed, f"{x}.normed", -1, num_heads * size)

    def _with_rotary(self, x: str, positions: str) -> str:
        """Apply the rotary embedding of `positions` to heads x (texts, rows, heads * size)."""
        inputs = [x, positions, "cosines", "sines"]
        return self.writer.node("RotaryEmbedding", inputs, f"{x}.turned", domain=OWN, interleaved=0)


@dataclass(frozen=True, slots=True)
class Operand:
    """The input of a product: values (rows, in) in fp32, or in uint8 with one scale per row."""

    values: str
    scale: str | None


def _external(name: str, dtype: np.dtype, shape: tuple[int, ...], offset: int) -> Any:
    """An initializer whose bytes lie in the weights file."""
    tensor = TensorProto(name=name, data_location=TensorProto.EXTERNAL)
    tensor.data_type = helper.np_dtype_to_tensor_dtype(dtype)
    tensor.dims.extend(shape)
    length = dtype.itemsize * math.prod(shape)
    for key, text in (("location", WEIGHTS_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(text))
    return tensor


def quantized(weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Round a weight (out, in) to int8; returns integers (in, out) and scales (out,).

    Raises ValueError for a weight that is NaN or infinite.
    """
    if not weight.isfinite().all():
        raise ValueError("weights that are NaN or infinite cannot be int8")
    scales = weight.abs().amax(1).clamp_min(TINY) / LARGEST
    return (weight / scales[:, None]).round().to(torch.int8).t().numpy(), scales.numpy()


GROUP = 64
"""Largest number of columns that are rotated together.

After QuaRot (Ashkboos et al. 2024, arXiv 2404.00456). A few columns of a linear layer's input are
many times larger than the others, and with one scale per row these would keep few bits. Inputs
are rotated by a Hadamard matrix in groups of columns, and weights the same way, so that products
stay the same. Weights are rotated once, when they are written. The values of attention come out
rotated, as the rows of the weights that compute them are; other inputs are rotated in the forward
pass, at little cost as the groups are short.
"""


def group_of(size: int) -> int:
    """Number of columns that are rotated together in a matrix of `size` columns: a power of two."""
    return math.gcd(size, GROUP)


@lru_cache(maxsize=8)
def hadamard(size: int) -> Tensor:
    """The orthogonal Hadamard matrix (size, size), divided by sqrt(size); size: a power of two."""
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.kron(matrix, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    return matrix / math.sqrt(size)


def turned(x: Tensor, group: int) -> Tensor:
    """Multiply x (.., group) by the Hadamard matrix, by sums and differences of pairs.

    The page's scripts do the same fp32 operations in the same order, and so get the same bits.
    """
    shape, half = x.shape, 1
    while half < group:
        pairs = x.reshape(-1, group // (2 * half), 2, half)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        x = torch.stack([first + second, first - second], 2)
        half *= 2
    return (x * torch.tensor(1 / math.sqrt(group), dtype=torch.float32)).reshape(shape)


def turned_columns(weight: Tensor, group: int) -> Tensor:
    """Rotate a weight (out, in) to match inputs that are rotated in groups of `group` columns."""
    return turned(weight.float().reshape(-1, group), group).view(weight.shape)


def turned_rows(weight: Tensor, group: int) -> Tensor:
    """Rotate a weight (out, in) or bias (out,) so that outputs are rotated in groups of `group`."""
    groups = weight.float().reshape(-1, group, math.prod(weight.shape[1:]))
    return turned(groups.transpose(1, 2), group).transpose(1, 2).reshape(weight.shape)
