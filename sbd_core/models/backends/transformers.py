"""Makes the forward passes of any transformers causal LM through its own modules.

Hooks on the linear layers apply a block adapter.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from transformers import DynamicCache

from sbd_core.masks import decoding_mask
from sbd_core.models.block_adapter import LINEARS, AdapterLayers, BlockAdapter
from sbd_core.models.protocol import ForwardRequest
from sbd_core.models.sampler_head import SamplerHead

ALL_ROWS = slice(None)
"""Argument of GatedLinears.rows() that selects every row of any text."""


class GatedLinears:
    """Hooks that add a block adapter's term B A x to linear layers, in the rows set by rows().

    The hooks are never removed. sampler_head: the adapter's sampler head, None if it has none.
    """

    sampler_head: SamplerHead | None = None

    def __init__(self, model: Any, layers: AdapterLayers) -> None:
        """Add hooks for an adapter's layers, which must match the dtype and device of the model."""
        self._rows: Sequence[int] | slice = ()
        for layer, pairs in zip(model.base_model.layers, layers, strict=True):
            for name, pair in pairs.items():
                module = layer.get_submodule(LINEARS[name])
                module.register_forward_hook(partial(self._add, *pair))

    @classmethod
    def of(cls, model: Any, adapter: BlockAdapter) -> "GatedLinears":
        """Add the hooks of an adapter to a model, in the model's dtype and on its device."""
        like = next(model.parameters())
        layers = [
            {name: (down.to(like), up.to(like)) for name, (down, up) in pairs.items()}
            for pairs in adapter.layers
        ]
        gate = cls(model, layers)
        gate.sampler_head = adapter.sampler_head(model)
        return gate

    @contextmanager
    def rows(self, rows: Sequence[int] | slice) -> Iterator[None]:
        """Apply the adapter to these rows of one text, or to ALL_ROWS, within the `with` block."""
        self._rows = rows
        try:
            yield
        finally:
            self._rows = ()

    def _add(
        self, down: Tensor, up: Tensor, _module: Any, inputs: tuple[Tensor, ...], out: Tensor
    ) -> Tensor:
        if self._rows == ALL_ROWS:
            return out + linear(linear(inputs[0], down), up)
        if self._rows:
            out = out.clone()
            out[:, self._rows] += linear(linear(inputs[0][:, self._rows], down), up)
        return out


class TransformersCache:
    """KV cache of one text: a transformers DynamicCache, and its length in causal tokens."""

    def __init__(self) -> None:
        # Any, as its layers are typed more widely than they are.
        self.layers: Any = DynamicCache()
        self.length = 0

    def truncate(self, length: int) -> None:
        """Forget every token from position `length` on."""
        if length < self.length:
            self.drop_last(self.length - length)
            self.length = length

    def drop_last(self, num_tokens: int) -> None:
        """Drop the keys and values of the last num_tokens tokens; `length` stays as it is."""
        self.layers.crop(-num_tokens)


def input_device(model: Any) -> torch.device:
    """The device that a model's inputs must be on.

    Weights that accelerate has offloaded are on "meta" between forward passes; its hooks know where
    they are computed with.
    """
    device: torch.device = model.device
    if device.type == "meta":
        hooks = (getattr(module, "_hf_hook", None) for module in model.modules())
        devices = (getattr(hook, "execution_device", None) for hook in hooks)
        device = torch.device(next((each for each in devices if each is not None), device))
    return device


class TransformersBackend:
    """Backend that runs any causal LM through its own transformers modules."""

    name = "transformers"
    has_own_threads = False

    def __init__(self, model: Any, gate: Any = None) -> None:
        """Take a transformers or peft model, and the GatedLinears of its block adapter, if any."""
        self._gate = gate
        self.dtype = str(model.dtype).removeprefix("torch.")
        self._model = model
        inner = model.get_base_model() if hasattr(model, "get_base_model") else model  # peft's
        parameters = inspect.signature(inner.forward).parameters
        self._keeps_logits = "logits_to_keep" in parameters
        # Its name from transformers 5.24 on, which removes the other in 5.40.
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"

    def new_caches(self, count: int) -> list[TransformersCache]:
        """Make `count` empty caches."""
        return [TransformersCache() for _ in range(count)]

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """Make one forward pass for each text, in turn; see SetBlockModel.forward_batch."""
        return [self._forward(request) for request in requests]

    @torch.inference_mode()
    def _forward(self, request: ForwardRequest) -> Tensor:
        cache, num_causal = request.cache, len(request.causal_ids)
        num_block, num_logits = request.num_rows - num_causal, request.num_logits
        device = input_device(self._model)
        mask = None
        # A single causal token sees everything, and the model masks a prompt by itself.
        if num_block or (num_causal > 1 and cache.length):
            sizes = (cache.length, num_causal, len(request.block_ids), request.predraft_shapes)
            mask = decoding_mask(*sizes)[None, None].to(device)
            if self._model.config._attn_implementation == "eager":  # adds its mask to the scores
                lowest = torch.finfo(self._model.dtype).min
                mask = torch.zeros_like(mask, dtype=self._model.dtype).masked_fill(~mask, lowest)
        arguments: dict[str, Any] = {self._cache_name: cache.layers}
        if self._keeps_logits:
            arguments["logits_to_keep"] = num_logits
        gated = nullcontext() if self._gate is None else self._gate.rows(request.block_rows())
        with gated:
            output = self._model(
                input_ids=torch.tensor([request.token_ids], device=device),
                attention_mask=mask,
                position_ids=torch.tensor([list(request.positions())], device=device),
                use_cache=True,
                **arguments,
            )
        logits = output.logits[0, -num_logits:]
        if num_block:
            cache.drop_last(num_block)
        cache.length += num_causal
        return logits.float()
