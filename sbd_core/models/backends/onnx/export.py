"""A Llama-shaped transformers model as one ONNX graph, written from its loaded weights.

The graph is one forward pass over rows: the tokens of one or more texts, in any order. Its inputs
say where every row stands; it knows no masks but the bias it is given. Operators are ONNX's (opset
21) and ONNX Runtime's own `com.microsoft`, which onnxruntime-web has too.

inputs (R rows, S slots of texts, W rows of the longest of them, C positions of capacity):
    token_ids (R), positions (1, R), wanted (L): the rows whose logits are asked for
    cosines, sines (positions, half a head): the rotary table
    places (R, KV heads, 3): slot, head and position where a row's keys and values are written
    queries (S, W): the row that stands there, any row as padding; rows (R): where it stands in that
    query_positions (S, W): the positions of those rows
    bias (S, 1, G W, C): added to the scores, 0 where a row may attend and -inf where not; once for
        each of the G heads that share a KV head
    keys.N, values.N (S, KV heads, C, head size) of each layer
    is_of_block (R, 1): with an adapter 1 for the rows of blocks, 0 for the others
outputs: logits (L, vocabulary), and keys.N.new, values.N.new. Bound to the memory of keys.N and
values.N, these are written in place: no forward pass copies the cache.

An adapter that the rows of blocks alone read (sbd_core.models.block_adapter) is in a second graph
of the same weights: forward passes without such rows run none of its nodes. Its A stands below the
weight that it belongs to, so one product gives both; the first graph reads that weight alone. What
A gives is made 0 in causal rows, to which B then adds nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import Tensor

Dtype = Literal["float32", "int8", "int4"]
AdapterLayers = Sequence[Mapping[str, tuple[Tensor, Tensor]]]
"""A (rank, in) and B (out, rank) by the name of a linear layer, of each layer."""
Pairs = Sequence[tuple[Tensor, Tensor]]
"""Of linear layers side by side."""
BITS: dict[str, int] = {"int8": 8, "int4": 4}
GRAPH_FILE, WEIGHTS_FILE = "model.onnx", "weights.bin"
BLOCKS_GRAPH_FILE = "model-blocks.onnx"
"""The graph with an adapter, for forward passes that read blocks."""
IR_VERSION, OPSET = 10, 21
OWN = "com.microsoft"
INT8_ACTIVATIONS = 4
"""MatMulNBits' accuracy level at which a row's result does not depend on the rows beside it."""
ALIGNED = 4096
"""Bytes: where a tensor begins in the weights file, so that it can be mapped."""


@dataclass(slots=True)
class Writer:
    """Nodes and weights of a graph in the making. Weights are made when they are written."""

    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Callable[[], np.ndarray]] = field(default_factory=dict)
    leading: dict[str, int] = field(default_factory=dict)
    """Of weights that this graph reads a part of: so many of the first entries."""
    constants: dict[tuple[int, ...], str] = field(default_factory=dict)
    initializers: list[Any] = field(default_factory=list)
    products: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Inner and outer size of every matrix product."""
    reads_blocks: bool = False
    """Whether an adapter is part of the graph."""

    def node(
        self, kind: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node with one output, which has its name."""
        self.nodes.append(
            helper.make_node(kind, list(inputs), [name], name, domain=domain, **attributes)
        )
        return name

    def weight(self, name: str, make: Callable[[], np.ndarray], leading: int | None = None) -> str:
        """A tensor of the weights file, or so many of its first entries."""
        self.weights[name] = make
        if leading is not None:
            self.leading[name] = leading
        return name

    def integers(self, *values: int) -> str:
        """A constant of int64, as shapes are."""
        name = self.constants.get(values)
        if name is None:
            name = self.constants[values] = f"integers.{len(self.constants)}"
            self.initializers.append(
                helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
            )
        return name

    def reshape(self, x: str, name: str, *shape: int) -> str:
        """0 keeps a dimension, -1 takes what is left."""
        return self.node("Reshape", [x, self.integers(*shape)], name)


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes that the backend needs to make the graph's inputs."""

    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    hidden: int
    vocabulary: int

    @classmethod
    def of(cls, model: Any) -> "Shape":
        """That of a model that has_known_shape()."""
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
    """Writes the graph of one model."""

    def __init__(
        self, model: Any, dtype: Dtype = "float32", adapter: AdapterLayers | None = None
    ) -> None:
        """adapter: of each layer, (A, B) of linear layers by name, for the rows of blocks."""
        self.model = model
        self.adapter = adapter
        self.shape = Shape.of(model)
        self.dtype = dtype
        self.writer = Writer()

    def write(self, folder: Path) -> None:
        """Its files in a folder that is there. Raises OSError."""
        kept: dict[str, Any] = {}
        with (folder / WEIGHTS_FILE).open("wb") as weights:
            self._write_graph(folder / GRAPH_FILE, weights, kept)
            if self.adapter is not None:
                self._write_graph(folder / BLOCKS_GRAPH_FILE, weights, kept, reads_blocks=True)

    def write_products(self, folder: Path) -> Path:
        """The matrix products and nothing else, for a measurement; gives back the graph's file.

        From inputs x.N (rows, N) of each size to an output each. Raises OSError.
        """
        with (folder / WEIGHTS_FILE).open("wb") as weights:
            self._write_graph(folder / GRAPH_FILE, weights, {}, is_products_alone=True)
        return folder / GRAPH_FILE

    def _write_graph(
        self,
        file: Path,
        weights: BinaryIO,
        kept: dict[str, Any],
        *,
        is_products_alone: bool = False,
        reads_blocks: bool = False,
    ) -> None:
        """A graph; its weights go behind those in the file of weights, but for those `kept`."""
        self.writer = Writer(reads_blocks=reads_blocks)
        self._nodes()
        inputs, outputs = self._inputs(), self._outputs()
        if is_products_alone:
            inputs, outputs = self._keep_products()
        for name, make in self.writer.weights.items():
            if name not in kept:
                weights.write(b"\0" * (-weights.tell() % ALIGNED))
                value = np.ascontiguousarray(make())
                kept[name] = value.dtype, value.shape, weights.tell()
                weights.write(value.data)
        tensors = list(self.writer.initializers)
        for name in self.writer.weights:
            dtype, shape, offset = kept[name]
            shape = (self.writer.leading.get(name, shape[0]), *shape[1:])
            tensors.append(_external(name, dtype, shape, offset))
        graph = helper.make_graph(self.writer.nodes, "forward", inputs, outputs, tensors)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        file.write_bytes(proto.SerializeToString(deterministic=True))

    def _keep_products(self) -> tuple[list[Any], list[Any]]:
        """Leave the products alone in the graph, each with an input of its own size."""
        w, make = self.writer, helper.make_tensor_value_info
        w.nodes = [node for node in w.nodes if node.output[0] in w.products]
        sizes = set()
        for node in w.nodes:
            size = w.products[node.output[0]][0]
            node.input[0] = f"x.{size}"
            sizes.add(size)
        used = {name for node in w.nodes for name in node.input}
        w.weights = {name: weight for name, weight in w.weights.items() if name in used}
        inputs = [make(f"x.{size}", TensorProto.FLOAT, ["rows", size]) for size in sorted(sizes)]
        return inputs, [
            make(name, TensorProto.FLOAT, ["rows", size]) for name, (_, size) in w.products.items()
        ]

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
        w, inner = self.writer, self.model.model
        embedding = w.weight("embedding", lambda: _fp32(inner.embed_tokens.weight))
        hidden = w.node("Gather", [embedding, "token_ids"], "hidden")
        more = None
        for index, layer in enumerate(inner.layers):
            hidden, more = self._layer(index, layer, hidden, more)
        wanted = w.node("Gather", [hidden, "wanted"], "last")
        more_wanted = w.node("Gather", [str(more), "wanted"], "last.more")
        normed, _ = self._norm("norm", inner.norm, wanted, more_wanted)
        head = self.model.lm_head
        is_tied = head.weight is inner.embed_tokens.weight
        self._product("logits", [head], normed, shared=embedding if is_tied else None)

    def _norm(self, name: str, module: Any, x: str, more: str | None) -> tuple[str, str]:
        """RMSNorm of x (rows, n), or of x + more and that sum."""
        w = self.writer
        scale = w.weight(f"{name}.weight", lambda: _fp32(module.weight))
        epsilon = float(module.variance_epsilon)
        if more is None:
            kind = "SimplifiedLayerNormalization"
            return w.node(kind, [x, scale], name, axis=-1, epsilon=epsilon), x
        outputs = [name, "", "", f"{name}.sum"]
        kind = "SkipSimplifiedLayerNormalization"
        w.nodes.append(
            helper.make_node(kind, [x, more, scale], outputs, name, domain=OWN, epsilon=epsilon)
        )
        return name, outputs[-1]

    def _product(
        self,
        name: str,
        linears: Sequence[Any],
        x: str,
        *,
        pairs: Pairs = (),
        shared: str | None = None,
    ) -> str:
        """x (rows, in) by linear layers that read the same -> (rows, out of all of them).

        pairs: the adapter's (A, B) of each. shared: the name of their weight, where it is written.
        """
        w, reads_blocks = self.writer, bool(pairs) and self.writer.reads_blocks
        size, out = linears[0].in_features, sum(y.out_features for y in linears)
        rank = sum(len(a) for a, _ in pairs)
        w.products[name] = size, out
        num_rows = out + rank if reads_blocks else out
        weight = (
            [shared]
            if shared is not None and self.dtype == "float32"
            else self._weight(name, lambda: _joined(linears, pairs), num_rows, self.dtype)
        )
        inputs = [x, *weight]
        if linears[0].bias is not None:
            biases = [*(y.bias.detach() for y in linears), torch.zeros(rank)]
            inputs += [""] * (self.dtype != "float32") * 2
            inputs.append(w.weight(f"{name}.bias", lambda: _fp32(torch.cat(biases)), num_rows))
        if not reads_blocks:
            return self._multiplied(name, inputs, self.dtype, size, out)
        product = self._multiplied(f"{name}.with_low", inputs, self.dtype, size, num_rows)
        product, low = self._split(product, [f"{name}.base", f"{name}.low"], [out, rank])
        low = w.node("Mul", [low, "is_of_block"], f"{name}.low_of_blocks")
        dtype: Dtype = "float32" if self.dtype == "float32" else "int8"
        inputs = [low, *self._weight(f"{name}.B", lambda: _beside(pairs), out, dtype)]
        if dtype == "float32":
            return self._multiplied(name, [*inputs, product], dtype, rank, out)
        added = self._multiplied(f"{name}.added", inputs, dtype, rank, out)
        return w.node("Add", [product, added], name)

    def _weight(
        self, name: str, make: Callable[[], Tensor], num_rows: int, dtype: Dtype
    ) -> list[str]:
        """The inputs of a product for a weight (out, in), or for its first num_rows."""
        w, made = self.writer, list[np.ndarray]()
        if dtype == "float32":
            return [w.weight(f"{name}.weight", lambda: _fp32(make()), num_rows)]

        def make_values() -> np.ndarray:
            numbers, scales = quantized(make(), BITS[dtype])
            made.append(scales)  # which are written next
            return numbers

        values = w.weight(f"{name}.weight", make_values, num_rows)
        return [values, w.weight(f"{name}.scales", made.pop, num_rows)]

    def _multiplied(
        self, name: str, inputs: Sequence[str], dtype: Dtype, size: int, out: int
    ) -> str:
        """x (rows, size) by a weight of `out` rows, plus what stands behind it in the inputs."""
        if dtype == "float32":
            return self.writer.node("Gemm", inputs, name, transB=1)
        return self.writer.node(
            "MatMulNBits",
            inputs,
            name,
            domain=OWN,
            N=out,
            K=size,
            bits=BITS[dtype],
            block_size=BLOCK,
            accuracy_level=INT8_ACTIVATIONS,
        )

    def _pairs(self, index: int, *parts: str) -> Pairs:
        """The adapter's (A, B) of linear layers by their names."""
        return [] if self.adapter is None else [self.adapter[index][part] for part in parts]

    def _split(self, x: str, names: Sequence[str], sizes: Sequence[int]) -> Sequence[str]:
        inputs = [x, self.writer.integers(*sizes)]
        self.writer.nodes.append(helper.make_node("Split", inputs, list(names), axis=1))
        return names

    def _layer(self, index: int, layer: Any, hidden: str, more: str | None) -> tuple[str, str]:
        """One layer of hidden + more (rows, hidden) -> the same in two parts."""
        w, name = self.writer, f"layer.{index}"
        x, hidden = self._norm(f"{name}.attention_norm", layer.input_layernorm, hidden, more)
        mixed = self._attention(index, layer.self_attn, x)
        pairs = self._pairs(index, "o")
        out = self._product(f"{name}.out", [layer.self_attn.o_proj], mixed, pairs=pairs)
        x, hidden = self._norm(
            f"{name}.feed_forward_norm", layer.post_attention_layernorm, hidden, out
        )
        mlp = layer.mlp
        pairs = self._pairs(index, "gate", "up")
        both = self._product(f"{name}.gate_up", [mlp.gate_proj, mlp.up_proj], x, pairs=pairs)
        width = mlp.gate_proj.out_features
        gate, up = self._split(both, [f"{name}.gate", f"{name}.up"], [width, width])
        silu = w.node("QuickGelu", [gate], f"{name}.silu", domain=OWN, alpha=1.0)
        x = w.node("Mul", [silu, up], f"{name}.gated")
        pairs = self._pairs(index, "down")
        return hidden, self._product(f"{name}.down", [mlp.down_proj], x, pairs=pairs)

    def _attention(self, index: int, module: Any, x: str) -> str:
        """(rows, hidden) -> mixed values of every head (rows, heads * size)."""
        w, s, name = self.writer, self.shape, f"layer.{index}"
        size, kv_heads, group = s.head_size, s.num_kv_heads, s.num_heads // s.num_kv_heads
        linears = [module.q_proj, module.k_proj, module.v_proj]
        pairs = self._pairs(index, "q", "k", "v")
        query, key, value = self._split(
            self._product(f"{name}.query_key_value", linears, x, pairs=pairs),
            [f"{name}.{part}" for part in ("query", "key", "value")],
            [linear.out_features for linear in linears],
        )
        key = w.reshape(
            self._normed_heads(key, getattr(module, "k_norm", None), kv_heads),
            f"{key}.text",
            1,
            -1,
            kv_heads * size,
        )
        key = w.reshape(self._turned(key, "positions"), f"{key}.heads", -1, kv_heads, size)
        value = w.reshape(value, f"{value}.heads", -1, kv_heads, size)
        keys = w.node("ScatterND", [f"keys.{index}", "places", key], f"keys.{index}.new")
        values = w.node("ScatterND", [f"values.{index}", "places", value], f"values.{index}.new")

        query = self._normed_heads(query, getattr(module, "q_norm", None), s.num_heads)
        asked = w.node("Gather", [query, "queries"], f"{name}.asked")
        asked = self._turned(asked, "query_positions")
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
        scores = w.node("Add", [scores, "bias"], f"{scores}.masked")
        shares = w.node("Softmax", [scores], f"{name}.shares", axis=-1)
        mixed = w.node("MatMul", [shares, values], f"{name}.mixed")
        if group == 1:
            mixed = w.node("Transpose", [mixed], f"{mixed}.by_row", perm=[0, 2, 1, 3])
        else:
            mixed = w.reshape(mixed, f"{mixed}.heads", 0, kv_heads, group, -1, size)
            mixed = w.node("Transpose", [mixed], f"{mixed}.by_row", perm=[0, 3, 1, 2, 4])
        mixed = w.reshape(mixed, f"{mixed}.flat", -1, s.num_heads * size)
        return w.node("Gather", [mixed, "rows"], f"{mixed}.of_rows")

    def _normed_heads(self, x: str, norm: Any, num_heads: int) -> str:
        """Heads (rows, heads * size), each normed if the model does that."""
        if norm is None:
            return x
        w, size = self.writer, self.shape.head_size
        normed, _ = self._norm(f"{x}.norm", norm, w.reshape(x, f"{x}.heads.flat", -1, size), None)
        return w.reshape(normed, f"{x}.normed", -1, num_heads * size)

    def _turned(self, x: str, positions: str) -> str:
        """Heads (texts, rows, heads * size) turned by the angles of their positions."""
        inputs = [x, positions, "cosines", "sines"]
        return self.writer.node("RotaryEmbedding", inputs, f"{x}.turned", domain=OWN, interleaved=0)


def _fp32(weight: Tensor) -> np.ndarray:
    return weight.detach().float().numpy()


def _joined(linears: Sequence[Any], pairs: Pairs) -> Tensor:
    """The weights (out, in) of linear layers, one below the other, and below them each A."""
    weights = [linear.weight.detach() for linear in linears]
    weights += [a.to(weights[0].dtype) for a, _ in pairs]
    return weights[0] if len(weights) == 1 else torch.cat(weights)


def _beside(pairs: Pairs) -> Tensor:
    """Each B (out, rank), so that each adds to its own linear layer what its own A gave."""
    return torch.block_diag(*(b.float() for _, b in pairs))


def _external(name: str, dtype: np.dtype, shape: tuple[int, ...], offset: int) -> Any:
    """An initializer whose bytes lie in the weights file."""
    tensor = TensorProto(name=name, data_location=TensorProto.EXTERNAL)
    tensor.data_type = helper.np_dtype_to_tensor_dtype(dtype)
    tensor.dims.extend(shape)
    length = dtype.itemsize * math.prod(shape)
    for key, text in (("location", WEIGHTS_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(text))
    return tensor


BLOCK = 32
"""Values that share a scale."""


def quantized(weight: Tensor, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """weight (out, in) -> its values (out, blocks, bytes) in uint8, and scales (out, blocks).

    A value is scale * (number - 2^(bits - 1)), the default zero point. Each block's largest value
    takes the lowest number, which reaches one further than the highest.
    """
    out, size = weight.shape
    num_blocks = -(-size // BLOCK)
    values = torch.nn.functional.pad(weight.float(), (0, num_blocks * BLOCK - size))
    values = values.view(out, num_blocks, BLOCK)
    zero = 1 << (bits - 1)
    largest = values.gather(2, values.abs().argmax(2, keepdim=True))
    scales = largest / -zero
    inverse = torch.where(scales == 0, 0.0, 1 / scales)
    numbers = (values * inverse).round_().add_(zero).clamp_(0, 2 * zero - 1).to(torch.uint8)
    if bits == 4:
        numbers = numbers[..., 0::2] | (numbers[..., 1::2] << 4)
    return numbers.numpy(), scales[..., 0].numpy()
