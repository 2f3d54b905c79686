"""The fused forward pass of Llama-shaped models, equal to that of transformers up to rounding.

Linear layers treat the tokens of all texts as the rows of one matrix; only attention tells texts
apart. SingleSequenceAttention is for one text. PaddedBatchAttention is for several texts, padded
to the same number of rows. Both write new keys and values into the pool, after the cached ones.
sbd_core.masks.decoding_may_attend says which row may attend to which key.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention, silu

from sbd_core.masks import Blocks, decoding_may_attend, dense, visible_rows
from sbd_core.models.backends.llama.weights import (
    BlockRows,
    LowRankLayer,
    Norm,
    Weights,
    fuse_weights,
    low_rank_layers,
)
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.protocol import ForwardRequest, SlotCache

LONG = 48
"""Most rows of a text whose attention is batched; PyTorch's own attention reads longer prompts."""
MOST_MASKS = 256
"""Largest number of masks kept. Predrafts come in very many shapes."""
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


class MaskTable:
    """Cache of additive attention masks (rows, rows), one for each shape of a request.

    A mask says which rows of the request see each other. All of them see all cached keys.
    """

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._known: dict[tuple[int, Blocks], Tensor] = {}

    def get(self, request: ForwardRequest) -> Tensor | None:
        """Return the mask of a request, or None if all rows of the request see each other."""
        if request.num_rows == 1 or not (request.causal_ids or request.predrafts):
            return None
        shape = (len(request.causal_ids), blocks_of(request))
        mask = self._known.get(shape)
        if mask is None:
            size, device = request.num_rows, self._like.device
            may_attend = decoding_may_attend(0, *shape)
            is_hidden = ~dense(may_attend, size, size)[0].to(device)
            mask = self._like.new_zeros(size, size).masked_fill_(is_hidden, -torch.inf)
            if size <= 2 * LONG:
                self._keep(shape, mask)
        return mask

    def _keep(self, shape: tuple[int, Blocks], mask: Tensor) -> None:
        while len(self._known) >= MOST_MASKS:
            self._known.pop(next(iter(self._known)), None)
        self._known[shape] = mask


class Attention(Protocol):
    """Protocol of the attention of one or more texts, which have num_rows rows together."""

    num_rows: int

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Store new keys and values in a layer's cache, then return the attention output.

        keys, values: (rows, KV heads, head size).
        queries: (rows, heads, head size), already scaled. The output has the same shape.
        """


class SingleSequenceAttention:
    """Attention of a single text, without padding."""

    def __init__(self, request: ForwardRequest, masks: MaskTable) -> None:
        cache, stop = request.cache, num_keys_of(request)
        pool, slot, start = cache.pool, cache.slot, cache.length
        keys, values = pool.keys[:, slot], pool.values[:, slot]
        self._new_keys = keys[..., start:stop].unbind()
        self._new_values = values[:, :, start:stop].unbind()
        self._keys = keys[..., :stop].unbind()
        self._values = values[:, :, :stop].unbind()
        self._num_cached = start
        self.num_rows = request.num_rows
        self._is_prompt = not start and self.num_rows == len(request.causal_ids) > LONG
        self._mask = None if self._is_prompt else masks.get(request)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Store new keys and values, then attend; see Attention.attend()."""
        self._new_keys[layer].copy_(keys.permute(1, 2, 0))
        self._new_values[layer].copy_(values.transpose(0, 1))
        if self._is_prompt:
            query, key, value = (part.transpose(0, 1)[None] for part in (queries, keys, values))
            mixed = scaled_dot_product_attention(
                query, key, value, is_causal=True, scale=1.0, enable_gqa=True
            )
            return mixed[0].transpose(0, 1)
        num_rows, num_heads, size = queries.shape
        num_kv_heads = keys.shape[1]
        asked = queries.transpose(0, 1).reshape(num_kv_heads, -1, size)
        scores = torch.bmm(asked, self._keys[layer])
        if self._mask is not None:
            own = scores.view(num_heads, num_rows, -1)[..., self._num_cached :]
            own += self._mask
        mixed = torch.bmm(scores.softmax(-1), self._values[layer])
        return mixed.view(num_heads, num_rows, size).transpose(0, 1)


