"""Keys and values of many texts in shared, preallocated tensors; a cache is one text's slot."""

from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor


class Pool(Protocol):
    """Protocol of a pool: keys and values of many texts, a slot each."""

    def keys_and_values(self, slot: int, length: int) -> list[tuple[Tensor, Tensor]]:
        """(keys, values) of every layer, each (heads, length, head size), of one slot."""
        ...


AnyPool = TypeVar("AnyPool", bound=Pool)


class SlotCache(Generic[AnyPool]):
    """A slot of a pool; see sbd_core.models.protocol.Cache."""

    def __init__(self, pool: AnyPool, slot: int) -> None:
        self.pool = pool
        self.slot = slot
        self.length = 0

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        self.length = min(self.length, length)

    def keys_and_values(self) -> list[tuple[Tensor, Tensor]]:
        """(keys, values) of every layer, each (heads, length, head size)."""
        return self.pool.keys_and_values(self.slot, self.length)


STEP = 128
"""Positions by which the capacity of every slot grows."""


class KVCachePool:
    """Pool with keys (layers, slots, heads, size, capacity) and values (.., capacity, size).

    size is that of a head, capacity a number of positions; each cache knows its own length. Keys
    are transposed for the product with the queries. Everything beyond a slot's length is finite, so
    that an attention weight of zero removes it.
    """

    def __init__(
        self, num_slots: int, num_layers: int, num_heads: int, head_size: int, like: Tensor
    ) -> None:
        self.num_slots = num_slots
        self.capacity = 0
        self.keys = like.new_zeros(num_layers, num_slots, num_heads, head_size, 0)
        self.values = like.new_zeros(num_layers, num_slots, num_heads, 0, head_size)

    def ensure_capacity(self, length: int) -> None:
        """Make room for at least `length` positions in every slot."""
        if length <= self.capacity:
            return
        more = -(-length // STEP) * STEP - self.capacity
        self.keys = torch.nn.functional.pad(self.keys, (0, more))
        self.values = torch.nn.functional.pad(self.values, (0, 0, 0, more))
        self.capacity += more

    def keys_and_values(self, slot: int, length: int) -> list[tuple[Tensor, Tensor]]:
        """See Pool."""
        keys = self.keys[:, slot, :, :, :length].transpose(2, 3)
        values = self.values[:, slot, :, :length]
        return list(zip(keys.unbind(), values.unbind(), strict=True))
