"""Tensors stored in blocks are what GGUF's own library says of these blocks."""

import gguf
import numpy as np
import pytest
import torch

from sbd_core.models.stored_tensors import Stored, exactly, in_4_bits, in_8_bits, rounded_parts

KIND = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_1": gguf.GGMLQuantizationType.Q4_1}


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(("store", "loss"), [(in_8_bits, 0.02), (in_4_bits, 0.2)])
def test_blocks_hold_the_values_up_to_their_steps(store, loss) -> None:
    tensor = drawn(5, 96)
    tensor[0] = 0
    tensor[1] = 0.25
    stored = store(tensor)
    assert (stored.tensor() - tensor).abs().max() < loss
    assert torch.equal(stored.tensor()[0], tensor[0])


@pytest.mark.parametrize("store", [in_8_bits, in_4_bits])
def test_blocks_are_widened_to_the_bit_as_ggufs_library_does(store) -> None:
    stored = store(drawn(7, 64))
    rows = np.frombuffer(stored.data, np.uint8).reshape(7, -1)
    expected = gguf.quants.dequantize(rows, KIND[stored.kind])
    assert np.array_equal(stored.tensor().numpy(), expected)


def test_integers_and_scales_are_the_values() -> None:
    stored = in_8_bits(drawn(3, 64))
    integers, scales = rounded_parts(stored)
    assert (integers.shape, scales.shape) == ((3, 64), (3, 2))
    made = integers.reshape(3, 2, 32) * scales[:, :, None]
    assert np.array_equal(made.reshape(3, 64), stored.tensor().numpy())


def test_bf16_is_taken_where_it_loses_nothing() -> None:
    wide = drawn(4, 8)
    short = wide.to(torch.bfloat16).float()
    assert (exactly(wide).kind, exactly(short).kind) == ("f32", "bf16")
    for tensor in (wide, short):
        assert torch.equal(exactly(tensor).tensor(), tensor)


def test_rows_are_put_below_others() -> None:
    first, second = drawn(2, 32), drawn(1, 32)
    joined: Stored = exactly(first) + exactly(second)
    assert torch.equal(joined.tensor(), torch.cat([first, second]))
