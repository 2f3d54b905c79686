"""The fused forward pass of Llama-shaped models, equal to that of transformers up to rounding.

No weight is stored twice: the transformers modules become views of the fused tensors. A block
adapter becomes separate low-rank matrices, which apply to the rows of blocks only.

Linear layers treat the tokens of all texts as the rows of one matrix; only attention tells texts
apart. PaddedBatchAttention is for texts padded to the same number of rows, PromptAttention for one
long prompt. Both write new keys and values into the pool, after the cached ones. rows_of() says
which row may attend to which key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Linear, Parameter
from torch.nn.functional import scaled_dot_product_attention, silu

from sbd_core.models.backends.slots import SlotCache, rows_of
from sbd_core.models.block_adapter import GROUPS, BlockAdapter, side_by_side
from sbd_core.models.protocol import ForwardRequest

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
STEADY_ROTARY_TYPES = ("default", "linear", "llama3")
"""Rotary embeddings whose angles do not depend on the length of the text."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A linear layer x @ weight + bias: contiguous weight (in, out), bias (out,) or None."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the layer to x (rows, in); returns (rows, out)."""
        if self.bias is None:
            return torch.mm(x, self.weight)
        return torch.addmm(self.bias, x, self.weight)

    def add_to(self, residual: Tensor, x: Tensor) -> None:
        """Add the layer's output for x (rows, in) to `residual` (rows, out), in place."""
        residual.addmm_(x, self.weight)
        if self.bias is not None:
            residual.add_(self.bias)


