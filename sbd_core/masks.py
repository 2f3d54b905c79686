"""Who may attend to whom: one predicate each for training and decoding, dense and flex forms.

Everything is built from a may-attend predicate on (query, key) index tensors. Knows nothing
of models or tokens.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from sbd_core.config import require_integer

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

MayAttend = Callable[[Tensor, Tensor], Tensor]
"""(query index, key index), broadcast together -> bool, True = may attend."""


def training_may_attend(
    num_tokens: int, block_size: int, *, first_noisy: int = 0, phase: int = 0
) -> MayAttend:
    """Predicate over [x ; x_hat], x of num_tokens positions (paper Fig. 8).

    x -> x causal; x_hat -> x_hat within one block, both ways; x_hat -> x of strictly earlier
    blocks; x -> x_hat never. The paper has first_noisy = phase = 0: x_hat covers all of x and
    blocks start at position 0. With a prompt of first_noisy tokens x_hat covers the answer
    alone, blocks start at the answer, and `phase` shortens the first block by that much.
    """

    def block_of(position: Tensor) -> Tensor:
        return torch.div(position - first_noisy + phase, block_size, rounding_mode="floor")

    def may_attend(query: Tensor, key: Tensor) -> Tensor:
        is_noisy_query = query >= num_tokens
        is_noisy_key = key >= num_tokens
        query_position = query - (num_tokens - first_noisy) * is_noisy_query
        key_position = key - (num_tokens - first_noisy) * is_noisy_key
        query_block, key_block = block_of(query_position), block_of(key_position)
        clean_to_clean = ~is_noisy_query & ~is_noisy_key & (key_position <= query_position)
        noisy_to_noisy = is_noisy_query & is_noisy_key & (key_block == query_block)
        # Prompt positions lie before the first block even where phase folds them into it.
        is_earlier = (key_block < query_block) | (key_position < first_noisy)
        noisy_to_clean = is_noisy_query & ~is_noisy_key & is_earlier
        return clean_to_clean | noisy_to_noisy | noisy_to_clean

    return may_attend


def decoding_may_attend(num_cached: int, num_causal: int) -> MayAttend:
    """Predicate of one decoding pass (paper Eq. 9-11).

    Queries are num_causal causal tokens, then a block; keys are the cached tokens, then the
    same. A causal token sees what is left of it and itself; a block position sees everything.
    """

    def may_attend(query: Tensor, key: Tensor) -> Tensor:
        is_block_query = query >= num_causal
        return is_block_query | (key <= query + num_cached)

    return may_attend


def dense(may_attend: MayAttend, num_queries: int, num_keys: int) -> Tensor:
    """The predicate as a bool tensor (num_queries, num_keys), True = may attend."""
    return may_attend(torch.arange(num_queries)[:, None], torch.arange(num_keys)[None, :])


def flex(
    may_attend: MayAttend, num_queries: int, num_keys: int, device: str = "cpu"
) -> "BlockMask":
    """The predicate as a FlexAttention BlockMask, shared by every batch entry and head."""
    from torch.nn.attention.flex_attention import create_block_mask

    def mask_mod(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return may_attend(query, key)

    return create_block_mask(mask_mod, None, None, num_queries, num_keys, device=device)


def training_mask(num_tokens: int, block_size: int) -> Tensor:
    """(2L, 2L) bool, True = may attend: the mask of one training forward (Fig. 8).

    Raises ArgumentError unless num_tokens >= 1 and block_size >= 1.
    """
    require_integer("num_tokens", num_tokens, 1)
    require_integer("block_size", block_size, 1)
    size = 2 * num_tokens
    return dense(training_may_attend(num_tokens, block_size), size, size)


def decoding_mask(num_cached: int, num_causal: int, block_size: int) -> Tensor:
    """(num_causal + block_size, num_cached + num_causal + block_size) bool, True = may attend.

    Raises ArgumentError unless every size is >= 0 and there is at least one query.
    """
    require_integer("num_cached", num_cached, 0)
    require_integer("num_causal", num_causal, 0)
    require_integer("block_size", block_size, 0 if num_causal else 1)
    num_queries = num_causal + block_size
    return dense(decoding_may_attend(num_cached, num_causal), num_queries, num_cached + num_queries)
