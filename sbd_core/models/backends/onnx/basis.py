"""Hadamard rotations that spread outliers in the inputs of int8 products over many columns.

After QuaRot (Ashkboos et al. 2024, arXiv 2404.00456). A few columns of a linear layer's input are
many times larger than the others, and with one scale per row these would keep few bits. Inputs
are rotated by a Hadamard matrix in groups of columns, and weights the same way, so that products
stay the same. Weights are rotated once, when they are written. The values of attention come out
rotated, as the rows of the weights that compute them are; other inputs are rotated in the forward
pass, at little cost as the groups are short. Knows no graph.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

GROUP = 64
"""Largest number of columns that are rotated together."""


def group_of(size: int) -> int:
    """Number of columns that are rotated together, of `size` in all: a power of two."""
    return math.gcd(size, GROUP)


@lru_cache(maxsize=8)
def hadamard(size: int) -> Tensor:
    """The orthogonal Hadamard matrix (size, size), divided by sqrt(size); size: a power of two."""
    matrix = torch.ones(1, 1)
    while len(matrix) < size:
        matrix = torch.kron(matrix, torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
    return matrix / math.sqrt(size)


def turned(x: Tensor, group: int) -> Tensor:
    """Multiply x (.., group) by the Hadamard matrix, by sums and differences of pairs.

    The page's scripts do the same fp32 operations in the same order, and so get the same bits.
    """
    shape, half = x.shape, 1
    while half < group:
        pairs = x.reshape(-1, group // (2 * half), 2, half)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        x = torch.stack([first + second, first - second], 2)
        half *= 2
    return (x * torch.tensor(1 / math.sqrt(group), dtype=torch.float32)).reshape(shape)


def turned_columns(weight: Tensor, group: int) -> Tensor:
    """A weight (out, in) for inputs that are rotated in groups of `group` columns."""
    return turned(weight.float().reshape(-1, group), group).view(weight.shape)


def turned_rows(weight: Tensor, group: int) -> Tensor:
    """A weight (out, in) or bias (out,) whose output is to be rotated in groups of `group`."""
    groups = weight.float().reshape(-1, group, math.prod(weight.shape[1:]))
    return turned(groups.transpose(1, 2), group).transpose(1, 2).reshape(weight.shape)
