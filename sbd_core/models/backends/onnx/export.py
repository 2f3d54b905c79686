"""Writes a Llama-shaped transformers model as an ONNX graph, from its loaded weights.

The graph makes one forward pass. Its rows are the tokens of one or more texts, in any order. Its
inputs say where each row belongs, and only the input `bias` masks attention. The operators are
those of ONNX (opset 21) and of `com.microsoft`, which onnxruntime-web has too.

Inputs for R rows, S slots with a text each, W rows of the longest text, C cache positions of a
slot, L rows whose logits are returned, and G query heads for each KV head:
    token_ids (R), positions (1, R): token of each row, and its position in its text
    wanted (L): indices of the rows whose logits are returned
    cosines, sines (positions, head size / 2): the rotary table
    places (R, KV heads, 3): slot, KV head and position at which a row's key and value are cached
    queries (S, W): indices of the rows of each slot's text, then any index as padding
    rows (R): index of each row in the flattened `queries`
    query_positions (S, W): position of each row in `queries`
    bias (S, 1, G W, C): added to attention scores; 0 where a row may attend, else -inf
    keys.N, values.N (S, KV heads, C, head size): the cache of layer N
    is_of_block (R, 1): 1 for rows of blocks, else 0; only in the graph with a block adapter
Outputs: logits (L, vocabulary), and the new caches keys.N.new and values.N.new. The backend gives
these the memory of keys.N and values.N, so that no forward pass copies the cache.

A block adapter (sbd_core.models.block_adapter) is in a second graph, so that a forward pass without
blocks does not compute it. The adapter's A is stacked on the base's weight, as one larger product
costs little more than the base's product. For causal rows the output of A is multiplied by 0, so
that B adds nothing.

In int8, linear layers multiply integers. Inputs and weights are first rotated by hadamard(). Then
inputs are rounded to uint8 around 128, with a scale for each row, and weights to int8, with a scale
for each output. Integer sums are exact, so a row's product does not depend on other rows, threads
or the kernel. Everything else stays in fp32, even an adapter's B.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from sbd_core.models.block_adapter import AdapterLayers, Pairs, side_by_side

Dtype = Literal["float32", "int8"]
GRAPH_FILE, WEIGHTS_FILE = "model.onnx", "weights.bin"
BLOCKS_GRAPH_FILE = "model-blocks.onnx"
"""The graph with an adapter, for forward passes that read blocks."""
IR_VERSION, OPSET = 10, 21
INT64, FLOAT = TensorProto.INT64, TensorProto.FLOAT
OWN = "com.microsoft"
LARGEST, MIDDLE = 127, 128
"""The largest integer in int8, and the uint8 that stands for 0."""
TINY = 1e-30
"""Smallest scale of an output's weights, as an output whose weights are all 0 needs a scale too."""
ALIGNED = 4096
"""Alignment in bytes of tensors in the weights file, so that it can be memory-mapped."""


Weight = Tensor | np.ndarray
Kept = dict[str, tuple[np.dtype, tuple[int, ...], int]]
"""{name: (dtype, shape, byte offset)} of the weights in a weights file."""


