"""Keys and values of many texts as the graph's inputs, which it writes in place.

A cache is one text's slot, see slot_cache.py.
"""

from typing import Any

import torch
from torch import Tensor

from sbd_core.models.backends.onnx.export import Shape

STEP = 64
"""Capacity is a multiple of this, so that sums over positions keep their order when it grows."""


class OnnxCachePool:
    """`parts`: keys and values of each layer in turn, each (slots, KV heads, capacity, head size).

    Whatever lies beyond a slot's length is finite, so that a weight of zero takes it out.
    """

    def __init__(self, num_slots: int, shape: Shape) -> None:
        self.num_slots = num_slots
        self.capacity = 0
        sizes = (num_slots, shape.num_kv_heads, 0, shape.head_size)
        self.parts = [torch.zeros(sizes) for _ in range(2 * shape.num_layers)]
        self.bindings: dict[tuple[int, ...], tuple[Any, Any]] = {}
        """Sessions' bindings of these very tensors, which a larger capacity replaces, and what
        else they point to."""

    def ensure_capacity(self, length: int) -> None:
        """See that every slot holds at least `length` positions.

        A quarter is added at least, so that a text is copied a few times in all; not the double,
        as the attention reads what is empty too.
        """
        if length <= self.capacity:
            return
        wanted = max(length, self.capacity * 5 // 4)
        more = -(-wanted // STEP) * STEP - self.capacity
        self.parts = [torch.nn.functional.pad(part, (0, 0, 0, more)) for part in self.parts]
        self.capacity += more
        self.bindings.clear()

    def keys_and_values(self, slot: int, length: int) -> list[tuple[Tensor, Tensor]]:
        """See Pool of slot_cache.py."""
        mine = [part[slot, :, :length] for part in self.parts]
        return list(zip(mine[::2], mine[1::2], strict=True))
