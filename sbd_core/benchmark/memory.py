"""The most memory a decode holds: tensors by their storage, seen as they come and go."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import stream
from sbd_core.models.hf_model import HuggingFaceModel


class LiveTensors(TorchDispatchMode):
    """Bytes of the tensors alive that operations have given back, those in `known` left out."""

    def __init__(self, known: Sequence[torch.UntypedStorage]) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known = {storage.data_ptr() for storage in known}

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(given):
            if isinstance(leaf, Tensor):
                self._see(leaf.untyped_storage())
        return given

    def _see(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if place in self._known or not size:
            return
        self._known.add(place)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, place, size)

    def _forget(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.now -= size


def peak_memory(
    model: HuggingFaceModel, prompt: Sequence[int], config: DecodeConfig
) -> dict[str, float]:
    """Bytes of the weights, of the final text's keys and values, and of all at the worst moment.

    over: what the peak has above weights and cache, as a share of them.
    """
    weights = [parameter.untyped_storage() for parameter in model.model.parameters()]
    num_weight_bytes = sum({w.data_ptr(): w.nbytes() for w in weights}.values())
    live = LiveTensors(weights)
    num_tokens = len(prompt)
    with live:
        for event in stream(model, prompt, config):
            num_tokens += len(event.committed)
    cache: Any = model.new_cache()
    model.forward(cache, list(prompt), (), 1)
    per_token = sum(k.nbytes + v.nbytes for k, v in cache.keys_and_values()) / len(prompt)
    needed = num_weight_bytes + num_tokens * per_token
    return {
        "weights": num_weight_bytes,
        "cache": round(num_tokens * per_token),
        "peak": num_weight_bytes + live.peak,
        "over": round((num_weight_bytes + live.peak) / needed - 1, 4),
    }
