"""A waiting line that shares one model fairly among clients.

In each round of turns, every waiting client gets one turn, in order of arrival. A client with many
runs thus delays the others by only one run per round. Knows no models and no pages.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from sbd_core.errors import SetBlockDecodingError

MAX_AHEAD = 40
MAX_PLACES = 64
"""Most places in line: everyone who waits occupies a thread of the server."""
NUM_RECENT = 5
FIRST_GUESS_SECONDS = 7.5
"""Expected length of a turn before any has ended."""


class QueueFull(SetBlockDecodingError):
    """Raised when a visitor cannot join the line."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A place in line.

    client: network address of the visitor.
    round: number of the round in which this place gets its turn; a client gets one turn per round.
    number: place in the order of arrival, counted from 1.
    """

    client: str
    round: int
    number: int


class FairQueue:
    """A waiting line. Call join(), wait_for_move() until num_ahead() is 0, and leave() when done.

    max_turn_seconds: time after which a turn is ended, in case its visitor has vanished.
    max_wait_seconds: longest expected wait; a visitor who would wait longer is refused.
    max_places_each: most places that one client may hold.
    """

    def __init__(
        self,
        max_turn_seconds: float,
        max_wait_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        max_places_each: int = MAX_PLACES,
    ) -> None:
        self._max_turn_seconds = max_turn_seconds
        self._max_wait_seconds = max_wait_seconds
        self._max_places_each = max_places_each
        self._clock = clock
        self._lock = threading.Condition()
        self._line: list[Ticket] = []  # in the order of turns; the first has its turn now
        self._recent: deque[float] = deque(maxlen=NUM_RECENT)
        self._num_joined = 0
        self._round = 0  # of the last turn that began
        self._turn_began = 0.0

    def join(self, client: str = "") -> Ticket:
        """Take a place in line. Raises QueueFull if the client has too many or the line is full."""
        with self._lock:
            self._end_long_turn()
            theirs = [other for other in self._line if other.client == client]
            if len(theirs) >= self._max_places_each:
                raise QueueFull(places_taken_text(self._max_places_each))
            # The round after the client's last place, but no earlier than the present turn's.
            self._num_joined += 1
            round_ = max([self._round, *(other.round for other in theirs)]) + 1
            ticket = Ticket(client, round_, self._num_joined)
            place = sum(
                other is self._line[0] or (other.round, other.number) < (round_, ticket.number)
                for other in self._line
            )
            seconds = place * self._turn_seconds()
            if place > MAX_AHEAD or len(self._line) >= MAX_PLACES:
                raise QueueFull(line_full_text(place, None))
            if seconds > self._max_wait_seconds:
                raise QueueFull(line_full_text(place, seconds))
            self._line.insert(place, ticket)
            if place == 0:
                self._begin_turn()
        return ticket

    def num_ahead(self, ticket: object) -> int:
        """Number of places in line before the ticket; 0 during its turn and after it has left."""
        with self._lock:
            self._end_long_turn()
            return self._line.index(ticket) if ticket in self._line else 0

    @property
    def num_waiting(self) -> int:
        """Number of places taken, with the one whose turn it is."""
        with self._lock:
            return len(self._line)

    def wait_for_move(self, ticket: object, seconds: float) -> None:
        """Wait at most `seconds` until the line moves; return at once if the ticket is first."""
        with self._lock:
            if ticket in self._line[1:]:
                self._lock.wait(seconds)

    def leave(self, ticket: object) -> None:
        """Give up the turn or the place in line. Leaving twice does no harm."""
        with self._lock:
            self._drop(ticket)

    def _turn_seconds(self) -> float:
        """Mean seconds of recent turns; at least FIRST_GUESS_SECONDS until a turn has ended."""
        if self._recent:
            return sum(self._recent) / len(self._recent)
        present = self._clock() - self._turn_began if self._line else 0.0
        return max(FIRST_GUESS_SECONDS, present)

    def _begin_turn(self) -> None:
        self._round = self._line[0].round
        self._turn_began = self._clock()

    def _end_long_turn(self) -> None:
        if self._line and self._clock() - self._turn_began > self._max_turn_seconds:
            self._drop(self._line[0])

    def _drop(self, ticket: object) -> None:
        if ticket not in self._line:
            return
        was_first = self._line[0] is ticket
        self._line.remove(ticket)
        self._lock.notify_all()
        if was_first:
            self._recent.append(self._clock() - self._turn_began)
            if self._line:
                self._begin_turn()


def places_taken_text(num_places: int) -> str:
    """Message to a visitor whose address holds all places allowed."""
    return f"{num_places} runs of your address are still in line here; wait for one of them."


def line_full_text(num_ahead: int, seconds: float | None) -> str:
    """Message to a visitor who cannot join the line.

    seconds: the expected wait, if it is too long; None if too many places are taken.
    """
    runs = f"{num_ahead} run{'s are' if num_ahead != 1 else ' is'} before yours"
    wait = "" if seconds is None else f", a wait of about {seconds:.0f} seconds"
    return f"The page is full: {runs}{wait}. Nothing is lost; try again in a minute."
