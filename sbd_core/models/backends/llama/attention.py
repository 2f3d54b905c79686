"""Attention of one forward pass over the pool: one text by slices of its slot, many by padded rows.

Both write the forward pass's keys and values into the pool behind what is cached. The rule of who
may attend to whom is sbd_core.masks.decoding_may_attend.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from sbd_core.masks import decoding_may_attend, dense
from sbd_core.models.backends.llama.kv_cache import FusedLlamaCache, KVCachePool

LONG = 48
"""Queries from which a text is attended to alone, and a prompt with the fused kernel."""


@dataclass(frozen=True, slots=True)
class QuerySpan:
    """The rows a text brings to a forward pass: causal tokens, then a block."""

    cache: FusedLlamaCache
    num_causal: int
    num_block: int

    @property
    def num_queries(self) -> int:
        """QuerySpan in all."""
        return self.num_causal + self.num_block

    @property
    def stop(self) -> int:
        """Positions of the text, block included."""
        return self.cache.length + self.num_queries

    def positions(self) -> range:
        """The position of every row."""
        return range(self.cache.length, self.stop)

    def last_seen(self) -> list[int]:
        """The last position every row attends to."""
        return [*self.positions()[: self.num_causal], *[self.stop - 1] * self.num_block]


class MaskTable:
    """Additive masks (queries, queries) of the new keys; what is cached all rows see."""

    def __init__(self, like: Tensor) -> None:
        self._like = like
        self._known: dict[tuple[int, int], Tensor] = {}

    def get(self, rows: QuerySpan) -> Tensor | None:
        """The mask, None where every row sees everything."""
        if rows.num_causal == 0 or rows.num_queries == 1:
            return None
        shape = (rows.num_causal, rows.num_block)
        mask = self._known.get(shape)
        if mask is None:
            size = rows.num_queries
            may_attend = dense(decoding_may_attend(0, rows.num_causal), size, size)[0]
            mask = self._like.new_zeros(size, size).masked_fill_(
                ~may_attend.to(self._like.device), -torch.inf
            )
            if size <= 2 * LONG:
                self._known[shape] = mask
        return mask


class SingleSequenceAttention:
    """One text."""

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
        self._is_prompt = not start and not rows.num_block and self.num_rows > LONG
        self._mask = None if self._is_prompt else masks.get(rows)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Scaled queries (rows, heads, size), keys and values (rows, kv heads, size) -> mixed."""
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
    """Several texts of few rows each, slots of one pool, padded to the most rows."""

    def __init__(
        self, pool: KVCachePool, places: tuple[Tensor, Tensor, Tensor], last: Tensor, stop: int
    ) -> None:
        """places: slot, offset in the slot's rows and position of every row, each (rows,).

        last (slots, widest): the last key each row sees, below `stop`.
        """
        self._pool = pool
        self._slot, self._offset, self._position = places
        self._stop = stop
        self.num_rows = self._slot.shape[0]
        self._width = last.shape[1]
        is_hidden = torch.arange(stop, device=last.device) > last[:, None, :, None]
        self._mask = torch.zeros_like(is_hidden, dtype=pool.keys.dtype)
        self._mask.masked_fill_(is_hidden, -torch.inf)

    @classmethod
    def of(cls, texts: Sequence[QuerySpan]) -> "PaddedBatchAttention":
        """The rows that texts bring."""
        pool: KVCachePool = texts[0].cache.pool
        device = pool.keys.device
        columns = zip(
            *(
                (rows.cache.slot, offset, position)
                for rows in texts
                for offset, position in enumerate(rows.positions())
            ),
            strict=True,
        )
        slots, offsets, positions = (torch.tensor(column, device=device) for column in columns)
        # Padding sees the first key, so that its softmax is a number.
        last = torch.zeros(
            pool.num_slots, max(rows.num_queries for rows in texts), dtype=torch.long
        )
        for rows in texts:
            last[rows.cache.slot, : rows.num_queries] = torch.tensor(rows.last_seen())
        stop = max(rows.stop for rows in texts)
        return cls(pool, (slots, offsets, positions), last.to(device), stop)

    def attend(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """See SingleSequenceAttention.attend."""
        pool, slot, offset, position = self._pool, self._slot, self._offset, self._position
        pool.keys[layer][slot, :, :, position] = keys
        pool.values[layer][slot, :, position] = values
        _, num_heads, size = queries.shape
        num_slots, num_kv_heads, width = pool.num_slots, keys.shape[1], self._width
        asked = queries.new_zeros(num_slots, width, num_heads, size)
        asked[slot, offset] = queries
        asked = asked.transpose(1, 2).reshape(num_slots * num_kv_heads, -1, size)
        seen_keys = pool.keys[layer].flatten(0, 1)[..., : self._stop]
        seen_values = pool.values[layer].flatten(0, 1)[:, : self._stop]
        scores = torch.bmm(asked, seen_keys)
        scores.view(num_slots, num_heads, width, -1).add_(self._mask)
        mixed = torch.bmm(scores.softmax(-1), seen_values)
        return mixed.view(num_slots, num_heads, width, size).transpose(1, 2)[slot, offset]


Attention = SingleSequenceAttention | PaddedBatchAttention
