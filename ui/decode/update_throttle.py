"""How often a running decode sends news: at once when a visitor waits, then seldom.

Sending costs the engine time whatever its size, and the player paces what comes at once.
"""

import time
from collections.abc import Callable

SECONDS_BETWEEN_YIELDS = 0.125
# So long the first news waits for a first reveal to bring along.
SECONDS_TO_FIRST = 0.1


class UpdateThrottle:
    """Says when what has gathered is to be sent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = clock() + SECONDS_TO_FIRST

    def is_due(self, *, is_awaited: bool) -> bool:
        """Whether to send now; if so, the next news waits. is_awaited: it must not wait."""
        now = self._clock()
        if now >= self._due:
            self._due = now + SECONDS_BETWEEN_YIELDS
            return True
        return is_awaited
