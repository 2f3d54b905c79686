"""A block adapter in a transformers model's own linear layers, as hooks that add its part."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor
from torch.nn import functional

from sbd_core.models.block_adapter import BlockAdapter

MODULES = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
"""Where a layer of a Llama-shaped model has the adapter's linear layers."""


class GatedLinears:
    """The hooks of one model, which stay with it; they add to the rows of blocks alone.

    sampler_head: see BlockAdapter.sampler_head.
    """

    def __init__(self, model: Any, adapter: BlockAdapter) -> None:
        """model: of a shape that has_known_shape(). The adapter's values take its dtype."""
        self.sampler_head = adapter.sampler_head(model)
        self._rows: list[int] = []
        for layer, pairs in zip(model.model.layers, adapter.layers, strict=True):
            for name, (down, up) in pairs.items():
                module = layer.get_submodule(MODULES[name])
                low, high = (part.to(model.device, model.dtype) for part in (down, up))
                module.register_forward_hook(partial(self._add, low, high))

    @contextmanager
    def rows(self, rows: Sequence[int]) -> Iterator[None]:
        """In a forward pass of one text: these rows are of blocks."""
        self._rows = list(rows)
        try:
            yield
        finally:
            self._rows = []

    def _add(
        self, down: Tensor, up: Tensor, _module: Any, inputs: tuple[Tensor, ...], out: Tensor
    ) -> Tensor | None:
        if not self._rows:
            return None
        added = functional.linear(functional.linear(inputs[0][:, self._rows], down), up)
        out = out.clone()
        out[:, self._rows] += added
        return out
