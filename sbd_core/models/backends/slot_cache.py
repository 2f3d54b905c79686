"""The cache of a text that shares its tensors with others: a slot of a pool, and its length."""

from typing import Generic, Protocol, TypeVar

from torch import Tensor


class Pool(Protocol):
    """Keys and values of many texts, a slot each."""

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
