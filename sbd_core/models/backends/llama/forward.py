"""The fused forward pass of Llama-shaped models, equal to that of transformers up to rounding.

Linear layers treat the tokens of all texts as the rows of one matrix; only attention tells texts
apart. PaddedBatchAttention is for texts padded to the same number of rows, PromptAttention for one
long prompt. Both write new keys and values into the pool, after the cached ones.
sbd_core.masks.visible_rows says which row may attend to which key.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention, silu

from sbd_core.masks import Blocks, visible_rows
from sbd_core.models.backends.llama.weights import Weights, fuse_weights, low_rank_layers
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.protocol import ForwardRequest, SlotCache

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
        """Kept by cuda_graph.py: {(rows per slot, whether with the adapter): CudaGraphStep}."""
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


def num_keys_of(request: ForwardRequest) -> int:
    """Count a text's keys in a forward pass: one per cached token, one per row of the request."""
    return int(request.cache.length) + request.num_rows


def blocks_of(request: ForwardRequest) -> Blocks:
    """Return the shapes of a request's block and predrafts, as sbd_core.masks takes them."""
    return ((len(request.causal_ids), len(request.block_ids)), *request.predraft_shapes)


def visible_keys(request: ForwardRequest) -> list[tuple[int, int, int]]:
    """Return (seen, first, stop) per row: it sees keys 0 to seen - 1, and first to stop - 1."""
    start = request.cache.length
    rows = visible_rows(len(request.causal_ids), blocks_of(request))
    return [(start + seen, start + first, start + stop) for seen, first, stop in rows]


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
        pool: KVCachePool,
        places: tuple[Tensor, Tensor, Tensor],
        visible: Tensor,
        capacity: int,
        first_slot: int = 0,
    ) -> None:
        """Prepare the attention of all rows in a forward pass.

        places: tensors (rows,) of each row's slot, counted from `first_slot`, of its index among
            the slot's rows, and of its cache position.
        visible: (3, slots, width): visible_keys() of each row in a slot, padded to width rows.
        capacity: number of cache positions that attention reads, from the first.
        """
        slots = slice(first_slot, first_slot + visible.shape[1])
        self._keys, self._values = pool.keys[:, slots], pool.values[:, slots]
        self._slot, self._offset, self._place = places
        self._capacity = capacity
        self.num_rows = self._slot.shape[0]
        self._num_slots, self._width = visible.shape[1:]
        seen, first, stop = visible[:, :, None, :, None]
        key = torch.arange(capacity, device=visible.device)
        is_hidden = (key >= seen) & ((key < first) | (key >= stop))
        self._mask = torch.zeros_like(is_hidden, dtype=pool.keys.dtype)
        self._mask.masked_fill_(is_hidden, -torch.inf)

    @classmethod
    def of(cls, requests: Sequence[ForwardRequest]) -> "PaddedBatchAttention":
        """Prepare the attention of all rows of the requests, which share a pool."""
        pool = requests[0].cache.pool
        device = pool.keys.device
        first, num_slots = 0, pool.num_slots
        if len(requests) == 1:
            first, num_slots = requests[0].cache.slot, 1
        rows = [
            (request.cache.slot - first, offset, request.cache.length + offset)
            for request in requests
            for offset in range(request.num_rows)
        ]
        slots, offsets, places = torch.tensor(rows, device=device).t().contiguous()
        width = max(request.num_rows for request in requests)
        visible = torch.zeros(3, num_slots, width, dtype=torch.long)
        # Padding sees the first key, so that its softmax is a number.
        visible[0] = 1
        for request in requests:
            keys = torch.tensor(visible_keys(request)).t()
            visible[:, request.cache.slot - first, : request.num_rows] = keys
        stop = max(num_keys_of(request) for request in requests)
        return cls(pool, (slots, offsets, places), visible.to(device), stop, first)

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
        longest = max(num_keys_of(text) for text in texts)
        texts[0].cache.pool.ensure_capacity(longest)
        device = self.weights.embedding.device
        ids = torch.tensor([i for text in texts for i in text.token_ids], device=device)
        positions = torch.tensor([i for text in texts for i in text.positions()], device=device)
        rotary, block_rows = self.rotary_until(longest), self._block_rows(texts)
        hidden = self.hidden(ids, positions, rotary, self._attentions(texts), block_rows)
        ends = hidden.split([text.num_rows for text in texts])
        wanted = [rows[len(rows) - t.num_logits :] for rows, t in zip(ends, texts, strict=True)]
        logits = torch.mm(self.weights.norm(torch.cat(wanted)), self.weights.head).float()
        by_request = dict(zip(order, logits.split([len(rows) for rows in wanted]), strict=True))
        for text in texts:
            text.cache.length += len(text.causal_ids)
        return [by_request[i] for i in range(len(requests))]

    def _attentions(self, texts: Sequence[ForwardRequest]) -> list[Attention]:
        """Prepare one attention for each text of more than LONG rows, and one for all other texts.

        The texts of more than LONG rows must come first.
        """
        made: list[Attention] = []
        for text in (text for text in texts if text.num_rows > LONG):
            is_prompt = not text.cache.length and text.num_rows == len(text.causal_ids)
            made.append(PromptAttention(text) if is_prompt else PaddedBatchAttention.of([text]))
        short = texts[len(made) :]
        return [*made, PaddedBatchAttention.of(short)] if short else made

    def _block_rows(self, texts: Sequence[ForwardRequest]) -> Tensor | None:
        """Return the rows that the block adapter applies to, or None if it applies to none."""
        rows, start = list[int](), 0
        for text in texts if self.has_adapter else ():
            rows += [start + row for row in text.block_rows()]
            start += text.num_rows
        return torch.tensor(rows, device=self.weights.embedding.device) if rows else None

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
