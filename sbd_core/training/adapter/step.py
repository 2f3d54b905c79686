"""The forward pass over block states, and its loss: rows of blocks alone have gradients.

The keys and values of the clean texts are the base's own, made once a batch without gradient by
the backend that decodes; all blocks of a text read them. Knows nothing of files or schedules.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.llama.kv_cache import KVCachePool
from sbd_core.models.backends.llama.low_rank import GROUPS
from sbd_core.models.block_adapter import LINEARS, BlockAdapter, BlockAdapterInfo
from sbd_core.models.protocol import ForwardRequest
from sbd_core.sampling import sampler_change
from sbd_core.training.adapter.states import NO_TARGET, BlockStates


@dataclass(frozen=True, slots=True)
class StepLoss:
    """total: to be minimised. plain, with_before: nats a masked token, the second by the
    sampler head, which knows the token before. num_masked: tokens they are means of."""

    total: Tensor
    plain: float
    with_before: float
    num_masked: int


class AdapterModule(nn.Module):
    """What is trained: fp32 values of a BlockAdapter beside a frozen base."""

    def __init__(
        self,
        base: FusedLlamaBackend,
        rank: int,
        sampler_width: int,
        mask_id: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        weights = base.weights
        self.base, self.mask_id, self.rank = base, mask_id, rank
        kv_size = weights.num_kv_heads * weights.head_size
        query_size = weights.num_heads * weights.head_size
        width = weights.layers[0].gate_up.weight.shape[1] // 2
        hidden = weights.embedding.shape[1]
        self.sizes = {
            "q": (hidden, query_size),
            "k": (hidden, kv_size),
            "v": (hidden, kv_size),
            "o": (query_size, hidden),
            "gate": (hidden, width),
            "up": (hidden, width),
            "down": (width, hidden),
        }
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for index in range(len(weights.layers)):
            for name in LINEARS:
                size_in, size_out = self.sizes[name]
                values = torch.randn(rank, size_in, generator=generator) / math.sqrt(size_in)
                self.down[f"{index}_{name}"] = nn.Parameter(values)
                self.up[f"{index}_{name}"] = nn.Parameter(torch.zeros(size_out, rank))
        known = weights.embedding[:mask_id].float()
        self.mask_embedding = nn.Parameter(known.mean(0))
        self.sampler: nn.ParameterDict | None = None
        if sampler_width:
            values = torch.randn(2 * sampler_width, 2 * hidden, generator=generator)
            self.sampler = nn.ParameterDict(
                {
                    "into": nn.Parameter(values / math.sqrt(2 * hidden)),
                    "out": nn.Parameter(torch.zeros(hidden, sampler_width)),
                }
            )

    def load(self, adapter: BlockAdapter) -> None:
        """Take the values of a stored adapter of the same shape."""
        with torch.no_grad():
            for index, layer in enumerate(adapter.layers):
                for name, (down, up) in layer.items():
                    self.down[f"{index}_{name}"].copy_(down)
                    self.up[f"{index}_{name}"].copy_(up)
            self.mask_embedding.copy_(adapter.mask_embedding)
            if self.sampler is not None and adapter.sampler is not None:
                for name, value in zip(("into", "out"), adapter.sampler, strict=True):
                    self.sampler[name].copy_(value)

    def adapter(self, info: BlockAdapterInfo) -> BlockAdapter:
        """The values as they are now."""
        layers = tuple(
            {name: (self.down[f"{i}_{name}"].data, self.up[f"{i}_{name}"].data) for name in LINEARS}
            for i in range(len(self.base.weights.layers))
        )
        head = self.sampler
        sampler = None if head is None else (head["into"].data, head["out"].data)
        return BlockAdapter(info, layers, self.mask_embedding.data, sampler)

    def hidden(self, states: BlockStates) -> Tensor:
        """(texts, blocks, size, hidden) after the last norm, in the base's dtype."""
        base, weights = self.base, self.base.weights
        keys, values = clean_keys_and_values(base, states.texts)
        num_texts, num_blocks, size = states.token_ids.shape
        heads, kv_heads, head_size = weights.num_heads, weights.num_kv_heads, weights.head_size
        group = heads // kv_heads
        position = states.start[..., None] + torch.arange(size)
        base.rotary_until(int(position.max()) + 1)
        cosines, sines = base.angles_at(position.flatten(), base._rotary)
        cosines, sines = (t.flatten(2) if t.dim() == 4 else t for t in (cosines, sines))
        dtype = weights.embedding.dtype
        ids = states.token_ids.flatten()
        known = weights.embedding[ids.clamp(max=weights.embedding.shape[0] - 1)].float()
        hidden = torch.where((ids == self.mask_id)[:, None], self.mask_embedding, known)
        length = keys.shape[-1]
        is_hidden = torch.arange(length) >= states.start[..., None]
        # (texts, 1, blocks, 1, clean keys), broadcast over heads and rows of a block.
        mask = torch.zeros(is_hidden.shape).masked_fill_(is_hidden, -torch.inf)[:, None, :, None]
        mask = mask.to(dtype)
        for index, layer in enumerate(weights.layers):
            read = _normed(hidden, layer.attention_norm, dtype)
            made = self._linear(index, GROUPS[0], layer.query_key_value.weight, read)
            if layer.query_key_value.bias is not None:
                made = made + layer.query_key_value.bias
            made = made.view(-1, heads + 2 * kv_heads, head_size)
            query, key, value = made.split([heads, kv_heads, kv_heads], 1)
            if layer.query_norm is not None and layer.key_norm is not None:
                query = _normed(query, layer.query_norm, dtype)
                key = _normed(key, layer.key_norm, dtype)
            query = _turned(query, cosines[:, :heads], sines[:, :heads])
            key = _turned(
                key, cosines[:, heads : heads + kv_heads], sines[:, heads : heads + kv_heads]
            )
            # Queries by text and key head: rows are (head of the group, block, position).
            query = query.view(num_texts, num_blocks * size, kv_heads, group, head_size)
            query = query.permute(0, 2, 3, 1, 4).reshape(
                num_texts * kv_heads, group * num_blocks * size, head_size
            )
            clean = torch.bmm(query, keys[index].flatten(0, 1))
            by_block = (num_texts, kv_heads, group, num_blocks, size, -1)
            clean = clean.view(by_block) + mask[:, None, :, :, :, :]
            own_query = query.view(*by_block[:-1], head_size).permute(0, 1, 3, 2, 4, 5)
            own_query = own_query.reshape(-1, group * size, head_size)
            own_keys, own_values = (
                part.reshape(num_texts, num_blocks, size, kv_heads, head_size)
                .permute(0, 3, 1, 2, 4)
                .reshape(-1, size, head_size)
                for part in (key, value)
            )
            own = torch.bmm(own_query, own_keys.transpose(1, 2))
            own = own.view(num_texts, kv_heads, num_blocks, group, size, size)
            own = own.permute(0, 1, 3, 2, 4, 5)
            weight = torch.cat([clean, own], -1).softmax(-1, dtype=torch.float32).to(dtype)
            clean_weight, own_weight = weight.split([length, size], -1)
            mixed = torch.bmm(
                clean_weight.reshape(num_texts * kv_heads, -1, length), values[index].flatten(0, 1)
            ).view(*by_block[:-1], head_size)
            own_weight = own_weight.permute(0, 1, 3, 2, 4, 5).reshape(-1, group * size, size)
            own_mixed = torch.bmm(own_weight, own_values)
            own_mixed = own_mixed.view(num_texts, kv_heads, num_blocks, group, size, head_size)
            mixed = mixed + own_mixed.permute(0, 1, 3, 2, 4, 5)
            mixed = mixed.permute(0, 3, 4, 1, 2, 5).reshape(-1, heads * head_size)
            out = self._linear(index, GROUPS[1], layer.out.weight, mixed)
            hidden = hidden + (out if layer.out.bias is None else out + layer.out.bias)
            read = _normed(hidden, layer.feed_forward_norm, dtype)
            gate, up = self._linear(index, GROUPS[2], layer.gate_up.weight, read).chunk(2, -1)
            out = self._linear(index, GROUPS[3], layer.down.weight, functional.silu(gate) * up)
            hidden = hidden + out
        normed = _normed(hidden, weights.norm, dtype)
        return normed.view(num_texts, num_blocks, size, -1)

    def _linear(self, index: int, names: Sequence[str], weight: Tensor, x: Tensor) -> Tensor:
        """x @ weight (in, out) of the frozen base, plus the low-rank part of each layer in it."""
        down = torch.cat([self.down[f"{index}_{name}"] for name in names]).to(x.dtype)
        middle = x @ down.t()
        parts = middle.split(self.rank, -1)
        added = [
            part @ self.up[f"{index}_{name}"].to(x.dtype).t()
            for part, name in zip(parts, names, strict=True)
        ]
        return x @ weight + (added[0] if len(added) == 1 else torch.cat(added, -1))

    def logits(self, hidden: Tensor) -> Tensor:
        """fp32 (rows, vocab) of rows (rows, hidden)."""
        return (hidden @ self.base.weights.head).float()

    def logits_behind(self, hidden: Tensor, before: Tensor) -> Tensor:
        """fp32 (rows, vocab) of rows (rows, hidden) by the sampler head; before: tokens (rows,)."""
        assert self.sampler is not None
        dtype = hidden.dtype
        into, out = (self.sampler[name].to(dtype) for name in ("into", "out"))
        known = self.base.weights.embedding[before].to(dtype)
        return self.logits(hidden + sampler_change(hidden, known, into, out))

    def loss(self, states: BlockStates, weight_of_first: float, decay: float) -> StepLoss:
        """Cross-entropy at masked positions, aligned: the row of a position predicts it.

        A position counts decay ** (masked positions before it in its block); the first of all,
        which the causal head knows anyway, weight_of_first.
        """
        hidden = self.hidden(states)
        is_target = states.targets != NO_TARGET
        rank = (is_target.cumsum(-1) - 1).clamp(min=0)
        weight = decay ** rank.float()
        weight[..., 0] *= weight_of_first
        rows = is_target.flatten().nonzero()[:, 0]
        targets = states.targets.flatten()[rows]
        weight = weight.flatten()[rows]
        weight = weight / weight.sum()
        hidden = hidden.flatten(0, 2)[rows]
        nats = functional.cross_entropy(self.logits(hidden), targets, reduction="none")
        total, with_before = (nats * weight).sum(), nats
        if self.sampler is not None:
            moved = self.logits_behind(hidden, states.before.flatten()[rows])
            with_before = functional.cross_entropy(moved, targets, reduction="none")
            total = (total + (with_before * weight).sum()) / 2
        return StepLoss(
            total, float(nats.detach().mean()), float(with_before.detach().mean()), len(rows)
        )


