"""A model whose logits a function writes down, for tests.

It keeps the real contract (cache lengths, masks by construction) and needs no weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from sbd_core.config import Calibration, StrategyName
from sbd_core.cost import ModelShape
from sbd_core.models.protocol import ForwardRequest, Message, PredraftBlock
from sbd_core.models.sampler_head import SamplerHead
from sbd_core.sampling import ComputeLogitStats, compute_logit_stats

NextLogits = Callable[[tuple[int, ...]], Sequence[float]]
"""Tokens so far -> logits (vocab,) of the next one."""
BlockLogits = Callable[[tuple[int, ...], tuple[int, ...]], Sequence[Sequence[float]]]
"""Tokens so far, block with mask ids -> logits (block, vocab) at the block's positions."""


def by_position(
    texts: Sequence[str], row_at: Callable[[int], Sequence[float]], **fields: Any
) -> "ScriptedModel":
    """A model with the same logits (vocab,) at a position whatever stands elsewhere, masked or not.

    row_at: index of a token, the prompt's included -> logits of the token that follows it.
    """
    return ScriptedModel(
        texts=texts,
        next_logits=lambda tokens: row_at(len(tokens) - 1),
        block_logits=lambda tokens, block: [row_at(len(tokens) - 1 + i) for i in range(len(block))],
        **fields,
    )


class ScriptedCache:
    """The cached tokens themselves."""

    def __init__(self) -> None:
        self.token_ids: list[int] = []

    @property
    def length(self) -> int:
        """Cached tokens."""
        return len(self.token_ids)

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        del self.token_ids[length:]


@dataclass(kw_only=True)
class ScriptedModel:
    """`texts[i]` is the text of token i; prompts are encoded a character a token when known.

    Characters without a token of their own become token 0.
    """

    texts: Sequence[str]
    next_logits: NextLogits
    block_logits: BlockLogits
    mask_token_id: int | None = 0
    end_token_ids: frozenset[int] = frozenset({1})
    name: str = "scripted"
    block_range: tuple[int, int] | None = None
    max_positions: int | None = None
    device: str = "cpu"
    num_parameters: int = 0
    shape: ModelShape | None = None
    strategy: StrategyName = "sbd"
    repetition_penalty: float = 1.0
    sampler_head: SamplerHead | None = None
    calibration: Calibration = field(default_factory=Calibration)
    has_own_threads: bool = False
    weights: Mapping[str, str] = field(default_factory=dict)
    compute_logit_stats: ComputeLogitStats = compute_logit_stats
    calls: list[tuple[int, int, int]] = field(default_factory=list)
    """(cached, causal, block) rows of every forward, for counting."""

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens."""
        return len(self.texts)

    def encode(self, prompt: str | Sequence[Message], *, is_raw: bool) -> tuple[int, ...]:
        """A token a character; of a conversation, of what was said."""
        if not isinstance(prompt, str):
            prompt = "".join(content for _, content in prompt)
        ids = {text: token_id for token_id, text in reversed(list(enumerate(self.texts)))}
        return tuple(ids.get(character, 0) for character in prompt)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The texts in a row, mask and end tokens left out."""
        special = {self.mask_token_id, *self.end_token_ids}
        return "".join(self.texts[i] for i in token_ids if i not in special)

    def token_text(self, token_id: int) -> str:
        """The token's text."""
        return self.texts[token_id]

    def new_caches(self, count: int) -> list[ScriptedCache]:
        """Empty caches."""
        return [ScriptedCache() for _ in range(count)]

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """One after the other."""
        return [self._forward(request) for request in requests]

    def _forward(self, request: ForwardRequest) -> Tensor:
        cache, causal_ids, block_ids = request.cache, request.causal_ids, request.block_ids
        blocks = [PredraftBlock(len(causal_ids), block_ids)] if block_ids else []
        blocks += request.predrafts
        start, num_block = cache.length, sum(len(block.token_ids) for block in blocks)
        self.calls.append((start, len(causal_ids), num_block))
        cache.token_ids.extend(causal_ids)
        tokens, length = tuple(cache.token_ids), cache.length
        rows = [
            list(self.next_logits(tokens[:stop]))
            for stop in range(length - request.num_causal_logits + 1, length + 1)
        ]
        for block in blocks:
            seen, ids = tokens[: start + block.num_causal], tuple(block.token_ids)
            if block.is_alternative:
                seen, ids = (*seen, ids[0]), ids[1:]
                rows.append(list(self.next_logits(seen)))
            rows += [list(row) for row in self.block_logits(seen, ids)]
        return torch.tensor(rows, dtype=torch.float32)
