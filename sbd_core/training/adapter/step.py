"""The forward pass over block states, and its loss: rows of blocks alone have gradients.

The keys and values of the clean texts are the base's own, made once a batch without gradient by
the forward pass that decodes; all blocks of a text read them. Knows nothing of files or schedules.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.llama.weights import GROUPS, Layer, Matrix
from sbd_core.models.block_adapter import LINEARS, BlockAdapter, BlockAdapterInfo, sampler_change
from sbd_core.training.adapter.states import NO_TARGET, BlockStates


@dataclass(frozen=True, slots=True)
class StepLoss:
    """total: to be minimised. plain, with_before: nats a masked token, the second by the
    sampler head, which knows the token before. num_masked: tokens they are means of."""

    total: Tensor
    plain: Tensor
    with_before: Tensor
    num_masked: int


class AdapterModule(nn.Module):
    """The trained module: fp32 values of a BlockAdapter beside a frozen base."""

    def __init__(
        self,
        base: FusedLlamaBackend,
        rank: int,
        sampler_width: int,
        mask_id: int,
        generator: torch.Generator,
        *,
        is_compiled: bool = False,
    ) -> None:
        """is_compiled: layers go through torch.compile, which pays on a GPU."""
        super().__init__()
        weights = base.weights
        self.base, self.mask_id = base, mask_id
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
        # The fused norm divides by sqrt(|x|^2 + n eps) and multiplies by sqrt(n) weight.
        self._eps = float(weights.norm.eps**2) / hidden
        self._is_compiled = is_compiled
        self._layer, self._nats = layer_forward, nats_of
        if is_compiled:
            self._layer = torch.compile(layer_forward, dynamic=False)
            self._nats = torch.compile(nats_of, dynamic=False)
        self.to(weights.embedding.device)

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
        device, dtype = weights.embedding.device, weights.embedding.dtype
        texts = states.texts.to(device, non_blocking=True)
        run = self._layer if torch.is_grad_enabled() else layer_forward
        cached = self._clean_keys_and_values(texts, run)
        num_texts, num_blocks, size = states.token_ids.shape
        start = states.start.to(device, non_blocking=True).repeat_interleave(size, 1)
        own = torch.arange(num_blocks * size, device=device)
        base.rotary_until(states.texts.shape[1] + size)
        angles = base.angles_at((start + own % size).flatten(), base._rotary)
        ids = states.token_ids.to(device, non_blocking=True).flatten()
        known = weights.embedding[ids.clamp(max=weights.embedding.shape[0] - 1)].float()
        hidden = torch.where((ids == self.mask_id)[:, None], self.mask_embedding, known)
        # (texts, 1, rows, clean keys and the rows' own): a row sees what lies before its block, and
        # the block.
        is_before = torch.arange(texts.shape[1], device=device) < start[..., None]
        is_own = (own // size == (own // size)[:, None]).expand(num_texts, -1, -1)
        is_seen = torch.cat([is_before, is_own], -1)[:, None]
        mask = torch.zeros(is_seen.shape, dtype=dtype, device=device)
        mask.masked_fill_(~is_seen, -torch.inf)
        for index, layer in enumerate(weights.layers):
            low = {
                name: (self.down[f"{index}_{name}"], self.up[f"{index}_{name}"]) for name in LINEARS
            }
            keys = BlockKeys(*cached[index], mask)
            hidden, _ = run(hidden, layer, angles, self._eps, num_texts, low, keys)
        normed = _normed(hidden, weights.norm.scale, self._eps, dtype)
        return normed.view(num_texts, num_blocks, size, -1)

    @torch.no_grad()
    def _clean_keys_and_values(
        self, texts: Tensor, run: Callable[..., Any]
    ) -> list[tuple[Tensor, Tensor]]:
        """Keys and values (texts, kv heads, n, size) of token ids (texts, n), for every layer.

        run: layer_forward, compiled or not. What lies behind a shorter text's end is finite and
        no block's to see.
        """
        base, cached = self.base, []
        positions = torch.arange(texts.shape[1], device=texts.device).repeat(texts.shape[0])
        base.rotary_until(texts.shape[1])
        angles = base.angles_at(positions, base._rotary)
        hidden = base.weights.embedding[texts.flatten()]
        for layer in base.weights.layers:
            hidden, own = run(hidden, layer, angles, self._eps, len(texts))
            cached.append(own)
        return cached

    def logits(self, hidden: Tensor) -> Tensor:
        """fp32 (rows, vocab) of rows (rows, hidden)."""
        return (hidden @ self.base.weights.head).float()

    def moved(self, hidden: Tensor, before: Tensor) -> Tensor:
        """Rows (rows, hidden) as the sampler head moves them; before: tokens (rows,)."""
        assert self.sampler is not None
        dtype = hidden.dtype
        into, out = (self.sampler[name].to(dtype) for name in ("into", "out"))
        known = self.base.weights.embedding[before].to(dtype)
        return hidden + sampler_change(hidden, known, into, out)

    def loss(self, states: BlockStates, weight_of_first: float, decay: float) -> StepLoss:
        """Cross-entropy at masked positions, aligned: the row of a position predicts it.

        A position counts decay ** (masked positions before it in its block); the first of all,
        which the causal head knows anyway, weight_of_first.
        """
        is_target = states.targets != NO_TARGET
        rank = (is_target.cumsum(-1) - 1).clamp(min=0)
        weight = decay ** rank.float() * is_target
        weight[..., 0] *= weight_of_first
        weight = weight.flatten() / weight.sum()
        device = self.mask_embedding.device
        targets, before = states.targets.flatten(), states.before.flatten()
        parts = [weight, targets, before]
        if not self._is_compiled:  # whose output layer is spared the rows without a target
            rows = is_target.flatten().nonzero()[:, 0]
            parts = [rows, *(part[rows] for part in parts)]
        parts = [part.to(device, non_blocking=True) for part in parts]
        hidden = self.hidden(states).flatten(0, 2)
        if not self._is_compiled:
            hidden = hidden[parts.pop(0)]
        weight, targets, before = parts
        num_masked = int(is_target.sum())
        nats = self._nats(self.base.weights.head, hidden, targets)
        total, with_before = (nats * weight).sum(), nats
        if self.sampler is not None:
            moved = self.moved(hidden, before)
            with_before = self._nats(self.base.weights.head, moved, targets)
            total = (total + (with_before * weight).sum()) / 2
        plain, with_before = (each.detach().sum() / num_masked for each in (nats, with_before))
        return StepLoss(total, plain, with_before, num_masked)


def nats_of(head: Tensor, hidden: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy (rows,) in fp32 of rows (rows, hidden); 0 where the target is NO_TARGET."""
    logits = (hidden @ head).float()
    return functional.cross_entropy(logits, targets, ignore_index=NO_TARGET, reduction="none")


