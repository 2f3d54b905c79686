"""A block adapter as the fused forward pass applies it: low-rank parts for the rows of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.models.block_adapter import BlockAdapter

GROUPS = (("q", "k", "v"), ("o",), ("gate", "up"), ("down",))
"""Linear layers that read the same, as the fused weights hold them."""
BlockRows = slice | Tensor
"""Rows of blocks in a forward pass: the last ones, those of these indices, or bool (rows, 1)."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """x @ down @ up of fused linear layers; down (in, r), up (r, out)."""

    down: Tensor
    up: Tensor

    @classmethod
    def of(cls, pairs: Sequence[tuple[Tensor, Tensor]], like: Tensor) -> "LowRank":
        """A (rank, in), B (out, rank) of layers side by side: their products do not mix."""
        down = torch.cat([a for a, _ in pairs]).t().contiguous()
        up = torch.block_diag(*(b.t().float() for _, b in pairs))
        return cls(*(part.to(like.device, like.dtype) for part in (down, up)))

    def add_to(self, out: Tensor, x: Tensor, rows: BlockRows) -> None:
        """Add the product of x's block rows to those of `out`, in place."""
        if isinstance(rows, Tensor) and rows.dtype == torch.bool:
            out.add_(torch.mm(torch.mm(x, self.down), self.up).mul_(rows))
            return
        added = torch.mm(torch.mm(x[rows], self.down), self.up)
        if isinstance(rows, slice):
            out[rows] += added
        else:
            out.index_add_(0, rows, added)


LowRankLayer = tuple[LowRank, LowRank, LowRank, LowRank]
"""Adapter of one transformer layer, by GROUPS."""


def low_rank_layers(adapter: BlockAdapter, like: Tensor) -> list[LowRankLayer]:
    """The adapters of every layer, in the dtype and on the device of `like`."""
    layers = []
    for layer in adapter.layers:
        first, second, third, fourth = (
            LowRank.of([layer[name] for name in names], like) for names in GROUPS
        )
        layers.append((first, second, third, fourth))
    return layers
