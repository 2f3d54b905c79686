"""Decoding with ZeroGPU, a service of Hugging Face Spaces that lends a GPU for one call at a time.

A call runs in a forked process: its arguments and results are pickled, and its changes to objects
are lost. So a call that decodes takes token ids and a config, and yields events.
"""

import os
from collections.abc import Callable, Iterator, Sequence

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel

StreamFunction = Callable[[Sequence[int], DecodeConfig], Iterator[StepEvent]]


def on_zero_gpu() -> bool:
    """Whether this machine is a Space with ZeroGPU, which lends a GPU for one call at a time."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def before_torch() -> None:
    """Import ZeroGPU's package, which changes torch; call this before torch is imported."""
    if on_zero_gpu():
        __import__("spaces")


def lent(model: Callable[[], SetBlockModel], seconds: float) -> StreamFunction:
    """Make a function that decodes on a lent GPU and yields events.

    model: returns the model. seconds: the longest time that a call may take.
    """
    import spaces

    def stream(prompt_ids: Sequence[int], config: DecodeConfig) -> Iterator[StepEvent]:
        yield from sbd_core.stream(model(), prompt_ids, config)

    on_gpu: StreamFunction = spaces.GPU(duration=round(seconds))(stream)
    return on_gpu