class BlockKeys(NamedTuple):
    """Keys and values (texts, kv heads, n, size) of the clean texts, which blocks read.

    mask: (texts, 1, rows, n + rows), added to the scores.
    """

    keys: Tensor
    values: Tensor
    mask: Tensor


def layer_forward(
    hidden: Tensor,
    layer: Layer,
    angles: tuple[Tensor, Tensor],
    eps: float,
    num_texts: int,
    low: Mapping[str, tuple[Tensor, Tensor]] | None = None,
    known: BlockKeys | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """One layer over hidden states (texts * rows, hidden), and the rows' own keys and values.

    low: the low-rank part of each linear layer, for rows of blocks. known: None for causal rows.
    angles: as of FusedLlamaBackend.angles_at.
    """
    dtype = layer.out.weight.dtype
    head_size = 2 * angles[0].shape[-1]
    num_heads = layer.out.weight.shape[0] // head_size
    num_kv_heads = (angles[0].shape[1] - num_heads) // 2
    sizes = [num_heads, num_kv_heads, num_kv_heads]
    parts = [[] if low is None else [low[name] for name in names] for names in GROUPS]
    read = _normed(hidden, layer.attention_norm.scale, eps, dtype)
    heads = _linear(layer.query_key_value, parts[0], read)
    heads = heads.view(angles[0].shape[0], angles[0].shape[1], head_size)
    if layer.query_norm is not None and layer.key_norm is not None:
        query, key, value = heads.split(sizes, 1)
        query = _normed(query, layer.query_norm.scale, eps, dtype)
        key = _normed(key, layer.key_norm.scale, eps, dtype)
        heads = torch.cat([query, key, value], 1)
    heads = heads.unflatten(2, (2, -1))
    heads = (heads * angles[0] + heads.flip(2) * angles[1]).flatten(2)
    heads = heads.unflatten(0, (num_texts, -1)).transpose(1, 2)
    query, key, value = heads.split(sizes, 1)
    own = key, value
    if known is None:
        mixed = scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=1.0, enable_gqa=True
        )
    else:
        # Repeated, as the kernel that takes a mask knows no groups of heads.
        key, value = (
            torch.cat(pair, 2).repeat_interleave(num_heads // num_kv_heads, 1)
            for pair in ((known.keys, key), (known.values, value))
        )
        mask = known.mask.expand(-1, num_heads, -1, -1)
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
    mixed = mixed.transpose(1, 2).reshape(heads.shape[0] * heads.shape[2], -1)
    hidden = hidden + _linear(layer.out, parts[1], mixed)
    read = _normed(hidden, layer.feed_forward_norm.scale, eps, dtype)
    gate, up = _linear(layer.gate_up, parts[2], read).chunk(2, -1)
    return hidden + _linear(layer.down, parts[3], functional.silu(gate) * up), own


def _linear(matrix: Matrix, low: Sequence[tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
    """x by a frozen matrix of the base, plus the low-rank part, if any, of each layer in it."""
    if not low:
        return matrix(x)
    middle = x @ torch.cat([down for down, _ in low]).to(x.dtype).t()
    parts = middle.split([down.shape[0] for down, _ in low], -1)
    added = [part @ up.to(x.dtype).t() for part, (_, up) in zip(parts, low, strict=True)]
    return matrix(x) + (added[0] if len(added) == 1 else torch.cat(added, -1))


def _normed(x: Tensor, scale: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
    """RMSNorm by the values of a fused Norm, with a gradient."""
    size = x.shape[-1:]
    return functional.rms_norm(x.float(), size, scale / size[0] ** 0.5, eps).to(dtype)
