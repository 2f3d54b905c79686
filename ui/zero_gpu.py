"""Decoding on a GPU that ZeroGPU, a service of Hugging Face Spaces, lends for one call at a time.

A call runs in a process forked from this one. Arguments and results are pickled, and what a call
changes is lost here. So a decode in a call takes token ids and a config, and yields events.
"""

import os
from collections.abc import Callable, Iterator, Sequence

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel

StreamFunction = Callable[[Sequence[int], DecodeConfig], Iterator[StepEvent]]


def on_zero_gpu() -> bool:
    """Whether this machine is a Space with ZeroGPU, which has a GPU only inside a call."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def before_torch() -> None:
    """Import ZeroGPU's package, which changes torch; call it before torch is imported."""
    if on_zero_gpu():
        __import__("spaces")


def lent(model: Callable[[], SetBlockModel], seconds: float) -> StreamFunction:
    """Make a function that decodes on a lent GPU and yields events.

    model: returns the model. seconds: longest duration of a call.
    """
    import spaces

    def stream(prompt_ids: Sequence[int], config: DecodeConfig) -> Iterator[StepEvent]:
        yield from sbd_core.stream(model(), prompt_ids, config)

    on_gpu: StreamFunction = spaces.GPU(duration=round(seconds))(stream)
    return on_gpu
