"""One model, many visitors: whose turn it is. Knows nothing of models or pages."""

import threading
import time
from collections.abc import Callable


class FairQueue:
    """A first-come line: ask `num_ahead` until it is 0, with a `rest` between, then leave.

    A turn that lasts longer than `max_seconds` is over, whether or not its holder left: a
    visitor who vanished must not keep the model.
    """

    def __init__(self, max_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_seconds = max_seconds
        self._clock = clock
        self._lock = threading.Condition()
        self._line: list[object] = []
        self._turn_began = 0.0

    def join(self) -> object:
        """A ticket at the end of the line."""
        ticket = object()
        with self._lock:
            self._line.append(ticket)
            if len(self._line) == 1:
                self._turn_began = self._clock()
        return ticket

    def num_ahead(self, ticket: object) -> int:
        """Visitors before this one; 0 is their turn. Also 0 for a ticket that is over."""
        with self._lock:
            if self._line and self._clock() - self._turn_began > self._max_seconds:
                self._drop(self._line[0])
            return self._line.index(ticket) if ticket in self._line else 0

    def rest(self, ticket: object, seconds: float) -> None:
        """Return when the line moves, or after so many seconds; at once if it is their turn."""
        with self._lock:
            if ticket in self._line[1:]:
                self._lock.wait(seconds)

    def leave(self, ticket: object) -> None:
        """Give up the turn or the place in line. Leaving twice is fine."""
        with self._lock:
            self._drop(ticket)

    def _drop(self, ticket: object) -> None:
        if ticket not in self._line:
            return
        was_first = self._line[0] is ticket
        self._line.remove(ticket)
        self._lock.notify_all()
        if was_first:
            self._turn_began = self._clock()
