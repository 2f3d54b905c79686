"""Several ways to decode one prompt, run side by side pass by pass. Knows no Gradio, no tensors."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sbd_core.config import DecodeConfig
from sbd_core.events import StepEvent


@dataclass(slots=True, eq=False)
class Lane:
    """One strategy at work: what it was asked, what comes out, what came out so far."""

    prompt: str
    config: DecodeConfig
    stream: Iterator[StepEvent]
    events: list[StepEvent] = field(default_factory=list)
    has_revealed: bool = False

    @property
    def name(self) -> str:
        """Its strategy."""
        return self.config.strategy

    def step(self) -> StepEvent | None:
        """Make the next pass; None when the lane is complete."""
        event = next(self.stream, None)
        if event is not None:
            self.events.append(event)
            self.has_revealed = self.has_revealed or bool(event.reveals)
        return event


def passes(lanes: Sequence[Lane], deadline: float) -> Iterator[tuple[Lane, StepEvent | None]]:
    """Every pass of every lane, one of each in turn, None for its end; until the deadline.

    Passes before a lane's first reveal are not a turn: they only read the prompt.
    """
    running = list(lanes)
    while running and time.monotonic() <= deadline:
        for lane in list(running):
            event = lane.step()
            while event is not None and not lane.has_revealed:
                yield lane, event
                event = lane.step()
            yield lane, event
            if event is None:
                running.remove(lane)
