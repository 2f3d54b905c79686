"""Lanes: several ways to decode one prompt, one forward pass at a time.

Knows no Gradio, no tensors.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel
from ui.hosting.zero_gpu import StreamFunction, on_zero_gpu


@dataclass(slots=True, eq=False)
class Lane:
    """One way to decode a prompt, and its result so far.

    stream: makes the events. prompt: as sbd_core.stream() takes it.
    events, token_ids: the forward passes made, and the answer's tokens that they committed.
    has_revealed: whether a forward pass has revealed a token.
    name: by default its strategy.
    Its stream, and with it a KV cache, lives from the first step to the last, or to close().
    """

    model: SetBlockModel
    stream: StreamFunction
    prompt: Any
    prompt_token_ids: tuple[int, ...]
    config: DecodeConfig
    events: list[StepEvent] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    has_revealed: bool = False
    name: str = ""
    _stream: Iterator[StepEvent] | None = None
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self.name = self.name or str(self.config.strategy)

    def step(self) -> StepEvent | None:
        """Make the next forward pass; None if the lane is complete or closed."""
        if self._is_closed:
            return None
        if self._stream is None:
            self._stream = self.stream(self.prompt_token_ids, self.config)
        event = next(self._stream, None)
        if event is None:
            self.close()
        else:
            self.events.append(event)
            self.token_ids += event.committed
            self.has_revealed = self.has_revealed or bool(event.reveals)
        return event

    def close(self) -> None:
        """Drop the stream and its KV cache; the events stay."""
        self._is_closed = True
        self._stream = None


def passes(
    lanes: Sequence[Lane], deadline: float, *, is_race: bool
) -> Iterator[tuple[Lane, StepEvent | None]]:
    """Yield every forward pass of every lane until the deadline, None at a lane's end.

    is_race: True takes a pass of each lane in turn; False lane after lane, so that nobody waits for
    a lane that is there for comparison. Passes before a lane's first reveal only read the prompt
    and count as no turn. On a GPU that is lent per call it is always lane after lane.
    """
    running = list(lanes)
    # A second GPU might not be lent while the first call waits for it.
    if not is_race or on_zero_gpu():
        for lane in lanes:
            yield from _alone(lane, deadline)
        return
    while running and time.monotonic() <= deadline:
        for lane in list(running):
            event = lane.step()
            while event is not None and not lane.has_revealed:
                yield lane, event
                event = lane.step()
            yield lane, event
            if event is None:
                running.remove(lane)


def _alone(lane: Lane, deadline: float) -> Iterator[tuple[Lane, StepEvent | None]]:
    event = None
    while time.monotonic() <= deadline:
        event = lane.step()
        yield lane, event
        if event is None:
            return
    lane.close()
