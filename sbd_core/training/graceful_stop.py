"""Ctrl-C and SIGTERM as a wish to stop, between steps or within one. Knows nothing of training."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StepAbandoned(Exception):
    """Raised by a signal in a part of a step that may be left undone."""


class StopWish(threading.Event):
    """An event that the first signal sets; the signal also ends whatever `abandons` encloses."""

    def __init__(self) -> None:
        super().__init__()
        self.may_abandon = False

    @contextmanager
    def abandons(self) -> Iterator[None]:
        """Raise StepAbandoned as soon as there is a wish to stop, in here or before."""
        try:
            self.may_abandon = True
            if self.is_set():
                raise StepAbandoned
            yield
        finally:
            self.may_abandon = False


@contextmanager
def graceful_stop() -> Iterator[StopWish]:
    """A wish that the first signal sets; a second signal ends the process as usual.

    Off the main thread, where Python delivers no signals, it is never set.
    """
    wish = StopWish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask(number: int, frame: FrameType | None) -> None:
        wish.set()
        restore()
        if wish.may_abandon:
            raise StepAbandoned

    for number in SIGNALS:
        signal.signal(number, ask)
    try:
        yield wish
    finally:
        restore()
