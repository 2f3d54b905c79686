"""Attention masks for training and decoding, as bool tensors or as FlexAttention block masks.

Each mask is built from a predicate, MayAttend, that says which query may attend to which key. This
module knows nothing of models or tokens.
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
"""Maps (packed sequence, query, key) indices, broadcast together, to bool: True = may attend."""


class SeenBlock(NamedTuple):
    """The size of a block in a decoding forward pass, and the tokens that the block sees.

    num_seen: the block sees the first num_seen causal tokens of the forward pass.
    size: number of tokens in the block.
    num_causal: the first num_causal tokens of the block attend to the block causally.
    """

    num_seen: int
    size: int
    num_causal: int = 0


Blocks = Sequence[tuple[int, int] | tuple[int, int, int]]
"""The SeenBlocks of a forward pass, in the order of its rows; num_causal may be left out."""


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """The text, position, block and copy of every token in packed training sequences.

    A packed sequence holds several texts in any order. Each text is held as the clean text x and as
    copies x_hat of its answer, in which tokens are masked (Alg. 1). Fields are integer tensors
    (sequences, num_tokens).
    document: index of the token's text; -1 for padding.
    position: index of the token in the clean text.
    block: index of the token's block in the answer, the same in x and x_hat; -1 in the prompt.
    copy: 0 for a token of x, n for a token of the text's n-th x_hat.
    """

    document: Tensor
    position: Tensor
    block: Tensor
    copy: Tensor

    @property
    def is_noisy(self) -> Tensor:
        """Whether each token belongs to an x_hat: bool (sequences, num_tokens)."""
        return self.copy > 0

    def to(self, device: torch.device) -> "TrainingLayout":
        """Return the layout with its tensors on another device."""
        return TrainingLayout(*(getattr(self, name).to(device) for name in self.__slots__))


def training_may_attend(layout: TrainingLayout) -> MayAttend:
    """Build the predicate of a training forward pass over packed sequences (paper Fig. 8).

    A token attends within its own text only. A token of x sees x causally, and no x_hat. A token of
    an x_hat sees its whole block in that x_hat, and the part of x before that block. Padding sees
    padding, so that every query sees a key.
    """
    document, position = layout.document, layout.position
    block, copy = layout.block, layout.copy

    def may_attend(sequence: Tensor, query: Tensor, key: Tensor) -> Tensor:
        query_copy, key_copy = copy[sequence, query], copy[sequence, key]
        query_block, key_block = block[sequence, query], block[sequence, key]
        is_causal = position[sequence, key] <= position[sequence, query]
        is_clean_key, is_own_copy = key_copy == 0, key_copy == query_copy
        clean_to_clean = is_clean_key & is_own_copy & is_causal
        noisy_to_noisy = ~is_clean_key & is_own_copy & (key_block == query_block)
        noisy_to_clean = is_clean_key & ~is_own_copy & (key_block < query_block)
        is_same_text = document[sequence, query] == document[sequence, key]
        return is_same_text & (clean_to_clean | noisy_to_noisy | noisy_to_clean)

    return may_attend


def visible_rows(num_causal: int, blocks: Blocks) -> list[tuple[int, int, int]]:
    """List the rows that each row of a decoding forward pass sees, as (num_seen, first, stop).

    Rows are input positions: the causal tokens, then the blocks. Every row sees all cached tokens
    and the first num_seen causal tokens; a causal token sees those up to itself. A row of a block
    also sees rows `first` to `stop` - 1: the whole block or, if it is one of the block's first
    num_causal rows, the block up to itself.
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
    """Build the predicate of one decoding forward pass (paper Eq. 9-11, for any number of blocks).

    Queries are num_causal causal tokens, then the blocks, as in visible_rows(). Keys are num_cached
    cached tokens, then the queries. device: device of the index tensors given to the predicate.
    """
    rows = visible_rows(num_causal, blocks)
    num_seen, first, stop = torch.tensor(rows, device=device).unbind(1)

    def may_attend(sequence: Tensor, query: Tensor, key: Tensor) -> Tensor:
        own = key - num_cached
        return (own < num_seen[query]) | ((own >= first[query]) & (own < stop[query]))

    return may_attend


def dense(
    may_attend: MayAttend,
    num_queries: int,
    num_keys: int,
    num_sequences: int = 1,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Evaluate a predicate as a bool tensor, True = may attend.

    The tensor has the shape (num_sequences, num_queries, num_keys).
    num_sequences: number of packed sequences; 1 in decoding.
    """
    sequence = torch.arange(num_sequences, device=device)[:, None, None]
    query = torch.arange(num_queries, device=device)[:, None]
    key = torch.arange(num_keys, device=device)[None, :]
    return may_attend(sequence, query, key).expand(num_sequences, num_queries, num_keys)


def flex(
    may_attend: MayAttend,
    num_queries: int,
    num_keys: int,
    num_sequences: int = 1,
    device: torch.device | str = "cpu",
) -> "BlockMask":
    """Build a FlexAttention BlockMask for all heads from a predicate; arguments as in dense()."""
    from torch.nn.attention.flex_attention import create_block_mask

    def mask_mod(sequence: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return may_attend(sequence, query, key)

    return create_block_mask(
        mask_mod, num_sequences, None, num_queries, num_keys, device=str(device)
    )


def training_mask(num_tokens: int, block_size: int) -> Tensor:
    """Build the bool mask (2 * num_tokens, 2 * num_tokens) of one text in training (paper Fig. 8).

    True = may attend. The first num_tokens rows and columns are x, the others are its x_hat.
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
    """Build the bool mask (queries, num_cached + queries) of a forward pass: True = may attend.

    Queries are num_causal causal tokens, a block of block_size tokens that sees all of these, and
    further blocks, `predrafts`. Raises ArgumentError for a negative size, for an empty predraft, if
    num_causal and block_size are both 0, or if a predraft's num_seen or num_causal is too large.
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
