"""Probes whether a row's logits keep their last bits beside other rows, as exact verify needs.

A check of many rows in one forward pass gives next-token prediction's tokens if each row has the
same bits as alone. Kernels may sum in another order for another number of rows, and then round
differently, so this depends on model, dtype and backend, and is tried out.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from sbd_core.models.protocol import ForwardRequest, PredraftBlock

Exactness = Literal["probed", "equal up to rounding"]
NUM_ROWS = (1, 2, 5, 17, 48)
NUM_PROMPT = 33
NUM_CAUSAL = 17
"""Causal rows of the widest forward passes that are tried; their other rows are a block's."""

Forward = Callable[[Sequence[ForwardRequest]], list[Tensor]]


def keeps_bits(
    new_caches: Callable[[int], Sequence[Any]], forward: Forward, reach: int | None = None
) -> bool:
    """Whether a causal row has the same logits, to the bit, in forward passes of NUM_ROWS rows.

    Tried among causal rows, beside a block and predrafts, and for a prompt beside a block; the keys
    left in the cache must be the same, too. reach: positions that the model has, None if unknown.
    """
    reach = reach or NUM_PROMPT + NUM_ROWS[-1]
    prompt = [3 + i % 8 for i in range(min(NUM_PROMPT, max(reach // 4, 1)))]
    ids = [3 + i % 7 for i in range(min(NUM_CAUSAL, max(reach // 4, 1)))]
    sizes = [size for size in NUM_ROWS if size <= reach - len(prompt) - 1]
    [cache] = new_caches(1)

    def read(causal: Sequence[int], num_block: int = 0, num_predraft: int = 0) -> Tensor:
        predrafts = [PredraftBlock(1, [0] * num_predraft)] if num_predraft else ()
        block = [0] * num_block
        [logits] = forward([ForwardRequest(cache, causal, block, len(causal), predrafts)])
        return logits[: len(causal)].clone()

    whole = read(prompt)
    alone = torch.cat([read([token_id]) for token_id in ids])
    after = read([3])
    for size in sizes:
        one, many, half = ids[:1], ids[:size], (size - 1) // 2
        for causal, num_block, num_predraft in (
            (one, size - 1, 0),
            (one, half, size - 1 - half),
            (many, size - len(many), 0),
        ):
            cache.truncate(len(prompt))
            if not torch.equal(read(causal, num_block, num_predraft), alone[: len(causal)]):
                return False
    if not torch.equal(read([3]), after):  # the last pass has left keys of all ids in the cache
        return False
    cache.truncate(0)
    return torch.equal(read(prompt, sizes[-1]), whole)
