"""Attention masks: one predicate each for training and decoding, in dense and flex forms.

Everything is built from a may-attend predicate on (row, query, key) index tensors. Knows
nothing of models or tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from sbd_core.errors import require_integer

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

MayAttend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(row, query index, key index), broadcast together -> bool, True = may attend."""


class SeenBlock(NamedTuple):
    """The shape of a block in a forward pass.

    num_seen: number of the pass's causal tokens, from the first, that the block sees.
    size: number of the block's rows.
    num_causal: number of the block's rows, from the first, that are read causally.
    """

    num_seen: int
    size: int
    num_causal: int = 0


Blocks = Sequence[tuple[int, int] | tuple[int, int, int]]
"""SeenBlocks, in the order of the rows."""


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """The text, position, block and copy that each token of packed rows belongs to.

    A row packs several texts, in any order: each as the clean text x and copies x_hat of its answer
    in which tokens are masked (Alg. 1). Every field is (rows, num_tokens).
    document: index of the token's text, -1 on padding.
    position: index of the token in the clean text.
    block: index of the answer's block, the same in x and in x_hat; -1 for a prompt.
    copy: 0 in x, n in the n-th x_hat of the text.
    """

    document: Tensor
    position: Tensor
    block: Tensor
    copy: Tensor

    @property
    def is_noisy(self) -> Tensor:
        """Whether each token is part of an x_hat: bool (rows, num_tokens)."""
        return self.copy > 0

    def to(self, device: torch.device) -> "TrainingLayout":
        """The layout on another device."""
        fields = (self.document, self.position, self.block, self.copy)
        return TrainingLayout(*(field.to(device) for field in fields))


def training_may_attend(layout: TrainingLayout) -> MayAttend:
    """Predicate of a training forward pass (paper Fig. 8); the texts of a row are kept apart.

    A token of x sees x causally and no x_hat. A token of an x_hat sees its own block of that x_hat,
    both ways, and x in strictly earlier blocks. Padding sees padding, so that every query sees a
    key.
    """
    document, position = layout.document, layout.position
    block, copy = layout.block, layout.copy

    def may_attend(row: Tensor, query: Tensor, key: Tensor) -> Tensor:
        query_copy, key_copy = copy[row, query], copy[row, key]
        query_block, key_block = block[row, query], block[row, key]
        is_causal = position[row, key] <= position[row, query]
        is_clean_key, is_own_copy = key_copy == 0, key_copy == query_copy
        clean_to_clean = is_clean_key & is_own_copy & is_causal
        noisy_to_noisy = ~is_clean_key & is_own_copy & (key_block == query_block)
        noisy_to_clean = is_clean_key & ~is_own_copy & (key_block < query_block)
        is_same_text = document[row, query] == document[row, key]
        return is_same_text & (clean_to_clean | noisy_to_noisy | noisy_to_clean)

    return may_attend


def visible_rows(num_causal: int, blocks: Blocks) -> list[tuple[int, int, int]]:
    """For each row of a decoding forward pass, the rows that it sees, as (s, first, stop).

    The rows are the causal tokens, then the blocks. Each row sees the whole cache, rows 0 to s - 1
    and rows `first` to `stop` - 1. A causal token sees the causal tokens up to itself. A block's
    row sees the block's num_seen causal tokens, and the whole block or, if it is one of the block's
    causal rows, the block up to itself.
    """
    rows = [(index + 1, 0, 0) for index in range(num_causal)]
    for block in blocks:
        num_seen, size, num_own = SeenBlock(*block)
        first = len(rows)
        rows += [(num_seen, first, first + index + 1) for index in range(num_own)]
        rows += [(num_seen, first, first + size)] * (size - num_own)
    return rows


def decoding_may_attend(
    num_cached: int, num_causal: int, blocks: Blocks, device: torch.device | str = "cpu"
) -> MayAttend:
    """Predicate of one decoding forward pass (paper Eq. 9-11, for any number of blocks).

    Queries are num_causal causal tokens, then the blocks; keys are the cached tokens, then the
    queries. See visible_rows. device: of the index tensors that the predicate is called with.
    """
    rows = visible_rows(num_causal, blocks)
    num_seen, first, stop = torch.tensor(rows, device=device).unbind(1)

    def may_attend(row: Tensor, query: Tensor, key: Tensor) -> Tensor:
        own = key - num_cached
        return (own < num_seen[query]) | ((own >= first[query]) & (own < stop[query]))

    return may_attend


def dense(
    may_attend: MayAttend,
    num_queries: int,
    num_keys: int,
    num_rows: int = 1,
    device: torch.device | str = "cpu",
) -> Tensor:
    """The predicate as a bool tensor (num_rows, num_queries, num_keys), True = may attend."""
    row = torch.arange(num_rows, device=device)[:, None, None]
    query = torch.arange(num_queries, device=device)[:, None]
    key = torch.arange(num_keys, device=device)[None, :]
    return may_attend(row, query, key).expand(num_rows, num_queries, num_keys)


def flex(
    may_attend: MayAttend,
    num_queries: int,
    num_keys: int,
    num_rows: int = 1,
    device: torch.device | str = "cpu",
) -> "BlockMask":
    """The predicate as a FlexAttention BlockMask, shared by every head; arguments as in dense()."""
    from torch.nn.attention.flex_attention import create_block_mask

    def mask_mod(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return may_attend(row, query, key)

    return create_block_mask(mask_mod, num_rows, None, num_queries, num_keys, device=str(device))


def training_mask(num_tokens: int, block_size: int) -> Tensor:
    """Bool mask (2 * num_tokens, 2 * num_tokens) of a training forward pass (Fig. 8).

    True = may attend. The first num_tokens rows and columns are x, the others are an x_hat.
    Raises ArgumentError unless num_tokens >= 1 and block_size >= 1.
    """
    require_integer("num_tokens", num_tokens, 1)
    require_integer("block_size", block_size, 1)
    position = torch.arange(num_tokens).repeat(2)[None]
    layout = TrainingLayout(
        document=torch.zeros_like(position),
        position=position,
        block=position // block_size,
        copy=torch.arange(2 * num_tokens)[None] // num_tokens,
    )
    return dense(training_may_attend(layout), 2 * num_tokens, 2 * num_tokens)[0]


def decoding_mask(
    num_cached: int, num_causal: int, block_size: int, predrafts: Blocks = ()
) -> Tensor:
    """Bool mask (queries, num_cached + queries) of a decoding forward pass, True = may attend.

    Queries are num_causal causal tokens, a block of block_size masks that sees all of them, and
    the predrafts (see SeenBlock). Raises ArgumentError for a negative size, for no query at all, or
    for a predraft that has no row, more causal rows than rows, or sees more than num_causal tokens.
    """
    require_integer("num_cached", num_cached, 0)
    require_integer("num_causal", num_causal, 0)
    require_integer("block_size", block_size, 0 if num_causal else 1)
    own = [SeenBlock(*block) for block in predrafts]
    for num_seen, size, num_own in own:
        require_integer("predrafts", num_seen, 0, num_causal)
        require_integer("predrafts", size, 1)
        require_integer("predrafts", num_own, 0, size)
    blocks = [SeenBlock(num_causal, block_size), *own]
    num_queries = num_causal + sum(block.size for block in blocks)
    rule = decoding_may_attend(num_cached, num_causal, blocks)
    return dense(rule, num_queries, num_cached + num_queries)[0]
