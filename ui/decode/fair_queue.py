"""A waiting line that shares one model fairly among clients.

In each round of turns, every waiting client gets one turn, in order of arrival. A client with many
runs thus delays the others by only one run per round. Knows no models and no pages.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sbd_core.errors import SetBlockDecodingError

MAX_PLACES = 64
"""Most places in line: everyone who waits occupies a thread of the server."""
MAX_PLACES_EACH = 40
"""Most places of one client, which leaves some to others."""


class QueueFull(SetBlockDecodingError):
    """Raised when a visitor cannot join the line."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A place in line.

    round: number of the round in which this place gets its turn; a client gets one turn per round.
    """

    client: str
    round: int


class FairQueue:
    """A waiting line. Take a place(), and wait_for_move() until num_ahead() is 0.

    max_turn_seconds: time after which a turn is ended, in case its visitor has vanished.
    """

    def __init__(
        self,
        max_turn_seconds: float,
        max_places_each: int = MAX_PLACES_EACH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_turn_seconds = max_turn_seconds
        self._max_places_each = max_places_each
        self._clock = clock
        self._lock = threading.Condition()
        self._line: list[Ticket] = []  # in the order of turns; the first has its turn now
        self._round = 0  # of the last turn that began
        self._turn_began = 0.0

    @contextmanager
    def place(self, client: str) -> Iterator[Ticket]:
        """Hold a place in line in a `with` block. Raises QueueFull, see join()."""
        ticket = self.join(client)
        try:
            yield ticket
        finally:
            self.leave(ticket)

    def join(self, client: str = "") -> Ticket:
        """Take a place in line. Raises QueueFull if the client has too many or the line is full."""
        with self._lock:
            self._end_long_turn()
            theirs = [other.round for other in self._line if other.client == client]
            if len(theirs) >= self._max_places_each:
                raise QueueFull(
                    f"{len(theirs)} runs of your address are still in line here; wait for one of "
                    "them."
                )
            if len(self._line) >= MAX_PLACES:
                raise QueueFull(
                    f"The page is full: {len(self._line)} runs are in line. Nothing is lost; try "
                    "again in a minute."
                )
            # The round after the client's last place, but no earlier than the present turn's.
            ticket = Ticket(client, max([self._round, *theirs]) + 1)
            is_before = [other.round <= ticket.round for other in self._line[1:]]
            self._line.insert(len(self._line[:1]) + sum(is_before), ticket)
            if self._line[0] is ticket:
                self._begin_turn()
        return ticket

    def num_ahead(self, ticket: Ticket) -> int:
        """Number of places in line before the ticket; 0 during its turn and after it has left."""
        with self._lock:
            self._end_long_turn()
            return self._line.index(ticket) if ticket in self._line else 0

    def wait_for_move(self, ticket: Ticket, seconds: float) -> None:
        """Wait at most `seconds` until the line moves; return at once if the ticket is first."""
        with self._lock:
            if ticket in self._line[1:]:
                self._lock.wait(seconds)

    def leave(self, ticket: Ticket) -> None:
        """Give up the turn or the place in line. Leaving twice does no harm."""
        with self._lock:
            if ticket not in self._line:
                return
            was_first = self._line[0] is ticket
            self._line.remove(ticket)
            if was_first and self._line:
                self._begin_turn()
            self._lock.notify_all()

    def _begin_turn(self) -> None:
        self._round = self._line[0].round
        self._turn_began = self._clock()

    def _end_long_turn(self) -> None:
        if self._line and self._clock() - self._turn_began > self._max_turn_seconds:
            self.leave(self._line[0])
