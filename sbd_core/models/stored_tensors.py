"""Stores tensors for an export to browsers: exactly, or rounded in the block formats of GGUF.

A matrix (out, in) is stored row by row. Python and the page's scripts convert the stored bytes to
the same fp32 values, to the bit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from sbd_core.errors import require_extra
from sbd_core.models.bases import GGUF_FILE, require_base
from sbd_core.models.model_folder import object_in

BLOCK = 32
"""Number of successive values that share a scale."""
Q8_0 = np.dtype([("scale", "<f2"), ("values", "i1", BLOCK)])
Q4_1 = np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", BLOCK // 2)])
"""The low 4 bits of `pairs` are the first half of a block's values, the high 4 bits the second."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor stored as bytes. kind: the format of the bytes, a key of WIDEN."""

    kind: str
    shape: tuple[int, ...]
    data: bytes

    def tensor(self) -> Tensor:
        """Convert the values to fp32."""
        return torch.from_numpy(WIDEN[self.kind](self.data)).reshape(self.shape)

    def __add__(self, below: "Stored") -> "Stored":
        """Append the rows of `below`, a tensor of the same kind, to those of this tensor."""
        shape = (self.shape[0] + below.shape[0], *self.shape[1:])
        return Stored(self.kind, shape, self.data + below.data)


def exactly(tensor: Tensor) -> Stored:
    """Store a tensor without rounding: in bf16 if all its values fit exactly, else in fp32."""
    values = tensor.detach().float().contiguous()
    short = values.to(torch.bfloat16)
    if torch.equal(short.float(), values):
        return Stored("bf16", tuple(values.shape), short.view(torch.int16).numpy().tobytes())
    return Stored("f32", tuple(values.shape), values.numpy().tobytes())


def in_8_bits(tensor: Tensor) -> Stored:
    """Round a tensor to 8 bits, with a scale for every BLOCK successive values."""
    values = _blocks(tensor)
    scale = (np.abs(values).max(1) / np.float32(127)).astype("<f2")
    numbers = np.rint(values / _divisor(scale)[:, None]).clip(-127, 127)
    return _packed("q8_0", tensor, Q8_0, {"scale": scale, "values": numbers.astype("i1")})


def in_4_bits(tensor: Tensor) -> Stored:
    """Round a tensor to 4 bits, with a scale and an offset for every BLOCK successive values."""
    values = _blocks(tensor)
    least = values.min(1).astype("<f2")
    scale = ((values.max(1) - least.astype("f4")) / np.float32(15)).astype("<f2")
    numbers = np.rint((values - least.astype("f4")[:, None]) / _divisor(scale)[:, None])
    low, high = np.split(numbers.clip(0, 15).astype("u1"), 2, axis=1)
    fields = {"scale": scale, "least": least, "pairs": low | (high << 4)}
    return _packed("q4_1", tensor, Q4_1, fields)


def fits_blocks(tensor: Tensor) -> bool:
    """Whether the number of a tensor's values is a multiple of BLOCK."""
    return tensor.numel() % BLOCK == 0


def rounded_parts(stored: Stored) -> tuple[np.ndarray, np.ndarray]:
    """Split an 8-bit matrix into int8 values (out, in) and fp32 scales (out, in / BLOCK)."""
    blocks = np.frombuffer(stored.data, Q8_0)
    integers = np.ascontiguousarray(blocks["values"]).reshape(stored.shape)
    return integers, blocks["scale"].astype("f4").reshape(stored.shape[0], -1)


def _blocks(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().contiguous().numpy().reshape(-1, BLOCK)


def _divisor(scale: np.ndarray) -> np.ndarray:
    """Convert scales to fp32 and replace 0 by 1, so that values can be divided by the scales."""
    return np.where(scale == 0, np.float32(1), scale.astype("f4"))


def _packed(
    kind: str, tensor: Tensor, layout: np.dtype, fields: Mapping[str, np.ndarray]
) -> Stored:
    blocks = np.empty(tensor.numel() // BLOCK, layout)
    for name, values in fields.items():
        blocks[name] = values
    return Stored(kind, tuple(tensor.shape), blocks.tobytes())


def _from_bf16(data: bytes) -> np.ndarray:
    return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")


def _from_q8_0(data: bytes) -> np.ndarray:
    blocks = np.frombuffer(data, Q8_0)
    return blocks["values"].astype("f4") * blocks["scale"].astype("f4")[:, None]


def _from_q4_1(data: bytes) -> np.ndarray:
    blocks = np.frombuffer(data, Q4_1)
    pairs = blocks["pairs"]
    numbers = np.concatenate([pairs & 15, pairs >> 4], 1).astype("f4")
    return numbers * blocks["scale"].astype("f4")[:, None] + blocks["least"].astype("f4")[:, None]


WIDEN: dict[str, Callable[[bytes], np.ndarray]] = {
    "f32": lambda data: np.frombuffer(data, "<f4").copy(),
    "bf16": _from_bf16,
    "q8_0": _from_q8_0,
    "q4_1": _from_q4_1,
}
"""{kind: function that converts its bytes to fp32 values}."""

KIND_OF_GGUF = {"F32": "f32", "BF16": "bf16", "Q8_0": "q8_0", "Q4_1": "q4_1"}
NAME_OF_GGUF = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""{name of a weight in a GGUF file: its name in transformers}."""


def stored_weights(name: str) -> dict[str, Stored]:
    """Read the weights of a fetched base model in the form in which its GGUF file stores them.

    name: the base model's name. The result's keys are the weights' names in transformers.
    Raises ModelError if the base was not fetched, MissingExtraError if gguf is not installed.
    """
    folder = require_base(name)
    require_extra("fetch")
    from gguf import GGUFReader

    config = object_in(folder / "config.json")
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    weights = {}
    for tensor in GGUFReader(folder / GGUF_FILE).tensors:
        kind = KIND_OF_GGUF[tensor.tensor_type.name]
        shape = tuple(int(size) for size in reversed(tensor.shape))
        rows = np.ascontiguousarray(tensor.data)
        place = tensor.name.removesuffix(".weight").split(".")
        if place[0] == "blk":
            part = place[2].removeprefix("attn_")
            if part in heads:  # the file has their rows in another order
                size = rows.shape[0] // heads[part]
                halves = rows.reshape(heads[part], size // 2, 2, -1)
                rows = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(rows.shape)
            full = f"model.layers.{place[1]}.{NAME_OF_GGUF[place[2]]}"
        else:
            full = NAME_OF_GGUF[place[0]]
        weights[f"{full}.weight"] = Stored(kind, shape, rows.tobytes())
    return weights
