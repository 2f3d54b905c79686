"""Protocols of a model, of its KV caches and of a backend, with what decoding needs of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sbd_core.config import Calibration, StrategyName
from sbd_core.cost import ModelShape

if TYPE_CHECKING:
    from torch import Tensor

    from sbd_core.models.sampler_head import SamplerHead
    from sbd_core.sampling import ComputeLogitStats


Message = tuple[str, str]
"""(role, content); the role is system, user or assistant."""


class Cache(Protocol):
    """Protocol of a KV cache, which holds the keys and values of one text's causal tokens."""

    @property
    def length(self) -> int:
        """Number of cached tokens."""
        ...

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        ...


@dataclass(frozen=True, slots=True)
class PredraftBlock:
    """A block that drafts ahead, for use if a causal token of the same forward pass is rejected.

    num_causal: number of causal tokens that the block sees: the first ones of the forward pass.
    token_ids: the block's tokens: masks, or an alternative followed by masks.
    is_alternative: whether token_ids starts with an alternative, a token to try instead of the
        causal token at index `num_causal`. The alternative itself is read as a causal token.
    """

    num_causal: int
    token_ids: Sequence[int]
    is_alternative: bool = False


@dataclass(frozen=True, slots=True)
class ForwardRequest:
    """One text's input to a forward pass: causal tokens, then a block, then predrafts.

    Each of these tokens is a row of the pass, that is an input position.
    cache: the text's KV cache. The pass adds the keys and values of the causal tokens to it, and
        drops those of the block and the predrafts.
    causal_ids: the tokens that follow the cached ones and are read causally.
    block_ids: the tokens of the block, which follows the causal tokens; may be empty.
    num_causal_logits: number of causal tokens, counted from the last, whose logits are returned.
        For block and predrafts, the logits of all rows are returned.
    predrafts: blocks for drafting ahead, see PredraftBlock.
    """

    cache: Any
    causal_ids: Sequence[int]
    block_ids: Sequence[int]
    num_causal_logits: int
    predrafts: Sequence[PredraftBlock] = ()

    @property
    def token_ids(self) -> list[int]:
        """The token ids of all rows, in order."""
        ids = [*self.causal_ids, *self.block_ids]
        for block in self.predrafts:
            ids += block.token_ids
        return ids

    @property
    def predraft_shapes(self) -> tuple[tuple[int, int, int], ...]:
        """For each predraft, the fields of its SeenBlock: (num_seen, size, num_causal)."""
        return tuple(
            (block.num_causal, len(block.token_ids), int(block.is_alternative))
            for block in self.predrafts
        )

    def block_rows(self) -> Sequence[int]:
        """Indices of the rows that belong to blocks: all except causal tokens and alternatives."""
        rows, first = list[int](), len(self.causal_ids)
        for _, size, num_causal in ((0, len(self.block_ids), 0), *self.predraft_shapes):
            rows += range(first + num_causal, first + size)
            first += size
        return rows

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        num_predrafted = sum(len(block.token_ids) for block in self.predrafts)
        return len(self.causal_ids) + len(self.block_ids) + num_predrafted

    @property
    def num_logits(self) -> int:
        """Number of rows whose logits are returned; they are the last rows."""
        return self.num_rows - len(self.causal_ids) + self.num_causal_logits

    def positions(self) -> Sequence[int]:
        """The position of each row in the text."""
        start = self.cache.length
        positions = [*range(start, start + len(self.causal_ids) + len(self.block_ids))]
        for seen, size, _ in self.predraft_shapes:
            positions += range(start + seen, start + seen + size)
        return positions


class SetBlockModel(Protocol):
    """Protocol of a causal language model that can also attend both ways in a block (Eq. 9-11).

    mask_token_id: id of the mask token, None if the model has none.
    end_token_ids: ids of the tokens that end an answer.
    max_positions: longest text in tokens, None if unknown.
    block_range: smallest and largest trained block size, None if untrained or unknown.
    shape: the model's sizes, None if costs cannot be computed from them.
    strategy: default for a DecodeConfig whose strategy is None.
    repetition_penalty: default for a DecodeConfig whose penalty is None; 1 means no penalty.
    sampler_head: adjusts a mask's logits by the token before the mask; None if the model has none.
    calibration: how reliable the probabilities of masked tokens are.
    weights: {name: digest of the weights} of the model and an adapter's base; empty if unknown.
    compute_logit_stats: computes probabilities and best tokens from logits.
    """

    name: str
    num_parameters: int
    device: str
    vocabulary_size: int
    mask_token_id: int | None
    end_token_ids: frozenset[int]
    max_positions: int | None
    block_range: tuple[int, int] | None
    shape: ModelShape | None
    strategy: StrategyName
    repetition_penalty: float
    sampler_head: "SamplerHead | None"
    calibration: Calibration
    weights: Mapping[str, str]
    compute_logit_stats: "ComputeLogitStats"

    @property
    def has_own_threads(self) -> bool:
        """Whether forward passes run on threads other than torch's."""
        ...

    def encode(self, prompt: str | Sequence[Message], *, is_raw: bool) -> tuple[int, ...]:
        """Encode a prompt or a conversation; special tokens in it become ordinary text.

        is_raw: whether to encode a text without the chat template, which a conversation needs.
        Raises ModelError.
        """
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """Decode token ids to text; special tokens are left out."""
        ...

    def token_text(self, token_id: int) -> str:
        """Return the text to show for one token, such as "\\xE2" for one byte of a character."""
        ...

    def new_caches(self, count: int) -> Sequence[Cache]:
        """Make `count` empty caches, one per text, for use in the same forward_batch()."""
        ...

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> "list[Tensor]":
        """Run one forward pass for requests of different texts; returns the logits of each request.

        The logits of a request are fp32 (request.num_logits, vocab), and the caller may change
        them. The caches of all requests must come from one call of this model's new_caches(), and
        no two requests may share a cache.
        """
        ...


class Backend(Protocol):
    """Protocol of a backend, which runs a model's forward passes.

    name: the backend's name to show to users, such as "ONNX Runtime".
    dtype: the dtype of the weights that forward passes read.
    has_own_threads: whether forward passes run on threads other than torch's.
    """

    name: str
    dtype: str
    has_own_threads: bool

    def new_caches(self, count: int) -> Sequence[Any]:
        """Make `count` empty caches, one per text, for use in the same forward pass."""
        ...

    def forward(self, requests: Sequence[ForwardRequest]) -> "list[Tensor]":
        """Run one forward pass for all requests, as SetBlockModel.forward_batch() says."""
        ...
