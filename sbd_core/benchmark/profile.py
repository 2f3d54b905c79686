"""Where the time of a forward pass goes: wall-clock of its parts, each without those inside."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from transformers import DynamicCache

from sbd_core.config import DecodeConfig
from sbd_core.decoding import ntp, sbd, state, verify
from sbd_core.decoding.api import stream
from sbd_core.models.backends import transformers as unfused
from sbd_core.models.backends.c import forward as in_c
from sbd_core.models.backends.llama import attention, forward, kv_cache, weights
from sbd_core.models.hf_model import HuggingFaceModel

REST = "the forward pass itself"
OUTSIDE = ("selection", "event building", REST)
"""Parts that are not the model's forward."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each part, and in no part inside it, while `is_counting`."""

    is_counting: bool = False
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _open: list[str] = field(default_factory=list)
    _since: float = 0.0

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """`function`, its time counted as `part`'s."""

        @wraps(function)
        def call(*positional: Any, **named: Any) -> Any:
            self.enter(part)
            try:
                return function(*positional, **named)
            finally:
                self.leave()

        return call

    def enter(self, part: str) -> None:
        """From now on the time is `part`'s."""
        self._count()
        self._open.append(part)

    def leave(self) -> None:
        """From now on the time is that of the part around."""
        self._count()
        self._open.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        if self._open and self.is_counting:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now


def profile(
    model: HuggingFaceModel, prompts: Sequence[Sequence[int]], config: DecodeConfig
) -> dict[str, Any]:
    """Milliseconds a decoding forward pass by part, prefills left out, over all prompts."""
    watch = Stopwatch()
    num_passes = 0
    with instrumented(watch, model):
        for _ in stream(model, prompts[0], config):
            pass
        for prompt in prompts:
            events = stream(model, prompt, config)
            next(events)
            watch.is_counting = True
            watch.enter(REST)
            num_passes += sum(1 for _ in events)
            watch.leave()
            watch.is_counting = False
    parts = {part: 1000 * seconds / num_passes for part, seconds in watch.seconds.items()}
    total = sum(parts.values())
    return {
        "num_passes": num_passes,
        "milliseconds": {part: round(parts[part], 4) for part in sorted(parts)},
        "total_milliseconds": round(total, 4),
        "share_outside_forward": round(sum(parts.get(part, 0) for part in OUTSIDE) / total, 4),
    }


@contextmanager
def instrumented(watch: Stopwatch, model: HuggingFaceModel) -> Iterator[None]:
    """Have the watch count the parts of the model and of the engine meanwhile."""
    undo = []
    for owner, name, part in [*_engine_parts(), *_network_parts(model.model)]:
        original = getattr(owner, name)
        is_own = name in vars(owner)
        setattr(owner, name, watch.timed(original, part))
        undo.append((owner, name, original if is_own else None))
    try:
        yield
    finally:
        for owner, name, original in undo:
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _engine_parts() -> list[tuple[Any, str, str]]:
    """(owner, name of a function of it, part); of either forward, as only one is at work."""
    return [
        (weights.Matrix, "__call__", "linear layers"),
        (weights.Matrix, "add_to", "linear layers"),
        (weights.Norm, "__call__", "norms"),
        (attention.MaskTable, "get", "mask building"),
        (kv_cache.KVCachePool, "ensure_capacity", "cache"),
        (forward.FusedLlamaBackend, "_attended", "attention"),
        (forward.FusedLlamaBackend, "_angles", "rotary tables"),
        (forward.FusedLlamaBackend, "_logits", "head"),
        (in_c.CBackend, "_pass", "the whole pass in C"),
        (unfused, "decoding_mask", "mask building"),
        (HuggingFaceModel, "forward_batch", "forward: glue"),
        (DynamicCache, "update", "cache"),
        (unfused.TransformersCache, "drop_last", "cache"),
        (state.DecodingState, "causal_stats", "selection"),
        (state.DecodingState, "block_stats", "selection"),
        (state.DecodingState, "draft_stats", "selection"),
        (sbd, "ranked", "selection"),
        (verify, "_checked", "selection"),
        (verify, "draft_of", "selection"),
        (sbd, "make_hindsight", "event building"),
        (ntp, "make_hindsight", "event building"),
        (verify, "make_hindsight", "event building"),
        (ntp, "masked_positions", "event building"),
        (sbd, "masked_positions", "event building"),
        (verify, "masked_positions", "event building"),
        (state.DecodingState, "event", "event building"),
        (sbd.Block, "reveal", "event building"),
    ]


def _network_parts(network: Any) -> list[tuple[Any, str, str]]:
    """The transformers modules, told apart by what they are called."""
    head, embedding = network.get_output_embeddings(), network.get_input_embeddings()
    found: list[tuple[Any, str, str]] = [
        (head, "forward", "head"),
        (embedding, "forward", "embedding"),
    ]
    kinds = (
        ("Norm", "norms"),
        ("Attention", "attention"),
        ("Linear", "linear layers"),
        ("Conv1D", "linear layers"),
        ("Rotary", "rotary tables"),
    )
    for module in network.modules():
        if module is head or module is embedding:
            continue
        part = next((part for word, part in kinds if word in type(module).__name__), None)
        if part is not None:
            found.append((module, "forward", part))
    return found
