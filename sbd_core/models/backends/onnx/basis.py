"""Orthogonal changes of basis, folded into a model's weights, so that no column of x stands out.

After QuaRot (Ashkboos et al. 2024, arXiv 2404.00456). A few columns of what linear layers read are
many times larger than the others, and one scale a row would leave these few bits. Turned by a
matrix of Hadamard's kind, every column carries a little of them. The residual stream and each
head's values are turned by changing the weights that write and read them, at no cost; what the
down projection reads is turned in the forward pass, in short groups. RMSNorm commutes with all of
it once its weights stand in the layers that read it. Knows no graph.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

GROUP = 64
"""Columns of what the down projection reads that are turned together, at most."""


class Plain:
    """The model's own basis: every weight as it is."""

    def embedding(self, weight: Tensor) -> Tensor:
        """The rows (vocab, hidden) that a text begins with."""
        return weight.float()

    def reading_hidden(self, weight: Tensor, norm: Tensor) -> Tensor:
        """A weight (out, hidden) behind an RMSNorm with weights `norm`."""
        return weight.float()

    def norm(self, weight: Tensor) -> Tensor:
        """The weights of an RMSNorm of the residual stream."""
        return weight.float()

    def writing_hidden(self, weight: Tensor) -> Tensor:
        """A weight (hidden, in), or its bias (hidden,)."""
        return weight.float()

    def writing_values(self, weight: Tensor, head_size: int) -> Tensor:
        """The value projection (KV heads * head_size, hidden), or its bias."""
        return weight.float()

    def reading_values(self, weight: Tensor, head_size: int) -> Tensor:
        """The output projection (hidden, heads * head_size)."""
        return weight.float()

    def reading_gated(self, weight: Tensor) -> Tensor:
        """The down projection (hidden, in)."""
        return weight.float()


class Turned(Plain):
    """The basis in which integer products lose least."""

    def __init__(self, hidden: int) -> None:
        signs = torch.randint(0, 2, (hidden,), generator=torch.Generator().manual_seed(0)) * 2 - 1
        self.rotation = signs[:, None] * orthogonal(hidden)
        """(hidden, hidden): x of the model's own basis times this is x of the new one."""

    def embedding(self, weight: Tensor) -> Tensor:
        """See Plain."""
        return weight.float() @ self.rotation

    def reading_hidden(self, weight: Tensor, norm: Tensor) -> Tensor:
        """See Plain."""
        return (weight.float() * norm.float()) @ self.rotation

    def norm(self, weight: Tensor) -> Tensor:
        """See Plain."""
        return torch.ones_like(weight, dtype=torch.float32)

    def writing_hidden(self, weight: Tensor) -> Tensor:
        """See Plain."""
        return self.rotation.t() @ weight.float()

    def writing_values(self, weight: Tensor, head_size: int) -> Tensor:
        """See Plain."""
        heads = weight.float().view(-1, head_size, *weight.shape[1:])
        turned = torch.einsum("ij,hi...->hj...", orthogonal(head_size), heads)
        return turned.reshape(weight.shape)

    def reading_values(self, weight: Tensor, head_size: int) -> Tensor:
        """See Plain."""
        return _in_groups(weight, orthogonal(head_size))

    def reading_gated(self, weight: Tensor) -> Tensor:
        """See Plain."""
        return _in_groups(weight, orthogonal(group_of(weight.shape[1])))


def group_of(size: int) -> int:
    """How many columns of `size` are turned together in the forward pass."""
    return math.gcd(size, GROUP)


def _in_groups(weight: Tensor, rotation: Tensor) -> Tensor:
    """A weight (out, in) that reads groups of columns turned by `rotation`."""
    groups = weight.float().view(weight.shape[0], -1, len(rotation))
    return (groups @ rotation).view(weight.shape)


@lru_cache(maxsize=8)
def orthogonal(size: int) -> Tensor:
    """An orthogonal matrix (size, size) whose entries are all nearly of one size.

    Hadamard's for the powers of two in `size`, beside the cosine transform for what is left of it.
    """
    rest, matrix = size, torch.ones(1, 1, dtype=torch.float64)
    two = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64) / math.sqrt(2)
    while rest % 2 == 0:
        rest, matrix = rest // 2, torch.kron(matrix, two)
    steps = torch.arange(rest, dtype=torch.float64)
    cosines = torch.cos(math.pi / rest * (steps + 0.5) * steps[:, None]) * math.sqrt(2 / rest)
    cosines[0] /= math.sqrt(2)
    return torch.kron(matrix, cosines).float()
