"""Set Block Decoding written a second time, as plainly as possible: no cache, no engine code.

Every forward pass is one full forward over [text ; block] under a mask written cell by cell. Slow,
and easy to hold against the paper: Algorithms 2-3 with the rule of Eq. 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from sbd_core.models.backends.llama.forward import KVCachePool
from sbd_core.models.backends.transformers import TransformersCache
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest


@dataclass
class Call:
    """One forward of the engine: what it was given and what came back."""

    num_cached: int
    request: ForwardRequest
    causal_logits: Tensor
    block_logits: Tensor


@dataclass
class Recorder:
    """A model that writes down every forward and keeps the last cache within reach."""

    model: Any
    calls: list[Call] = field(default_factory=list)
    cache: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def new_caches(self, count: int) -> Any:
        caches = self.model.new_caches(count)
        self.cache = caches[0]
        return caches

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        given = self.model.forward_batch(requests)
        for request, logits in zip(requests, given, strict=True):
            before, split = (
                request.cache.length - len(request.causal_ids),
                request.num_causal_logits,
            )
            head, tail = logits[:split].clone(), logits[split:].clone()
            self.calls.append(Call(before, request, head, tail))
        return given


def text_and_block_mask(num_text: int, num_block: int) -> Tensor:
    """Text positions see the text up to themselves, block positions see everything."""
    size = num_text + num_block
    return torch.tensor(
        [[key <= query or query >= num_text for key in range(size)] for query in range(size)]
    )


@torch.no_grad()
def full_forward(model: HuggingFaceModel, text: Sequence[int], block: Sequence[int]) -> Tensor:
    """Logits (text + block, vocab) of one forward from scratch."""
    size = len(text) + len(block)
    mask = text_and_block_mask(len(text), len(block))[None, None]
    return model.model(
        input_ids=torch.tensor([[*text, *block]]),
        attention_mask=mask,
        position_ids=torch.arange(size)[None],
        use_cache=False,
    ).logits[0]


@torch.no_grad()
def causal_keys_and_values(model: HuggingFaceModel, text: Sequence[int]) -> list[list[Tensor]]:
    """[keys, values] of every layer after an ordinary causal forward of the text."""
    layers = model.model(input_ids=torch.tensor([list(text)]), use_cache=True).past_key_values
    return [[layer.keys, layer.values] for layer in layers.layers]


def keys_and_values(cache: Any) -> list[tuple[Tensor, Tensor]]:
    """(keys, values) of every layer in any backend's cache, each (heads, length, head size)."""
    if isinstance(cache, TransformersCache):
        return [(layer.keys[0], layer.values[0]) for layer in cache.layers.layers]
    pool, slot, length = cache.pool, cache.slot, cache.length
    if isinstance(pool, KVCachePool):
        keys = pool.keys[:, slot, :, :, :length].transpose(2, 3)
        return list(zip(keys, pool.values[:, slot, :, :length], strict=True))
    parts = [part[slot, :, :length] for part in pool.parts]
    return list(zip(parts[::2], parts[1::2], strict=True))


def eq8(entropies: dict[int, float], gamma: float) -> list[int]:
    """Positions by growing entropy; the largest s whose first s - 1 sum to at most gamma."""
    order = sorted(entropies, key=lambda position: (entropies[position], position))
    allowed = [
        s
        for s in range(1, len(order) + 1)
        if sum(entropies[position] for position in order[: s - 1]) <= gamma
    ]
    return order[: max(allowed)]


@dataclass
class Reference:
    """The answer, and the block logits of each forward pass after the prefill."""

    answer: list[int]
    block_logits: list[Tensor]


def decode(
    model: HuggingFaceModel,
    prompt: Sequence[int],
    *,
    block_size: int,
    num_new: int,
    gamma: float,
    temperature: float = 0.0,
    seed: int = 0,
) -> Reference:
    """SBD from scratch; at a temperature every forward pass draws all positions of the block at
    once."""
    mask_id, end_ids = model.mask_token_id, model.end_token_ids
    generator = torch.Generator().manual_seed(seed)
    result = Reference([], [])
    while len(result.answer) < num_new and not end_ids & set(result.answer):
        block = [mask_id] * min(block_size, num_new - len(result.answer))
        while mask_id in until_end(block, end_ids):
            logits = full_forward(model, [*prompt, *result.answer], block)[-len(block) :]
            result.block_logits.append(logits)
            tokens, entropies = choices(logits, mask_id, temperature, generator)
            wanted = {
                i: entropies[i] for i, t in enumerate(until_end(block, end_ids)) if t == mask_id
            }
            for position in eq8(wanted, gamma):
                block[position] = tokens[position]
        result.answer += until_end(block, end_ids)
    return result


def choices(
    logits: Tensor, mask_id: int, temperature: float, generator: torch.Generator
) -> tuple[list[int], list[float]]:
    """A token and an entropy (nats) for every block position, the mask token left out."""
    logits = logits.clone()
    logits[:, mask_id] = -torch.inf
    log_p = (logits / (temperature or 1.0)).log_softmax(dim=-1)
    terms = torch.where(log_p.isinf(), 0.0, log_p.exp() * log_p)
    if temperature:
        tokens = torch.multinomial(log_p.exp(), 1, generator=generator)[:, 0]
    else:
        tokens = logits.argmax(dim=-1)
    return tokens.tolist(), (-terms.sum(dim=-1)).tolist()


def until_end(token_ids: list[int], end_ids: frozenset[int]) -> list[int]:
    """Up to and with the first end token."""
    for index, token_id in enumerate(token_ids):
        if token_id in end_ids:
            return token_ids[: index + 1]
    return token_ids
