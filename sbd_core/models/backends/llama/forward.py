"""A fused forward pass for Llama-shaped models: the same weights in few operations.

Equal to the transformers model up to rounding. The tokens of all texts are rows of one matrix in
every linear layer; only attention tells the texts apart.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import silu

from sbd_core.models.backends.kv_cache import STEP, KVCachePool, SlotCache
from sbd_core.models.backends.llama.attention import (
    LONG,
    Attention,
    MaskTable,
    PaddedBatchAttention,
    QuerySpan,
    SingleSequenceAttention,
)
from sbd_core.models.backends.llama.weights import (
    BlockRows,
    LowRankLayer,
    Norm,
    Weights,
    fuse_weights,
    low_rank_layers,
)
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.protocol import ForwardRequest


class FusedLlamaBackend:
    """The forward passes of one model. Threads may share it; a cache belongs to one of them."""

    name = "PyTorch"
    has_own_threads = False

    def __init__(self, model: Any, adapter: BlockAdapter | None = None) -> None:
        """Fuse a model that can_fuse(); its modules become views of the fused weights.

        adapter: its block adapter, None without.
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
        """Whether it has a block adapter."""
        return self._adapter is not None

    def new_caches(self, count: int) -> list[SlotCache[KVCachePool]]:
        """Empty caches whose forward passes can be made together."""
        w = self.weights
        pool = KVCachePool(count, len(w.layers), w.num_kv_heads, w.head_size, w.embedding)
        return [SlotCache(pool, slot) for slot in range(count)]

    @torch.inference_mode()
    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """One forward pass over texts of one pool; logits (rows asked for, vocab) of each."""
        order = sorted(range(len(requests)), key=lambda i: requests[i].num_rows <= LONG)
        texts = [requests[i] for i in order]
        rows = [QuerySpan.of(request) for request in texts]
        longest = max(text.stop for text in rows)
        rows[0].cache.pool.ensure_capacity(longest)
        self.rotary_until(longest)
        token_ids = [token_id for request in texts for token_id in request.token_ids]
        ids = torch.tensor(token_ids, device=self.weights.embedding.device)
        hidden = self.hidden(ids, self._angles(rows), self._parts(rows), self._block_rows(rows))
        num_logits = [request.num_logits for request in texts]
        logits = self._logits(hidden, [text.num_queries for text in rows], num_logits)
        for request, text in zip(texts, rows, strict=True):
            request.cache.length += text.num_causal
        by_request: dict[int, Tensor] = dict(zip(order, logits, strict=True))
        return [by_request[i] for i in range(len(requests))]

    def _parts(self, rows: Sequence[QuerySpan]) -> list[Attention]:
        """The attention of each long text, then of the others together. rows: long texts first."""
        num_long = sum(text.num_queries > LONG for text in rows)
        if len(rows) - num_long == 1:
            num_long += 1
        alone: list[Attention] = [
            SingleSequenceAttention(text, self._masks) for text in rows[:num_long]
        ]
        return alone + ([PaddedBatchAttention.of(rows[num_long:])] if rows[num_long:] else [])

    def _block_rows(self, rows: Sequence[QuerySpan]) -> BlockRows | None:
        """The rows that read the adapter; None without an adapter or blocks."""
        if self._adapter is None or not any(text.block_rows for text in rows):
            return None
        own = rows[0].block_rows
        if len(rows) == 1 and isinstance(own, range):
            return slice(own.start, own.stop)
        rows_of_blocks: list[int] = []
        start = 0
        for text in rows:
            rows_of_blocks += [start + row for row in text.block_rows]
            start += text.num_queries
        return torch.tensor(rows_of_blocks, device=self.weights.embedding.device)

    def _angles(self, rows: Sequence[QuerySpan]) -> tuple[Tensor, Tensor]:
        """Cosines and sines (rows, heads, 2, half) of the rotary embedding of every row's heads."""
        cosines, sines = self._rotary
        if len(rows) == 1 and not rows[0].predrafts:
            start, stop = rows[0].cache.length, rows[0].stop
            cosines, sines = cosines[start:stop], sines[start:stop]
        else:
            positions = [position for text in rows for position in text.positions]
            return self.angles_at(torch.tensor(positions, device=cosines.device), self._rotary)
        return cosines.index_select(1, self._kinds), sines.index_select(1, self._kinds)

    def angles_at(self, positions: Tensor, rotary: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """As _angles, for rows at positions (rows,), which the table of rotary_until() covers."""
        cosines, sines = (table.index_select(0, positions) for table in rotary)
        return cosines.index_select(1, self._kinds), sines.index_select(1, self._kinds)

    def hidden(
        self,
        ids: Tensor,
        angles: tuple[Tensor, Tensor],
        parts: Sequence[Attention],
        block_rows: BlockRows | None = None,
    ) -> Tensor:
        """Hidden states (rows, hidden) after the last layer, before the last norm.

        ids: token ids (rows,).
        angles: see _angles.
        parts: attention of the texts, in the order of the rows.
        block_rows: rows that read the adapter, None for none.
        """
        w = self.weights
        hidden = w.embedding.index_select(0, ids)
        shape = angles[0].shape
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
            heads = torch.addcmul(heads * angles[0], heads.flip(2), angles[1]).flatten(2)
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
        """Heads (rows, heads, 2, half) with RMSNorm applied to queries and keys."""
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
        """Attention of every text. heads: queries, keys and values (rows, heads, size)."""
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
        """fp32 logits of the last num_logits[i] of each text's num_rows[i] rows."""
        if list(num_rows) != list(num_logits):
            parts = zip(hidden.split(list(num_rows)), num_logits, strict=True)
            hidden = torch.cat([rows[rows.shape[0] - count :] for rows, count in parts])
        logits = torch.mm(self.weights.norm(hidden), self.weights.head)
        return list(logits.float().split(list(num_logits)))

    def rotary_until(self, length: int) -> tuple[Tensor, Tensor]:
        """The rotary table, grown to at least `length` positions; see _rotary_table."""
        table = self._rotary
        if length > table[0].shape[0]:
            table = self._rotary = self._rotary_table(-(-length // STEP) * STEP)
        return table

    def _rotary_table(self, length: int) -> tuple[Tensor, Tensor]:
        """Cosines and sines (length, 3, 2, half) of the rotary embedding of queries, keys, values.

        A head x becomes x * cosines + swapped halves of x * sines. That also scales queries for
        attention, and leaves values as they are.
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
