"""Keys and values of many texts in two tensors, allocated ahead; a cache is one text's slot."""

import torch
from torch import Tensor

STEP = 128
"""Positions by which the capacity of every slot grows."""


class KVCachePool:
    """keys (layers, slots, heads, size, capacity), values (layers, slots, heads, capacity, size).

    size is that of a head, capacity in positions; lengths are those of the caches.

    Keys lie transposed, as the product with the queries reads them. Whatever lies beyond a
    slot's length is finite, so that a weight of zero takes it out.
    """

    def __init__(
        self, num_slots: int, num_layers: int, num_heads: int, head_size: int, like: Tensor
    ) -> None:
        self.num_slots = num_slots
        self.capacity = 0
        self.keys = like.new_zeros(num_layers, num_slots, num_heads, head_size, 0)
        self.values = like.new_zeros(num_layers, num_slots, num_heads, 0, head_size)

    def ensure_capacity(self, length: int) -> None:
        """See that every slot holds at least `length` positions."""
        if length <= self.capacity:
            return
        more = -(-length // STEP) * STEP - self.capacity
        self.keys = torch.nn.functional.pad(self.keys, (0, more))
        self.values = torch.nn.functional.pad(self.values, (0, 0, 0, more))
        self.capacity += more

    def keys_and_values(self, slot: int, length: int) -> list[tuple[Tensor, Tensor]]:
        """See Pool of slot_cache.py."""
        keys = self.keys[:, slot, :, :, :length].transpose(2, 3)
        values = self.values[:, slot, :, :length]
        return list(zip(keys.unbind(), values.unbind(), strict=True))