class PaddedBatchAttention:
    """Attention of several texts in one pool, each padded to the number of rows of the longest."""

    def __init__(
        self,
        pool: KVCachePool,
        places: tuple[Tensor, Tensor, Tensor],
        visible: Tensor,
        capacity: int,
    ) -> None:
        """Prepare the attention of all rows in a forward pass.

        places: tensors (rows,) of each row's slot, index among the slot's rows, and cache position.
        visible: (3, slots, width): visible_keys() of each row in a slot, padded to width rows.
        capacity: number of cache positions that attention reads, from the first.
        """
        self._pool = pool
        self._slot, self._offset, self._place = places
        self._capacity = capacity
        self.num_rows = self._slot.shape[0]
        self._width = visible.shape[2]
        seen, first, stop = visible[:, :, None, :, None]
        key = torch.arange(capacity, device=visible.device)
        is_hidden = (key >= seen) & ((key < first) | (key >= stop))
        self._mask = torch.zeros_like(is_hidden, dtype=pool.keys.dtype)
        self._mask.masked_fill_(is_hidden, -torch.inf)

    @classmethod
    def of(cls, requests: Sequence[ForwardRequest]) -> "PaddedBatchAttention":
        """Prepare the attention of all rows of the requests."""
        pool = requests[0].cache.pool
        device = pool.keys.device
        columns = zip(
            *(
                (request.cache.slot, offset, request.cache.length + offset)
                for request in requests
                for offset in range(request.num_rows)
            ),
            strict=True,
        )
        slots, offsets, places = (torch.tensor(column, device=device) for column in columns)
        visible = torch.zeros(
            3, pool.num_slots, max(request.num_rows for request in requests), dtype=torch.long
        )
        # Padding sees the first key, so that its softmax is a number.
        visible[0] = 1
        for request in requests:
            keys = torch.tensor(visible_keys(request)).t()
            visible[:, request.cache.slot, : request.num_rows] = keys
        stop = max(num_keys_of(request) for request in requests)
        return cls(pool, (slots, offsets, places), visible.to(device), stop)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Store new keys and values, then attend; see Attention.attend()."""
        pool, slot, offset, place = self._pool, self._slot, self._offset, self._place
        pool.keys[layer][slot, :, :, place] = keys
        pool.values[layer][slot, :, place] = values
        _, num_heads, size = queries.shape
        num_slots, num_kv_heads, width = pool.num_slots, keys.shape[1], self._width
        asked = queries.new_zeros(num_slots, width, num_heads, size)
        asked[slot, offset] = queries
        asked = asked.transpose(1, 2).reshape(num_slots * num_kv_heads, -1, size)
        seen_keys = pool.keys[layer].flatten(0, 1)[..., : self._capacity]
        seen_values = pool.values[layer].flatten(0, 1)[:, : self._capacity]
        scores = torch.bmm(asked, seen_keys)
        scores.view(num_slots, num_heads, width, -1).add_(self._mask)
        mixed = torch.bmm(scores.softmax(-1), seen_values)
        return mixed.view(num_slots, num_heads, width, size).transpose(1, 2)[slot, offset]


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
        self._adapter: list[LowRankLayer] | None = (
            None if adapter is None else low_rank_layers(adapter, embedding)
        )
        self._masks = MaskTable(self.weights.embedding)
        self._rotary = self._rotary_table(STEP)
        w = self.weights
        kinds = [0] * w.num_heads + [1] * w.num_kv_heads + [2] * w.num_kv_heads
        self._kinds = torch.tensor(kinds, device=w.embedding.device)

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
        self.rotary_until(longest)
        token_ids = [token_id for request in texts for token_id in request.token_ids]
        ids = torch.tensor(token_ids, device=self.weights.embedding.device)
        hidden = self.hidden(
            ids, self._rotary_factors(texts), self._attentions(texts), self._block_rows(texts)
        )
        num_logits = [request.num_logits for request in texts]
        logits = self._logits(hidden, [text.num_rows for text in texts], num_logits)
        for text in texts:
            text.cache.length += len(text.causal_ids)
        by_request: dict[int, Tensor] = dict(zip(order, logits, strict=True))
        return [by_request[i] for i in range(len(requests))]

    def _attentions(self, texts: Sequence[ForwardRequest]) -> list[Attention]:
        """Prepare one attention for each text of more than LONG rows, and one for all other texts.

        The texts of more than LONG rows must come first.
        """
        num_long = sum(text.num_rows > LONG for text in texts)
        if len(texts) - num_long == 1:
            num_long += 1
        alone: list[Attention] = [
            SingleSequenceAttention(text, self._masks) for text in texts[:num_long]
        ]
        return alone + ([PaddedBatchAttention.of(texts[num_long:])] if texts[num_long:] else [])

    def _block_rows(self, texts: Sequence[ForwardRequest]) -> BlockRows | None:
        """Return the rows that the block adapter applies to, or None if it applies to none."""
        if self._adapter is None or not any(text.block_rows() for text in texts):
            return None
        own = texts[0].block_rows()
        if len(texts) == 1 and isinstance(own, range):
            return slice(own.start, own.stop)
        rows_of_blocks: list[int] = []
        start = 0
        for text in texts:
            rows_of_blocks += [start + row for row in text.block_rows()]
            start += text.num_rows
        return torch.tensor(rows_of_blocks, device=self.weights.embedding.device)

    def _rotary_factors(self, texts: Sequence[ForwardRequest]) -> tuple[Tensor, Tensor]:
        """Return rotary cosines and sines for all heads of queries, keys and values in each row.

        Both are (rows, heads, 2, half), where half is half the head size.
        """
        cosines, sines = self._rotary
        if len(texts) == 1 and not texts[0].predrafts:
            start, stop = texts[0].cache.length, num_keys_of(texts[0])
            cosines, sines = cosines[start:stop], sines[start:stop]
        else:
            positions = [position for text in texts for position in text.positions()]
            return self.rotary_factors_at(
                torch.tensor(positions, device=cosines.device), self._rotary
            )
        return cosines.index_select(1, self._kinds), sines.index_select(1, self._kinds)

    def rotary_factors_at(
        self, positions: Tensor, rotary: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Look up cosines and sines for rows at `positions` (rows,); see _rotary_factors().

        rotary: a table from rotary_until() that covers all these positions.
        """
        cosines, sines = (table.index_select(0, positions) for table in rotary)
        return cosines.index_select(1, self._kinds), sines.index_select(1, self._kinds)

    def hidden(
        self,
        ids: Tensor,
        rotary_factors: tuple[Tensor, Tensor],
        parts: Sequence[Attention],
        block_rows: BlockRows | None = None,
    ) -> Tensor:
        """Run all layers; returns hidden states (rows, hidden) before the final norm.

        ids: token ids (rows,).
        rotary_factors: rotary cosines and sines, as from _rotary_factors().
        parts: the attentions of the texts, in the order of the rows.
        block_rows: rows that the block adapter applies to; None if it applies to none.
        """
        w = self.weights
        hidden = w.embedding.index_select(0, ids)
        shape = rotary_factors[0].shape
        width = w.layers[0].gate_up.weight.shape[1] // 2
        for index, layer in enumerate(w.layers):
            normed = layer.attention_norm(hidden)
            heads = layer.query_key_value(normed)
            low = self._adapter[index] if self._adapter and block_rows is not None else None
            if low is not None and block_rows is not None:
                low[0].add_to(heads, normed, block_rows)
            heads = heads.view(shape)
            if layer.query_norm is not None and layer.key_norm is not None:
                heads = self._normed(heads, layer.query_norm, layer.key_norm)
            heads = torch.addcmul(
                heads * rotary_factors[0], heads.flip(2), rotary_factors[1]
            ).flatten(2)
            mixed = self._attended(parts, index, heads)
            layer.out.add_to(hidden, mixed)
            if low is not None and block_rows is not None:
                low[1].add_to(hidden, mixed, block_rows)
            normed = layer.feed_forward_norm(hidden)
            gate_up = layer.gate_up(normed)
            if low is not None and block_rows is not None:
                low[2].add_to(gate_up, normed, block_rows)
            gate, up = gate_up.narrow(1, 0, width), gate_up.narrow(1, width, width)
            product = silu(gate).mul_(up)
            layer.down.add_to(hidden, product)
            if low is not None and block_rows is not None:
                low[3].add_to(hidden, product, block_rows)
        return hidden

    def _normed(self, heads: Tensor, query_norm: Norm, key_norm: Norm) -> Tensor:
        """Return `heads` (rows, heads, 2, half) with RMSNorm applied to the query and key heads."""
        w = self.weights
        kinds = torch.split_with_sizes(
            heads.flatten(2), (w.num_heads, w.num_kv_heads, w.num_kv_heads), 1
        )
        normed = torch.cat([query_norm(kinds[0]), key_norm(kinds[1]), kinds[2]], 1)
        return normed.view(heads.shape)

    def _attended(
        self,
        parts: Sequence[Attention],
        layer: int,
        heads: Tensor,
    ) -> Tensor:
        """Return one layer's attention output for all texts: (rows, query heads * head size).

        heads: (rows, heads, head size): all query heads, then the key heads, then the value heads.
        """
        w = self.weights
        queries, keys, values = torch.split_with_sizes(
            heads, (w.num_heads, w.num_kv_heads, w.num_kv_heads), 1
        )
        if len(parts) == 1:
            return parts[0].attend(layer, queries, keys, values).reshape(heads.shape[0], -1)
        sizes = [part.num_rows for part in parts]
        shares = zip(
            parts, queries.split(sizes), keys.split(sizes), values.split(sizes), strict=True
        )
        return torch.cat([part.attend(layer, q, k, v) for part, q, k, v in shares]).flatten(1)

    def _logits(
        self, hidden: Tensor, num_rows: Sequence[int], num_logits: Sequence[int]
    ) -> list[Tensor]:
        """Return fp32 logits of each text i, for the last num_logits[i] of its num_rows[i] rows."""
        if list(num_rows) != list(num_logits):
            parts = zip(hidden.split(list(num_rows)), num_logits, strict=True)
            hidden = torch.cat([rows[rows.shape[0] - count :] for rows, count in parts])
        logits = torch.mm(self.weights.norm(hidden), self.weights.head)
        return list(logits.float().split(list(num_logits)))

    def rotary_until(self, length: int) -> tuple[Tensor, Tensor]:
        """Return the table of _rotary_table(), grown to at least `length` positions."""
        table = self._rotary
        if length > table[0].shape[0]:
            table = self._rotary = self._rotary_table(-(-length // STEP) * STEP)
        return table

    def _rotary_table(self, length: int) -> tuple[Tensor, Tensor]:
        """Compute rotary cosines and sines, each (length, 3, 2, head size / 2).

        The 3 are queries, keys and values. A head x becomes x * cosines + (x with its halves
        swapped) * sines. Query factors include the attention scale; values stay as they are.
        """
        w = self.weights
        positions = torch.arange(length, device=w.embedding.device)[None]
        shape = (length, 1, 2, w.head_size // 2)
        cosines, sines = (t[0].reshape(shape) for t in w.rotary(w.embedding, positions))
        sines = torch.cat([-sines[:, :, :1], sines[:, :, 1:]], 2)
        scale = w.head_size**-0.5
        return (
            torch.cat([cosines * scale, cosines, torch.ones_like(cosines)], 1),
            torch.cat([sines * scale, sines, torch.zeros_like(sines)], 1),
        )