class Norm:
    """RMSNorm of n values, computed as x / sqrt(|x|^2 + n eps) * sqrt(n) weight."""

    def __init__(self, module: Any) -> None:
        weight = module.weight.detach().float()
        self.scale = weight * len(weight) ** 0.5
        self.eps = weight.new_tensor((len(weight) * module.variance_epsilon) ** 0.5)

    def __call__(self, x: Tensor) -> Tensor:
        """Normalize x along its last dimension, computing in fp32."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        return (x / length.hypot_(self.eps)).mul_(self.scale).to(x.dtype)


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one transformer layer; q, k and v are one matrix, and so are gate and up."""

    attention_norm: Norm
    query_key_value: Matrix
    query_norm: Norm | None
    key_norm: Norm | None
    out: Matrix
    feed_forward_norm: Norm
    gate_up: Matrix
    down: Matrix


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a model, and the sizes of its heads.

    embedding: (vocab, hidden). head: the output layer (hidden, vocab).
    rotary: the transformers module that computes rotary cosines and sines.
    """

    embedding: Tensor
    layers: list[Layer]
    norm: Norm
    head: Tensor
    num_heads: int
    num_kv_heads: int
    head_size: int
    rotary: Any


def can_fuse(model: Any) -> bool:
    """Whether the fused forward pass may replace a transformers model's own forward pass.

    The model must be Llama-shaped. On a CPU it must also be in fp32, where the two forward passes
    agree up to rounding.
    """
    return has_known_shape(model) and (model.device.type != "cpu" or model.dtype == torch.float32)


def has_known_shape(model: Any) -> bool:
    """Whether a model is Llama-shaped: the fused forward pass can compute all of its layers."""
    config = model.config
    if config.model_type not in MODEL_TYPES or not type(model).__name__.endswith("ForCausalLM"):
        return False
    rotary = (getattr(config, "rope_parameters", None) or {}).get("rope_type")
    modules = list(model.modules())
    return (
        config.hidden_act == "silu"
        and rotary in STEADY_ROTARY_TYPES
        and all(type(each) is Linear for each in modules if isinstance(each, Linear))
        # The layers of a peft adapter hold plain ones, but compute more than these.
        and {type(m).__module__.split(".")[0] for m in modules} <= {"torch", "transformers"}
        and model.lm_head.bias is None
    )


@torch.no_grad()
def fuse_weights(model: Any) -> Weights:
    """Fuse the weights of a Llama-shaped model, whose modules become views of the fused weights."""
    layers, attention = model.model.layers, model.model.layers[0].self_attn
    embedding, head_size = model.model.embed_tokens, attention.head_dim
    is_tied = embedding.weight is model.lm_head.weight
    head = _fused([model.lm_head]).weight
    if is_tied:
        embedding.weight = model.lm_head.weight
    return Weights(
        embedding=embedding.weight.detach(),
        layers=[_layer(module) for module in layers],
        norm=Norm(model.model.norm),
        head=head,
        num_heads=attention.q_proj.out_features // head_size,
        num_kv_heads=attention.k_proj.out_features // head_size,
        head_size=head_size,
        rotary=model.model.rotary_emb,
    )


def _layer(module: Any) -> Layer:
    attention, feed_forward = module.self_attn, module.mlp
    query_norm, key_norm = (getattr(attention, name, None) for name in ("q_norm", "k_norm"))
    return Layer(
        attention_norm=Norm(module.input_layernorm),
        query_key_value=_fused([attention.q_proj, attention.k_proj, attention.v_proj]),
        query_norm=Norm(query_norm) if query_norm else None,
        key_norm=Norm(key_norm) if key_norm else None,
        out=_fused([attention.o_proj]),
        feed_forward_norm=Norm(module.post_attention_layernorm),
        gate_up=_fused([feed_forward.gate_proj, feed_forward.up_proj]),
        down=_fused([feed_forward.down_proj]),
    )


def _fused(linears: Sequence[Linear]) -> Matrix:
    """Join linear layers that share an input into one Matrix, and make the layers views of it."""
    weight = torch.cat([linear.weight for linear in linears]).t().contiguous()
    has_bias = linears[0].bias is not None
    bias = torch.cat([linear.bias for linear in linears]) if has_bias else None
    start = 0
    for linear in linears:
        stop = start + linear.out_features
        linear.weight = Parameter(weight[:, start:stop].t(), linear.weight.requires_grad)
        if bias is not None:
            linear.bias = Parameter(bias[start:stop], linear.bias.requires_grad)
        start = stop
    return Matrix(weight, bias)


@dataclass(frozen=True, slots=True)
class LowRank:
    """A block adapter's term x @ down @ up for fused linear layers: down (in, r), up (r, out)."""

    down: Tensor
    up: Tensor

    def add_to(self, out: Tensor, x: Tensor, rows: Tensor) -> None:
        """Add x @ down @ up to `out` in place, but only in the rows of blocks.

        rows: the indices of these rows, or a bool tensor (rows, 1).
        """
        if rows.dtype == torch.bool:
            out.add_(torch.mm(torch.mm(x, self.down), self.up).mul_(rows))
        else:
            out.index_add_(0, rows, torch.mm(torch.mm(x[rows], self.down), self.up))


LowRankLayer = Sequence[LowRank]
"""A block adapter's terms for one transformer layer, in the order of GROUPS."""


def low_rank_layers(adapter: BlockAdapter, like: Tensor) -> list[LowRankLayer]:
    """Convert an adapter to LowRank terms per layer, in the dtype and on the device of `like`."""
    return [
        [
            LowRank(*(part.t().contiguous().to(like) for part in side_by_side(pairs)))
            for pairs in ([layer[name] for name in names] for names in GROUPS.values())
        ]
        for layer in adapter.layers
    ]


LONG = 48
"""Most rows of a text whose attention is batched; PyTorch's own attention reads longer prompts."""
STEP = 128
"""The capacity of every slot, in positions, is a multiple of this."""


