"""The runs that one visitor has on the page, kept so that they can be taken home.

Held by the page for each visitor apart. Knows no Gradio and no tensors.
"""

from collections.abc import Callable, Mapping

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace

MAX_KEPT = 12

Traces = Mapping[str, Trace]


class VisitorRuns:
    """The last few runs by id, the oldest dropped first."""

    def __init__(self) -> None:
        self._runs: dict[str, Callable[[], Traces]] = {}
        self._num_stops = 0

    def stop(self) -> None:
        """Let the decodes that are running end after their next pass."""
        self._num_stops += 1

    def watch(self) -> Callable[[], bool]:
        """A function that says whether stop() was called since."""
        before = self._num_stops
        return lambda: self._num_stops != before

    def keep(self, run_id: str, traces: Callable[[], Traces]) -> None:
        """Remember a run; `traces` gives its lanes as they are when asked, the main one first."""
        self._runs[run_id] = traces
        while len(self._runs) > MAX_KEPT:
            del self._runs[next(iter(self._runs))]

    def traces(self, run_id: object) -> Traces:
        """The lanes of a kept run. Raises ArgumentError for any other."""
        if not isinstance(run_id, str) or run_id not in self._runs:
            raise ArgumentError("This run", "is not kept here any more; decode it again", None)
        return self._runs[run_id]()

    def newest(self) -> Traces:
        """The lanes of the run kept last."""
        return self._runs[next(reversed(self._runs))]()
