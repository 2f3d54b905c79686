"""Orthogonal changes of basis in which no column of what a product reads stands out.

After QuaRot (Ashkboos et al. 2024, arXiv 2404.00456). A few columns of what linear layers read are
many times larger than the others, and one scale a row would leave these few bits. Turned by
Hadamard's matrix in groups of columns, each column of a group carries a little of them. Weights are
turned once, when they are written; a head's values by the weights that write them; all else in the
forward pass, at next to no cost as the groups are short. Knows no graph.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

GROUP = 64
"""Columns that are turned together, at most."""


def group_of(size: int) -> int:
    """Number of columns of `size` that are turned together: a power of two."""
    return math.gcd(size, GROUP)


@lru_cache(maxsize=8)
def hadamard(size: int) -> Tensor:
    """Hadamard's matrix (size, size) over the root of its size, a power of two: orthogonal."""
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.kron(matrix, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    return matrix / math.sqrt(size)


def turned(x: Tensor, group: int) -> Tensor:
    """x (.., group) by Hadamard's matrix, as sums and differences of pairs.

    In one order of fp32 operations, which the page's scripts follow for the same bits.
    """
    shape, half = x.shape, 1
    while half < group:
        pairs = x.reshape(-1, group // (2 * half), 2, half)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        x = torch.stack([first + second, first - second], 2)
        half *= 2
    return (x * torch.tensor(1 / math.sqrt(group), dtype=torch.float32)).reshape(shape)


def turned_columns(weight: Tensor, group: int) -> Tensor:
    """A weight (out, in) as it multiplies what is turned."""
    return turned(weight.float().reshape(-1, group), group).view(weight.shape)


def turned_rows(weight: Tensor, group: int) -> Tensor:
    """The weight (out, in) or bias (out,) of a layer whose output is to come out turned."""
    groups = weight.float().reshape(-1, group, math.prod(weight.shape[1:]))
    return turned(groups.transpose(1, 2), group).transpose(1, 2).reshape(weight.shape)