@dataclass(slots=True)
class Writer:
    """Collects the nodes and constants of a graph, and writes its weights to a file.

    file: the weights file. kept: the weights that it holds already, to which weight() adds.
    reads_blocks: whether the graph includes the block adapter.
    nodes: ONNX nodes. initializers: ONNX tensors of constants and weights.
    constants: {key: name in the graph}. A key is a tensor's integers, or the name of another.
    """

    file: Any = None
    kept: Kept = field(default_factory=dict)
    reads_blocks: bool = False
    nodes: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)
    constants: dict[tuple[int, ...] | str, str] = field(default_factory=dict)

    def node(
        self, kind: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node called `name`, which has one output of the same name; returns `name`."""
        made = helper.make_node(kind, list(inputs), [name], name, domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def weight(self, name: str, make: Callable[[], Weight], within: str = "") -> str:
        """Add a weight, and append it to the file unless the file has it; returns `name`.

        make: computes the weight. within: name of a weight whose last rows are this one, if the
        file has that.
        """
        if name not in self.kept:
            value = np.ascontiguousarray(make())
            if within in self.kept:
                dtype, shape, start = self.kept[within]
                place = start + math.prod(shape) * dtype.itemsize - value.nbytes
            else:
                self.file.write(b"\0" * (-self.file.tell() % ALIGNED))
                place = self.file.tell()
                self.file.write(value.data)
            self.kept[name] = value.dtype, value.shape, place
        self.initializers.append(_external(name, *self.kept[name]))
        return name

    def rounded_weight(self, name: str, make: Callable[[], tuple[Weight, Weight]]) -> list[str]:
        """Add a weight and its scales, which `make` computes together; returns their names."""
        names = [f"{name}.weight", f"{name}.scales"]
        made: Iterator[Weight] = iter(() if names[0] in self.kept else make())
        return [self.weight(each, made.__next__) for each in names]

    def number(self, name: str, value: float, kind: int = FLOAT) -> str:
        """Add a one-number constant of ONNX type `kind`, unless `name` exists; returns `name`."""
        if name not in self.constants:
            self.constants[name] = name
            self.initializers.append(helper.make_tensor(name, kind, [], [value]))
        return name

    def matrix(self, name: str, values: Tensor) -> str:
        """Add a constant that is in the graph itself, unless it exists; returns `name`."""
        if name not in self.constants:
            self.constants[name] = name
            self.initializers.append(numpy_helper.from_array(values.numpy(), name))
        return name

    def integers(self, *values: int) -> str:
        """Return the name of an int64 constant, such as a shape; adds the constant if missing."""
        name = self.constants.get(values)
        if name is None:
            name = self.constants[values] = f"integers.{len(self.constants)}"
            self.initializers.append(helper.make_tensor(name, INT64, [len(values)], values))
        return name

    def reshape(self, x: str, name: str, *shape: int) -> str:
        """Add a Reshape of x; returns `name`. In `shape`, 0 keeps a size, -1 takes all the rest."""
        return self.node("Reshape", [x, self.integers(*shape)], name)

    def content(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> bytes:
        """Make the content of an ONNX file with this graph."""
        graph = helper.make_graph(self.nodes, "forward", inputs, outputs, self.initializers)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
        proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        return bytes(proto.SerializeToString(deterministic=True))


@dataclass(frozen=True, slots=True)
class GraphShape:
    """Sizes of a model, from which the backend makes the inputs of its graph."""

    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    hidden: int
    vocabulary: int

    @classmethod
    def of(cls, model: Any) -> "GraphShape":
        """Read the sizes of a Llama-shaped model."""
        attention = model.model.layers[0].self_attn
        size = attention.head_dim
        num_heads, num_kv_heads = (
            each.out_features // size for each in (attention.q_proj, attention.k_proj)
        )
        vocabulary, hidden = model.lm_head.weight.shape
        return cls(len(model.model.layers), num_heads, num_kv_heads, size, hidden, vocabulary)


class Exporter:
    """Writes the ONNX graphs of one model.

    Methods take and return names of values in a graph: "x (rows, n)" names a value of that shape.
    """

    def __init__(
        self, model: Any, dtype: Dtype = "float32", adapter: AdapterLayers | None = None
    ) -> None:
        """Take a Llama-shaped model and the layers of its block adapter, None if it has none."""
        self.model, self.dtype, self.adapter = model, dtype, adapter
        self.shape, self.writer = GraphShape.of(model), Writer()

    def write(self, folder: Path) -> None:
        """Write the graphs and their weights file into an existing folder. Raises OSError."""
        kept: Kept = {}
        with (folder / WEIGHTS_FILE).open("wb") as file:
            if self.adapter is not None:
                self._write_graph(folder / BLOCKS_GRAPH_FILE, Writer(file, kept, reads_blocks=True))
            self._write_graph(folder / GRAPH_FILE, Writer(file, kept))

    def _write_graph(self, file: Path, writer: Writer) -> None:
        self.writer = writer
        self._nodes()
        file.write_bytes(writer.content(self._inputs(), self._outputs()))

    def _inputs(self) -> list[Any]:
        s, half = self.shape, self.shape.head_size // 2
        return [
            *values_of(
                INT64,
                token_ids=["rows"],
                positions=[1, "rows"],
                wanted=["num_logits"],
                places=["rows", s.num_kv_heads, 3],
                queries=["slots", "width"],
                query_positions=["slots", "width"],
                rows=["rows"],
            ),
            *values_of(FLOAT, cosines=["reach", half], sines=["reach", half]),
            *values_of(FLOAT, bias=["slots", 1, "queries_of_group", "capacity"]),
            *self._block_inputs(),
            *self._caches(["slots", s.num_kv_heads, "capacity", s.head_size]),
        ]

    def _block_inputs(self) -> list[Any]:
        return values_of(FLOAT, is_of_block=["rows", 1]) if self.writer.reads_blocks else []

    def _caches(self, sizes: list[Any], suffix: str = "") -> list[Any]:
        parts = [(i, part) for i in range(self.shape.num_layers) for part in ("keys", "values")]
        return values_of(FLOAT, **{f"{part}.{i}{suffix}": sizes for i, part in parts})

    def _outputs(self) -> list[Any]:
        s = self.shape
        sizes = ["slots", s.num_kv_heads, "capacity", s.head_size]
        logits = values_of(FLOAT, logits=["num_logits", s.vocabulary])
        return [*logits, *self._caches(sizes, ".new")]

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
        """Add the lookup of token embeddings; returns hidden states (rows, hidden)."""
        embedding = self.writer.weight("embedding", module.weight.detach().float)
        return self.writer.node("Gather", [embedding, "token_ids"], "hidden")

    def _norm(self, name: str, module: Any, x: str, more: str | None) -> tuple[str, str]:
        """Add an RMSNorm of the sum x + more, both (rows, n); returns (normed sum, sum).

        more: None if there is nothing to add to x.
        """
        w, epsilon = self.writer, float(module.variance_epsilon)
        scale = w.weight(f"{name}.weight", module.weight.detach().float)
        if more is None:
            kind = "SimplifiedLayerNormalization"
            return w.node(kind, [x, scale], name, axis=-1, epsilon=epsilon), x
        outputs = [name, "", "", f"{name}.sum"]
        kind, inputs = "SkipSimplifiedLayerNormalization", [x, more, scale]
        made = helper.make_node(kind, inputs, outputs, name, domain=OWN, epsilon=epsilon)
        w.nodes.append(made)
        return name, outputs[-1]

    def _rotated(self, name: str, x: str, size: int) -> str:
        """Rotate x (rows, size) before it is rounded to integers; see GROUP."""
        w, group = self.writer, group_of(size)
        groups = w.reshape(x, f"{name}.x.groups", -1, group)
        matrix = w.matrix(f"hadamard.{group}", hadamard(group))
        groups = w.node("MatMul", [groups, matrix], f"{name}.x.turned")
        return w.reshape(groups, f"{name}.x.rows", -1, size)

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

        In int8 this also rotates x and the weights; see GROUP.
        pairs: the adapter's (A, B) of each layer; empty without an adapter.
        shared: name of the layers' weight if the graph has it already, else None.
        turned: group size by which x is rotated already; None rotates x here.
        turns_last: group size by which to rotate the last layer's output; None does not rotate it.
        """
        w, group = self.writer, turned or group_of(linears[0].in_features)
        is_plain = self.dtype == "float32"

        def joined(weights: Sequence[Tensor]) -> Tensor:
            """Stack weights that multiply x; in int8, rotates the weights to match x."""
            weight = torch.cat([each.detach().float() for each in weights])
            return weight if is_plain else turned_columns(weight, group)

        def written(parts: Sequence[Tensor]) -> list[Tensor]:
            """Convert the layers' weights or biases to fp32; rotates the last one by turns_last."""
            *others, last = (part.detach().float() for part in parts)
            return [*others, turned_rows(last, turns_last) if turns_last and not is_plain else last]

        if not is_plain and turned is None:
            x = self._rotated(name, x, linears[0].in_features)
        weights, sizes = zip(*((y.weight, y.out_features) for y in linears), strict=True)
        if pairs and w.reads_blocks:
            downs, ups = zip(*pairs, strict=True)
            down, up = side_by_side(list(zip(downs, written(ups), strict=True)))
            stacked = self._multiplied(f"{name}.both", x, lambda: joined([down, *written(weights)]))
            parts = [f"{name}.low", f"{name}.base"]
            low, base = self._split(stacked, parts, [len(down), sum(sizes)])
            low = w.node("Mul", [low, "is_of_block"], f"{low}.of_blocks")
            inputs = [low, w.weight(f"{name}.B", lambda: up), base]
            product = w.node("Gemm", inputs, name, transB=1)
        else:
            product = self._multiplied(name, x, lambda: joined(written(weights)), shared)
        if linears[0].bias is not None:
            bias = w.weight(f"{name}.bias", lambda: torch.cat(written([y.bias for y in linears])))
            product = w.node("Add", [product, bias], f"{name}.biased")
        return self._split(product, [f"{name}.{i}" for i in range(len(sizes))], sizes)

    def _multiplied(
        self, name: str, x: str, weight: Callable[[], Tensor], shared: str | None = None
    ) -> str:
        """Multiply x (rows, in) by a weight (out, in), in int8 as integers with a scale per row."""
        w = self.writer
        if self.dtype == "float32":
            values = shared or w.weight(f"{name}.weight", weight, within=f"{name}.both.weight")
            return w.node("Gemm", [x, values], name, transB=1)
        sizes = w.node("Abs", [x], f"{name}.x.sizes")
        scale = w.node("ReduceMax", [sizes, w.integers(-1)], f"{name}.x.scale", keepdims=1)
        # A row of zeros becomes NaN, then arbitrary integers, which its scale of 0 makes 0 again.
        share = w.node("Div", [x, scale], f"{name}.x.share")
        step, middle = w.number("step", 1 / LARGEST), w.number("middle", MIDDLE, TensorProto.UINT8)
        integers = w.node("QuantizeLinear", [share, step, middle], f"{name}.x.integers")
        values, scales = w.rounded_weight(name, lambda: quantized(weight()))
        # One per weight, as ONNX Runtime may rewrite a weight together with its zero.
        zero = w.number(f"{name}.zero", 0, TensorProto.INT8)
        inputs = [integers, values, step, scales, middle, zero]
        product = w.node("MatMulIntegerToFloat", inputs, name, domain=OWN)
        return w.node("Mul", [product, scale], f"{name}.scaled")

    def _pairs(self, index: int, *parts: str) -> Pairs:
        """Return the adapter's (A, B) for each of `parts`, such as "q"; [] without an adapter."""
        return [] if self.adapter is None else [self.adapter[index][part] for part in parts]

    def _split(self, x: str, names: Sequence[str], sizes: Sequence[int]) -> Sequence[str]:
        if len(sizes) == 1:
            return [x]
        inputs = [x, self.writer.integers(*sizes)]
        self.writer.nodes.append(helper.make_node("Split", inputs, list(names), axis=1))
        return names

    def _layer(self, index: int, layer: Any, hidden: str, more: str | None) -> tuple[str, str]:
        """Add one layer with the input hidden + more; returns (hidden, more) for the next layer."""
        w, name = self.writer, f"layer.{index}"
        x, hidden = self._norm(f"{name}.attention_norm", layer.input_layernorm, hidden, more)
        out = self._attention(index, layer.self_attn, x)
        mlp, norm = layer.mlp, layer.post_attention_layernorm
        x, hidden = self._norm(f"{name}.feed_forward_norm", norm, hidden, out)
        pairs = self._pairs(index, "gate", "up")
        gate, up = self._product(f"{name}.gate_up", [mlp.gate_proj, mlp.up_proj], x, pairs=pairs)
        silu = w.node("QuickGelu", [gate], f"{name}.silu", domain=OWN, alpha=1.0)
        x = w.node("Mul", [silu, up], f"{name}.gated")
        pairs = self._pairs(index, "down")
        [product] = self._product(f"{name}.down", [mlp.down_proj], x, pairs=pairs)
        return hidden, product

    def _attention(self, index: int, module: Any, x: str) -> str:
        """Add a layer's attention with its linear layers; x and the result are (rows, hidden)."""
        w, s, name = self.writer, self.shape, f"layer.{index}"
        size, kv_heads = s.head_size, s.num_kv_heads
        linears, pairs = [module.q_proj, module.k_proj, module.v_proj], self._pairs(index, *"qkv")
        query, key, value = self._product(
            f"{name}.query_key_value", linears, x, pairs=pairs, turns_last=group_of(size)
        )
        key = self._normed_heads(key, getattr(module, "k_norm", None), kv_heads)
        key = w.reshape(key, f"{key}.text", 1, -1, kv_heads * size)
        keys = self._cached(f"keys.{index}", self._with_rotary(key, "positions"))
        values = self._cached(f"values.{index}", value)

        query = self._normed_heads(query, getattr(module, "q_norm", None), s.num_heads)
        mixed = self._mixed(query, keys, values, name)
        pairs, turned = self._pairs(index, "o"), group_of(size)
        [product] = self._product(f"{name}.out", [module.o_proj], mixed, pairs=pairs, turned=turned)
        return product

    def _mixed(self, query: str, keys: str, values: str, name: str) -> str:
        """Add attention without its linear layers; returns the mixed values (rows, heads * size).

        query: (rows, heads * size), before the rotary embedding. keys, values: from _cached().
        """
        w, s = self.writer, self.shape
        size, kv_heads, group = s.head_size, s.num_kv_heads, s.num_heads // s.num_kv_heads
        asked = self._queries_by_slot(query, name)
        # (slots, KV heads, group * width, size): a KV head's queries are rows of one product.
        asked = w.reshape(asked, f"{asked}.heads", 0, 0, kv_heads, group, size)
        asked = w.node("Transpose", [asked], f"{asked}.by_head", perm=[0, 2, 3, 1, 4])
        asked = w.reshape(asked, f"{asked}.rows", 0, 0, -1, size)
        options = {"domain": OWN, "transB": 1, "alpha": size**-0.5}
        scores = w.node("FusedMatMul", [asked, keys], f"{name}.scores", **options)
        shares = self._attention_weights(scores, name)
        mixed = w.node("MatMul", [shares, values], f"{name}.mixed")
        mixed = w.reshape(mixed, f"{mixed}.heads", 0, kv_heads, group, -1, size)
        mixed = w.node("Transpose", [mixed], f"{mixed}.by_row", perm=[0, 3, 1, 2, 4])
        mixed = w.reshape(mixed, f"{mixed}.flat", -1, s.num_heads * size)
        return self._by_row(mixed)

    def _cached(self, name: str, x: str) -> str:
        """Write the rows' keys or values, x, into the cache `name`; returns the new cache."""
        s = self.shape
        x = self.writer.reshape(x, f"{x}.heads", -1, s.num_kv_heads, s.head_size)
        return self.writer.node("ScatterND", [name, "places", x], f"{name}.new")

    def _queries_by_slot(self, query: str, name: str) -> str:
        """Group queries (rows, n) by cache slot, pad, and apply the rotary embedding: (S, W, n)."""
        asked = self.writer.node("Gather", [query, "queries"], f"{name}.asked")
        return self._with_rotary(asked, "query_positions")

    def _attention_weights(self, scores: str, name: str) -> str:
        """Add bias and softmax to scores (slots, KV heads, G W, C); returns attention weights."""
        scores = self.writer.node("Add", [scores, "bias"], f"{scores}.masked")
        return self.writer.node("Softmax", [scores], f"{name}.shares", axis=-1)

    def _by_row(self, mixed: str) -> str:
        """Undo the grouping by slot: turn attention output (S W, n) into (rows, n), unpadded."""
        return self.writer.node("Gather", [mixed, "rows"], f"{mixed}.of_rows")

    def _normed_heads(self, x: str, norm: Any, num_heads: int) -> str:
        """Apply the RMSNorm `norm` to each head of x (rows, heads * size); None changes nothing."""
        if norm is None:
            return x
        w, size = self.writer, self.shape.head_size
        normed, _ = self._norm(f"{x}.norm", norm, w.reshape(x, f"{x}.heads.flat", -1, size), None)
        return w.reshape(normed, f"{x}.normed", -1, num_heads * size)

    def _with_rotary(self, x: str, positions: str) -> str:
        """Apply the rotary embedding for `positions` to each head in x (texts, rows, n)."""
        inputs = [x, positions, "cosines", "sines"]
        return self.writer.node("RotaryEmbedding", inputs, f"{x}.turned", domain=OWN, interleaved=0)


def values_of(kind: int, **sizes: list[Any]) -> list[Any]:
    """Declare inputs or outputs of an ONNX type: {name: size of each dimension}."""
    return [helper.make_tensor_value_info(name, kind, size) for name, size in sizes.items()]


def _external(name: str, dtype: np.dtype, shape: tuple[int, ...], offset: int) -> Any:
    """Make an initializer whose bytes are in the weights file, at `offset`."""
    tensor = TensorProto(name=name, data_location=TensorProto.EXTERNAL)
    tensor.data_type = helper.np_dtype_to_tensor_dtype(dtype)
    tensor.dims.extend(shape)
    length = dtype.itemsize * math.prod(shape)
    for key, text in (("location", WEIGHTS_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(text))
    return tensor


def quantized(weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Round a weight (out, in) to int8; returns integers (in, out) and one scale per output (out,).

    Raises ValueError for a weight that is NaN or infinite.
    """
    if not weight.isfinite().all():
        raise ValueError("weights that are NaN or infinite cannot be int8")
    scales = weight.abs().amax(1).clamp_min(TINY) / LARGEST
    return (weight / scales[:, None]).round().to(torch.int8).t().numpy(), scales.numpy()


GROUP = 64
"""Largest number of columns that are rotated together.

After QuaRot (Ashkboos et al. 2024, arXiv 2404.00456). A few columns of a linear layer's input are
many times larger than the others. With one scale per row, the others would keep few bits. So
groups of columns are rotated by a Hadamard matrix. Weights are rotated the same way, so that
products stay the same. They are rotated once, when they are written. Attention output is rotated
already, as the weights that compute values have rotated rows. Other inputs are rotated in each
forward pass, at little cost as the groups are short.
"""


def group_of(size: int) -> int:
    """Return how many of a matrix's `size` columns are rotated together: a power of two."""
    return math.gcd(size, GROUP)


@lru_cache(maxsize=8)
def hadamard(size: int) -> Tensor:
    """Make the Hadamard matrix (size, size), scaled to be orthogonal; `size` is a power of two."""
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.kron(matrix, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    return matrix / math.sqrt(size)


def turned_columns(weight: Tensor, group: int) -> Tensor:
    """Rotate a weight (out, in) to match inputs that are rotated in groups of `group` columns."""
    return (weight.float().reshape(-1, group) @ hadamard(group)).view(weight.shape)


def turned_rows(weight: Tensor, group: int) -> Tensor:
    """Rotate a weight (out, in) or bias (out,), so that groups of `group` outputs are rotated."""
    groups = weight.float().reshape(-1, group, weight[0].numel())
    return (hadamard(group) @ groups).view(weight.shape)
