"""The protocols of a model, as decoding needs it, and of the backend of its forward passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sbd_core.config import Calibration, StrategyName
from sbd_core.cost import ModelShape

if TYPE_CHECKING:
    from torch import Tensor

    from sbd_core.models.block_adapter import SamplerHead
    from sbd_core.sampling import ComputeLogitStats


Message = tuple[str, str]
"""(role, content); the role is system, user or assistant."""


class Cache(Protocol):
    """Keys and values of the causal tokens seen so far; it records its own length."""

    @property
    def length(self) -> int:
        """Number of cached tokens."""
        ...

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        ...


AnyPool = TypeVar("AnyPool")


class SlotCache(Generic[AnyPool]):
    """Cache of one text in a pool, the memory that a backend keeps for many; see Cache."""

    def __init__(self, pool: AnyPool, slot: int) -> None:
        self.pool = pool
        self.slot = slot
        self.length = 0

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        self.length = min(self.length, length)


@dataclass(frozen=True, slots=True)
class PredraftBlock:
    """The rows of a predraft, which see the first `num_causal` causal tokens and no later ones.

    token_ids: masks, in front of them the alternative if there is one.
    is_alternative: whether the first token is an alternative to the next causal one, read causally.
    """

    num_causal: int
    token_ids: Sequence[int]
    is_alternative: bool = False


@dataclass(frozen=True, slots=True)
class ForwardRequest:
    """One text's share of a forward pass; see SetBlockModel.forward_batch.

    Its rows are the causal tokens, the block after all of them, then the predrafts. The
    logits are of the last num_causal_logits causal tokens and of every block position. Keys and
    values of all blocks are dropped.
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
        """Shape of every predraft; see sbd_core.masks.SeenBlock."""
        return tuple(
            (block.num_causal, len(block.token_ids), int(block.is_alternative))
            for block in self.predrafts
        )

    def block_rows(self) -> Sequence[int]:
        """Rows of blocks, masked or revealed: all but the causal tokens and alternatives."""
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
        """Number of rows whose logits are asked for: the last ones."""
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
    """A causal language model that can also read a block both ways (paper Eq. 9-11).

    mask_token_id: None if the tokenizer has no mask token.
    max_positions: longest text in tokens, None if unknown.
    block_range: smallest and largest trained block size, None if untrained or unknown.
    shape: its sizes, None if costs cannot be computed from them.
    strategy, repetition_penalty: of a config that leaves them open; a penalty of 1 is none.
    sampler_head: reweighs a block's row once the token before it is known; None without.
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
        """Token ids of a prompt or a conversation; special tokens in it are read as plain text.

        is_raw: True uses no chat template. Raises ModelError for a conversation without a template.
        """
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of an answer, special tokens left out."""
        ...

    def token_text(self, token_id: int) -> str:
        """One token on its own, for showing: special tokens by name, lone bytes as \\xE2."""
        ...

    def new_caches(self, count: int) -> Sequence[Cache]:
        """`count` empty caches whose forward passes forward_batch() may make together."""
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
        """The name that users see."""
        ...

    @property
    def dtype(self) -> str:
        """The dtype of the weights it reads."""
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
