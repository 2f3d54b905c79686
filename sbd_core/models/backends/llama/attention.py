"""Attention of one forward pass over the pool: one text by slices of its slot, many by padded rows.

Both write the new keys and values into the pool, after the cached ones. The rule of who may attend
to whom is sbd_core.masks.decoding_may_attend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from sbd_core.masks import Blocks, decoding_may_attend, dense, visible_rows
from sbd_core.models.backends.kv_cache import KVCachePool, SlotCache
from sbd_core.models.protocol import ForwardRequest

LONG = 48
"""A text of more queries is attended to alone, and a prompt by the fused kernel."""
MOST_MASKS = 256
"""Number of masks that are kept, as predrafts come in very many shapes."""


@dataclass(frozen=True, slots=True)
class QuerySpan:
    """The rows of a text in a forward pass: causal tokens, a block, predrafts.

    Their keys lie after the cached ones, in this order. positions: of the rows in the text, where
    a predraft's do not follow those of the row before. block_rows: see ForwardRequest.block_rows.
    """

    cache: SlotCache[KVCachePool]
    num_causal: int
    num_block: int
    predrafts: Blocks
    num_queries: int
    positions: Sequence[int]
    block_rows: Sequence[int]

    @classmethod
    def of(cls, request: ForwardRequest) -> "QuerySpan":
        """The rows of a request."""
        return cls(
            request.cache,
            len(request.causal_ids),
            len(request.block_ids),
            request.predraft_shapes,
            request.num_rows,
            request.positions(),
            request.block_rows(),
        )

    @property
    def stop(self) -> int:
        """One past the cache position of the last row's key."""
        return self.cache.length + self.num_queries

    @property
    def blocks(self) -> Blocks:
        """Every block; see sbd_core.masks.Blocks."""
        return ((self.num_causal, self.num_block), *self.predrafts)

    def visible(self) -> list[tuple[int, int, int]]:
        """The keys that each row sees: those before s and from `first` to before `stop`."""
        start = self.cache.length
        rows = visible_rows(self.num_causal, self.blocks)
        return [(start + seen, start + first, start + stop) for seen, first, stop in rows]


class MaskTable:
    """Additive masks (queries, queries) for the new keys; every row sees all cached keys."""

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._known: dict[tuple[int, Blocks], Tensor] = {}

    def get(self, rows: QuerySpan) -> Tensor | None:
        """The mask, None where every row sees everything."""
        if rows.num_queries == 1 or (rows.num_causal == 0 and not rows.predrafts):
            return None
        shape = (rows.num_causal, rows.blocks)
        mask = self._known.get(shape)
        if mask is None:
            size, device = rows.num_queries, self._like.device
            may_attend = decoding_may_attend(0, rows.num_causal, rows.blocks)
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
    """Protocol of attention with its mask and cache, for num_rows rows of a forward pass."""

    num_rows: int

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Cache a layer's new keys and values (rows, kv heads, size) and attend to all.

        queries: (rows, heads, size), scaled already. Returns the mixed values, shaped like queries.
        """


class SingleSequenceAttention:
    """Attention of one text."""

    def __init__(self, rows: QuerySpan, masks: MaskTable) -> None:
        cache, stop = rows.cache, rows.stop
        pool, slot, start = cache.pool, cache.slot, cache.length
        keys, values = pool.keys[:, slot], pool.values[:, slot]
        self._new_keys = keys[..., start:stop].unbind()
        self._new_values = values[:, :, start:stop].unbind()
        self._keys = keys[..., :stop].unbind()
        self._values = values[:, :, :stop].unbind()
        self._num_cached = start
        self.num_rows = rows.num_queries
        self._is_prompt = not start and self.num_rows == rows.num_causal > LONG
        self._mask = None if self._is_prompt else masks.get(rows)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """See Attention."""
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
    """Attention of several texts of one pool, padded to the rows of the longest."""

    def __init__(
        self,
        pool: KVCachePool,
        places: tuple[Tensor, Tensor, Tensor],
        visible: Tensor,
        capacity: int,
    ) -> None:
        """Prepare the attention of all rows of a forward pass.

        places: per row its slot, its offset there and its key's cache position, each (rows,).
        visible: (3, slots, widest), s, first and stop of QuerySpan.visible, at most `capacity`.
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
    def of(cls, texts: Sequence[QuerySpan]) -> "PaddedBatchAttention":
        """The attention of these texts' rows."""
        pool = texts[0].cache.pool
        device = pool.keys.device
        columns = zip(
            *(
                (rows.cache.slot, offset, rows.cache.length + offset)
                for rows in texts
                for offset in range(rows.num_queries)
            ),
            strict=True,
        )
        slots, offsets, places = (torch.tensor(column, device=device) for column in columns)
        visible = torch.zeros(
            3, pool.num_slots, max(rows.num_queries for rows in texts), dtype=torch.long
        )
        # Padding sees the first key, so that its softmax is a number.
        visible[0] = 1
        for rows in texts:
            visible[:, rows.cache.slot, : rows.num_queries] = torch.tensor(rows.visible()).t()
        stop = max(rows.stop for rows in texts)
        return cls(pool, (slots, offsets, places), visible.to(device), stop)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """See Attention."""
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
