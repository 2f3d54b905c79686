"""KV caches of several texts in the slots of one pool, and the rows of requests as integers."""

from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from sbd_core.masks import Blocks, SeenBlock, visible_rows
from sbd_core.models.protocol import ForwardRequest

AnyPool = TypeVar("AnyPool")


class SlotCache(Generic[AnyPool]):
    """KV cache of one text, in slot number `slot` of a backend's pool for several texts."""

    def __init__(self, pool: AnyPool, slot: int) -> None:
        self.pool = pool
        self.slot = slot
        self.length = 0

    def truncate(self, length: int) -> None:
        self.length = min(self.length, length)


def rows_of(request: ForwardRequest) -> np.ndarray:
    """Describe the rows (input positions) of a request by integers (9, rows).

    For each row: its token id, its position in the text, its slot, its index in the request, its
    position in the cache, the numbers `seen`, `first` and `stop`, and 1 for a row of a block, else
    0. The row sees the keys 0 to seen - 1 and first to stop - 1 of the cache.
    """
    start, num_causal, size = request.cache.length, len(request.causal_ids), request.num_rows
    blocks = ((num_causal, len(request.block_ids)), *request.predraft_shapes)
    rows = np.empty((9, size), np.int64)
    rows[0], rows[1], rows[2] = request.token_ids, request.positions(), request.cache.slot
    rows[3], rows[4] = np.arange(size), np.arange(start, start + size)
    rows[5:] = _seen(num_causal, blocks)
    rows[5:8] += start
    return rows


@lru_cache(maxsize=256)
def _seen(num_causal: int, blocks: Blocks) -> np.ndarray:
    """The last four numbers of rows_of(), counted from the first row of the request."""
    is_of_block = [0] * num_causal
    for _, size, num_own in (SeenBlock(*block) for block in blocks):
        is_of_block += [0] * num_own + [1] * (size - num_own)
    return np.array([*zip(*visible_rows(num_causal, blocks), strict=True), is_of_block])
