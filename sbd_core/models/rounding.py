"""Rounds weights for browsers, in blocks of successive values as GGUF files do."""

from torch import Tensor

BLOCK = 32
"""Number of successive values that share a scale."""


def fits_blocks(size: int) -> bool:
    """Whether `size` values can be split into blocks."""
    return size % BLOCK == 0


def in_8_bits(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Round a tensor to int8, with an fp32 scale per block that fp16 can hold, as Q8_0 does.

    tensor: (.., n), in which n fits blocks. Returns integers (.., n) and scales (.., n / BLOCK).
    """
    blocks = tensor.detach().float().unflatten(-1, (-1, BLOCK))
    scales = (blocks.abs().amax(-1) / 127).half().float()
    integers = (blocks / _divisor(scales)).round().clamp(-127, 127)
    return integers.flatten(-2).char(), scales


def rounded_to_8_bits(tensor: Tensor) -> Tensor:
    """Return the values, in fp32, of a tensor that in_8_bits() rounds."""
    integers, scales = in_8_bits(tensor)
    return integers.float() * scales.repeat_interleave(BLOCK, -1)


def rounded_to_4_bits(tensor: Tensor) -> Tensor:
    """Round a tensor (.., n) to 16 values per block: whole steps above its least, as Q4_1 does."""
    blocks = tensor.detach().float().unflatten(-1, (-1, BLOCK))
    least = blocks.amin(-1).half().float()
    steps = ((blocks.amax(-1) - least) / 15).half().float()
    numbers = ((blocks - least[..., None]) / _divisor(steps)).round().clamp(0, 15)
    return (numbers * steps[..., None] + least[..., None]).flatten(-2)


def _divisor(scales: Tensor) -> Tensor:
    """Replace 0 by 1, so that the blocks can be divided by their scales."""
    return scales.where(scales != 0, 1.0)[..., None]
