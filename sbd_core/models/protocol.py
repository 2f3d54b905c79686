"""The protocols of a model and its caches, as decoding needs them, and of a backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sbd_core.config import Calibration, StrategyName
from sbd_core.cost import ModelShape

if TYPE_CHECKING:
    from torch import Tensor

    from sbd_core.models.sampler_head import SamplerHead
    from sbd_core.sampling import ComputeLogitStats


Message = tuple[str, str]
"""(role, content); the role is system, user or assistant."""


class Cache(Protocol):
    """Protocol of a KV cache of one text, with the keys and values of its causal tokens so far."""

    @property
    def length(self) -> int:
        """Number of cached tokens."""
        ...

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        ...


AnyPool = TypeVar("AnyPool")


class SlotCache(Generic[AnyPool]):
    """Cache of one text in a slot of a pool, the memory that a backend keeps for several texts."""

    def __init__(self, pool: AnyPool, slot: int) -> None:
        self.pool = pool
        self.slot = slot
        self.length = 0

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        self.length = min(self.length, length)


@dataclass(frozen=True, slots=True)
class PredraftBlock:
    """The rows of a predraft: the next draft, made ahead in case a token of this one is rejected.

    num_causal: the rows see this many causal tokens of the forward pass, from the first, and none
        after them.
    token_ids: mask tokens, or an alternative and mask tokens.
    is_alternative: whether the first token is an alternative: it stands in the place of causal
        token `num_causal`, and its row is read causally.
    """

    num_causal: int
    token_ids: Sequence[int]
    is_alternative: bool = False


@dataclass(frozen=True, slots=True)
class ForwardRequest:
    """One text's share of a forward pass; see SetBlockModel.forward_batch.

    Its rows are the causal tokens, the block after all of them, then the predrafts. Logits are
    returned for the last num_causal_logits causal tokens and for all rows of the block and the
    predrafts. Keys and values of block and predrafts are dropped after the forward pass.
    """

    cache: Any
    causal_ids: Sequence[int]
    block_ids: Sequence[int]
    num_causal_logits: int
    predrafts: Sequence[PredraftBlock] = ()

    @property
    def token_ids(self) -> list[int]:
        """The token of every row."""
        ids = [*self.causal_ids, *self.block_ids]
        for block in self.predrafts:
            ids += block.token_ids
        return ids

    @property
    def predraft_shapes(self) -> tuple[tuple[int, int, int], ...]:
        """The fields of each predraft's sbd_core.masks.SeenBlock."""
        return tuple(
            (block.num_causal, len(block.token_ids), int(block.is_alternative))
            for block in self.predrafts
        )

    def block_rows(self) -> Sequence[int]:
        """Indices of rows of blocks, masked or revealed: all but causal tokens and alternatives."""
        first = len(self.causal_ids)
        if not any(block.is_alternative for block in self.predrafts):
            return range(first, self.num_rows)
        rows = list(range(first, first + len(self.block_ids)))
        first += len(self.block_ids)
        for _, size, num_causal in self.predraft_shapes:
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
        """Number of rows whose logits are asked for, which are the last rows."""
        return self.num_rows - len(self.causal_ids) + self.num_causal_logits

    def positions(self) -> Sequence[int]:
        """The position in the text of every row."""
        start = self.cache.length
        stop = start + len(self.causal_ids) + len(self.block_ids)
        if not self.predrafts:
            return range(start, stop)
        rows = (range(start + seen, start + seen + size) for seen, size, _ in self.predraft_shapes)
        return [*range(start, stop), *(position for block in rows for position in block)]


class SetBlockModel(Protocol):
    """Protocol of a causal language model that can also attend both ways in a block (Eq. 9-11).

    mask_token_id: None if the tokenizer has no mask token.
    max_positions: longest text in tokens, None if unknown.
    block_range: smallest and largest trained block size, None if untrained or unknown.
    shape: the model's sizes, None if costs cannot be computed from them.
    strategy, repetition_penalty: what a DecodeConfig that leaves them None takes; 1 is no penalty.
    sampler_head: adjusts a block row's logits once the token before it is known; None without.
    weights: {name: digest} of the model's weights and of an adapter's base; empty if unknown.
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
        """Whether forward passes run on threads that are not torch's."""
        ...

    def encode(self, prompt: str | Sequence[Message], *, is_raw: bool) -> tuple[int, ...]:
        """Encode a prompt or a conversation; special tokens in it are read as plain text.

        is_raw: True uses no chat template. Raises ModelError for a conversation without a template.
        """
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""
        ...

    def token_text(self, token_id: int) -> str:
        """The text to show for one token: special tokens by name, lone bytes as \\xE2."""
        ...

    def new_caches(self, count: int) -> Sequence[Cache]:
        """Make `count` empty caches that forward_batch() can serve together."""
        ...

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> "list[Tensor]":
        """Make one forward pass over all rows of every text; returns fp32 logits of each.

        Each tensor is (request.num_logits, vocab); the caller may change it. The causal keys and
        values stay in the caches, those of blocks are dropped. All caches must come from one call
        of this model's new_caches(), none twice.
        """
        ...


class Backend(Protocol):
    """Protocol of a backend, which makes a model's forward passes."""

    @property
    def name(self) -> str:
        """The backend's name, as users see it."""
        ...

    @property
    def dtype(self) -> str:
        """The dtype of the weights that forward passes read."""
        ...

    @property
    def has_own_threads(self) -> bool:
        """See SetBlockModel."""
        ...

    def new_caches(self, count: int) -> Sequence[Any]:
        """See SetBlockModel.new_caches."""
        ...

    def forward(self, requests: Sequence[ForwardRequest]) -> "list[Tensor]":
        """See SetBlockModel.forward_batch."""
        ...
