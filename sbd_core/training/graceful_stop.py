"""Ctrl-C and SIGTERM as a wish to stop after the step under way. Knows nothing of training."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def graceful_stop() -> Iterator[threading.Event]:
    """An event that the first signal sets; the second ends the process as it always would.

    Off the main thread, where Python delivers no signals, the event is never set.
    """
    wish = threading.Event()
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

    for number in SIGNALS:
        signal.signal(number, ask)
    try:
        yield wish
    finally:
        restore()
