"""GPUs that ZeroGPU lends for the length of a call: in a Space with that hardware, nowhere else.

A lent call runs in another process, forked from this one: what goes in and comes out is pickled,
and nothing it changes is seen here. So a decode there is token ids and a config in, events out.
"""

import os
from collections.abc import Callable, Iterator, Sequence

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel

StreamFunction = Callable[[Sequence[int], DecodeConfig], Iterator[StepEvent]]


def on_zero_gpu() -> bool:
    """Whether the GPU of this machine is there only inside a lent call."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def before_torch() -> None:
    """Import the package of ZeroGPU, which changes torch; call it before torch is imported."""
    if on_zero_gpu():
        __import__("spaces")


def streamed(model: Callable[[], SetBlockModel], seconds: float) -> StreamFunction:
    """A function that decodes with model(), a generator of events, on a lent GPU where there are.

    seconds: the longest a call may take.
    """

    def stream(prompt_ids: Sequence[int], config: DecodeConfig) -> Iterator[StepEvent]:
        yield from sbd_core.stream(model(), prompt_ids, config)

    if not on_zero_gpu():
        return stream
    import spaces

    lent: StreamFunction = spaces.GPU(duration=round(seconds))(stream)
    return lent