class KVCachePool:
    """KV cache of several texts, each in a slot of its own with room for `capacity` positions.

    keys: (layers, slots, KV heads, head size, capacity), transposed for the product with queries.
    values: (layers, slots, KV heads, capacity, head size).
    Positions beyond a text's length (see SlotCache) hold finite numbers, which attention weights of
    zero cancel.
    """

    def __init__(
        self, num_slots: int, num_layers: int, num_heads: int, head_size: int, like: Tensor
    ) -> None:
        self.num_slots = num_slots
        self.capacity = 0
        self.steps: dict[tuple[int, bool], Any] = {}
        """Kept by cuda_graph.py: {(rows per slot, whether with the adapter): CudaGraphStep}.
        A larger capacity invalidates them.
        """
        self.keys = like.new_zeros(num_layers, num_slots, num_heads, head_size, 0)
        self.values = like.new_zeros(num_layers, num_slots, num_heads, 0, head_size)

    def ensure_capacity(self, length: int) -> None:
        """Make room for at least `length` positions in every slot."""
        if length <= self.capacity:
            return
        more = -(-length // STEP) * STEP - self.capacity
        self.keys = torch.nn.functional.pad(self.keys, (0, more))
        self.values = torch.nn.functional.pad(self.values, (0, 0, 0, more))
        self.capacity += more
        self.steps.clear()


class PromptAttention:
    """Attention of a long prompt, which nothing is cached of, by PyTorch's own causal attention."""

    def __init__(self, request: ForwardRequest) -> None:
        self.num_rows = request.num_rows
        self._pool, self._slot = request.cache.pool, request.cache.slot

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Store keys and values, then attend; see PaddedBatchAttention.attend()."""
        slot, stop = self._slot, self.num_rows
        self._pool.keys[layer, slot, :, :, :stop] = keys.permute(1, 2, 0)
        self._pool.values[layer, slot, :, :stop] = values.transpose(0, 1)
        query, key, value = (part.transpose(0, 1)[None] for part in (queries, keys, values))
        mixed = scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=1.0, enable_gqa=True
        )
        return mixed[0].transpose(0, 1)


class PaddedBatchAttention:
    """Attention of texts in neighbouring slots, each padded to the rows of the longest."""

    def __init__(
        self,
        keys: Tensor,
        values: Tensor,
        places: Sequence[Tensor],
        visible: Tensor,
        capacity: int,
    ) -> None:
        """Prepare the attention of all rows in a forward pass.

        keys, values: those of a KVCachePool, or of some neighbouring slots of it.
        places: three tensors (rows,) of each row's slot, of its index among the slot's rows, and of
            its cache position.
        visible: (3, slots, width): `seen`, `first` and `stop` of rows_of() for each row in a slot,
            padded to width rows.
        capacity: number of cache positions that attention reads, from the first.
        """
        self._keys, self._values = keys, values
        self._slot, self._offset, self._place = places
        self._capacity = capacity
        self.num_rows = self._slot.shape[0]
        self._num_slots, self._width = visible.shape[1:]
        seen, first, stop = visible[:, :, None, :, None]
        key = torch.arange(capacity, device=visible.device)
        is_hidden = (key >= seen) & ((key < first) | (key >= stop))
        self._mask = torch.zeros_like(is_hidden, dtype=keys.dtype)
        self._mask.masked_fill_(is_hidden, -torch.inf)

    @classmethod
    def of(cls, pool: KVCachePool, rows: np.ndarray) -> "PaddedBatchAttention":
        """Prepare the attention of texts in a pool. rows: those of rows_of(), text by text."""
        device = pool.keys.device
        slot, offset, place = rows[2:5]
        first, stop = slot.min(), slot.max() + 1
        padded = np.zeros((3, stop - first, offset.max() + 1), np.int64)
        padded[0] = 1  # padding sees the first key, so that its softmax is a number
        padded[:, slot - first, offset] = rows[5:8]
        own = (slot - first, offset, place, padded)
        *places, visible = (torch.from_numpy(each).to(device) for each in own)
        keys, values = pool.keys[:, first:stop], pool.values[:, first:stop]
        return cls(keys, values, places, visible, int(place.max()) + 1)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Store new keys and values in a layer's cache, then return the attention output.

        keys, values: (rows, KV heads, head size).
        queries: (rows, heads, head size), already scaled. The output has the same shape.
        """
        slot, offset, place = self._slot, self._offset, self._place
        kept_keys, kept_values = self._keys[layer], self._values[layer]
        kept_keys[slot, :, :, place] = keys
        kept_values[slot, :, place] = values
        _, num_heads, size = queries.shape
        num_slots, num_kv_heads, width = self._num_slots, keys.shape[1], self._width
        asked = queries.new_zeros(num_slots, width, num_heads, size)
        asked[slot, offset] = queries
        asked = asked.transpose(1, 2).reshape(num_slots * num_kv_heads, -1, size)
        scores = torch.bmm(asked, kept_keys.flatten(0, 1)[..., : self._capacity])
        scores.view(num_slots, num_heads, width, -1).add_(self._mask)
        mixed = torch.bmm(scores.softmax(-1), kept_values.flatten(0, 1)[:, : self._capacity])
        return mixed.view(num_slots, num_heads, width, size).transpose(1, 2)[slot, offset]


Attention = PromptAttention | PaddedBatchAttention


class FusedLlamaBackend:
    """Fused PyTorch backend of one model. Threads may share it, but not its caches."""

    name = "PyTorch"
    has_own_threads = False

    def __init__(self, model: Any, adapter: BlockAdapter | None = None) -> None:
        """Fuse a Llama-shaped model, whose modules become views of the fused weights.

        adapter: the model's block adapter, None if it has none.
        """
        self.weights: Weights = fuse_weights(model)
        embedding = self.weights.embedding
        self.dtype = str(embedding.dtype).removeprefix("torch.")
        self._adapter = None if adapter is None else low_rank_layers(adapter, embedding)
        self._rotary = self._rotary_table(STEP)

    @property
    def has_adapter(self) -> bool:
        """Whether the backend applies a block adapter."""
        return self._adapter is not None

    def new_caches(self, count: int) -> list[SlotCache[KVCachePool]]:
        """Make `count` empty caches that one forward pass can serve together."""
        w = self.weights
        pool = KVCachePool(count, len(w.layers), w.num_kv_heads, w.head_size, w.embedding)
        return [SlotCache(pool, slot) for slot in range(count)]

    @torch.inference_mode()
    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """Make one forward pass over texts that share a pool; see SetBlockModel.forward_batch."""
        order = sorted(range(len(requests)), key=lambda i: requests[i].num_rows <= LONG)
        texts = [requests[i] for i in order]
        rows = [rows_of(text) for text in texts]
        whole, pool = np.concatenate(rows, 1), texts[0].cache.pool
        reach = int(whole[4].max()) + 1
        pool.ensure_capacity(reach)
        attentions: list[Attention] = []
        for text, own in zip(texts, rows, strict=True):
            if text.num_rows > LONG:
                is_prompt = not text.cache.length and text.num_rows == len(text.causal_ids)
                attentions.append(
                    PromptAttention(text) if is_prompt else PaddedBatchAttention.of(pool, own)
                )
        if short := rows[len(attentions) :]:
            attentions.append(PaddedBatchAttention.of(pool, np.concatenate(short, 1)))
        device, of_blocks = self.weights.embedding.device, whole[8].nonzero()[0]
        ids, positions = torch.from_numpy(whole[:2]).to(device)
        block_rows = None
        if self.has_adapter and len(of_blocks):
            block_rows = torch.from_numpy(of_blocks).to(device)
        hidden = self.hidden(ids, positions, self.rotary_until(reach), attentions, block_rows)
        ends = hidden.split([text.num_rows for text in texts])
        wanted = [rows[len(rows) - t.num_logits :] for rows, t in zip(ends, texts, strict=True)]
        logits = torch.mm(self.weights.norm(torch.cat(wanted)), self.weights.head).float()
        by_request = dict(zip(order, logits.split([len(rows) for rows in wanted]), strict=True))
        for text in texts:
            text.cache.length += len(text.causal_ids)
        return [by_request[i] for i in range(len(requests))]

    def hidden(
        self,
        ids: Tensor,
        positions: Tensor,
        rotary: tuple[Tensor, Tensor],
        parts: Sequence[Attention],
        block_rows: Tensor | None = None,
    ) -> Tensor:
        """Run all layers; returns hidden states (rows, hidden) before the final norm.

        ids, positions: token id and position of each row, (rows,).
        rotary: from rotary_until(). parts: attentions of the texts, in the order of the rows.
        block_rows: rows that the block adapter applies to, as indices or as a bool tensor
            (rows, 1); None if it applies to none.
        """
        w = self.weights
        hidden = w.embedding.index_select(0, ids)
        cosines, sines = (table.index_select(0, positions) for table in rotary)
        counts = w.num_heads, w.num_kv_heads, w.num_kv_heads

        def adapt(out: Tensor, part: int, x: Tensor) -> None:
            if self._adapter is not None and block_rows is not None:
                self._adapter[index][part].add_to(out, x, block_rows)

        for index, layer in enumerate(w.layers):
            normed = layer.attention_norm(hidden)
            heads = layer.query_key_value(normed)
            adapt(heads, 0, normed)
            queries, keys, values = heads.view(len(ids), -1, w.head_size).split(counts, 1)
            if layer.query_norm is not None and layer.key_norm is not None:
                queries, keys = layer.query_norm(queries), layer.key_norm(keys)
            queries, keys = (_turned(each, cosines, sines) for each in (queries, keys))
            mixed = self._attended(parts, index, queries * w.head_size**-0.5, keys, values)
            layer.out.add_to(hidden, mixed)
            adapt(hidden, 1, mixed)
            normed = layer.feed_forward_norm(hidden)
            gate_up = layer.gate_up(normed)
            adapt(gate_up, 2, normed)
            gate, up = gate_up.chunk(2, 1)
            product = silu(gate).mul_(up)
            layer.down.add_to(hidden, product)
            adapt(hidden, 3, product)
        return hidden

    def _attended(
        self, parts: Sequence[Attention], layer: int, queries: Tensor, keys: Tensor, values: Tensor
    ) -> Tensor:
        """Return one layer's attention output for all texts: (rows, heads * head size)."""
        sizes = [part.num_rows for part in parts]
        shares = zip(parts, *(each.split(sizes) for each in (queries, keys, values)), strict=True)
        mixed = [part.attend(layer, *share) for part, *share in shares]
        return (torch.cat(mixed) if mixed[1:] else mixed[0]).flatten(1)

    def rotary_until(self, length: int) -> tuple[Tensor, Tensor]:
        """Return the table of _rotary_table(), grown to at least `length` positions."""
        table = self._rotary
        if length > len(table[0]):
            table = self._rotary = self._rotary_table(-(-length // STEP) * STEP)
        return table

    def _rotary_table(self, length: int) -> tuple[Tensor, Tensor]:
        """Compute rotary cosines and sines, each (length, 1, 2, head size / 2), for _turned()."""
        w = self.weights
        positions = torch.arange(length, device=w.embedding.device)[None]
        shape = (length, 1, 2, w.head_size // 2)
        cosines, sines = (t[0].reshape(shape) for t in w.rotary(w.embedding, positions))
        return cosines, torch.cat([-sines[:, :, :1], sines[:, :, 1:]], 2)


def _turned(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Apply rotary embeddings to heads (rows, heads, head size).

    A head x becomes x * cosines + (x with its halves swapped) * sines.
    """
    halves = heads.view(*heads.shape[:2], 2, -1)
    return torch.addcmul(halves * cosines, halves.flip(2), sines).flatten(2)