def _normed(x: Tensor, norm: object, dtype: torch.dtype) -> Tensor:
    """RMSNorm by the values of a fused Norm, with a gradient."""
    scale, eps = norm.scale, norm.eps  # type: ignore[attr-defined]
    size = x.shape[-1]
    # The fused norm divides by sqrt(|x|^2 + n eps) and multiplies by sqrt(n) weight.
    wanted = functional.rms_norm(x.float(), (size,), scale / size**0.5, float(eps**2) / size)
    return wanted.to(dtype)


def _turned(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Heads (rows, heads, size) turned by their positions; the tables are of both halves."""
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat([second, first], -1) * sines


@torch.inference_mode()
def _read(base: FusedLlamaBackend, texts: Sequence[Sequence[int]]) -> tuple[KVCachePool, int]:
    caches = base.new_caches(len(texts))
    requests = [ForwardRequest(cache, ids, (), 1) for cache, ids in zip(caches, texts, strict=True)]
    base.forward(requests)
    return caches[0].pool, max(map(len, texts))


def clean_keys_and_values(
    base: FusedLlamaBackend, texts: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor]:
    """Of every layer: keys (layers, texts, heads, size, n), values (layers, texts, heads, n, size).

    n: of the longest text; what lies behind a shorter one's end is finite and no block's to see.
    """
    pool, length = _read(base, texts)
    # Cloned out of inference mode, so that autograd may save them.
    return pool.keys[..., :length].clone(), pool.values[:, :, :, :length].clone()
