"""The runs that one visitor has on the page, kept so that they can be taken home.

Held by the page for each visitor apart. Knows no Gradio and no tensors.
"""

import threading
import time
import uuid
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace

MAX_KEPT = 256
MAX_KEPT_BYTES = 4_000_000
IDLE_SECONDS = 3600.0

Traces = Mapping[str, Trace]
Packed = dict[str, bytes]
Verdicts = Mapping[str, Mapping[str, Any]]
"""Of lanes by name, as `ui.decode.verdict.verdicts_of` gives them."""
Timing = dict[str, Any]
"""As `ui.decode.timing.timings` gives it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that is over, its main lane first. is_right: what the stage says of its answer.

    None where nothing checked it.
    """

    lanes: Traces
    is_right: bool | None


class GoneError(ArgumentError):
    """A run that is not kept here, or not any more; the visitor's browser may have saved it.

    run_id: as it was asked for, "" for what is no text.
    """

    def __init__(self, run_id: object) -> None:
        self.run_id = run_id if isinstance(run_id, str) else ""
        super().__init__("This run", "is not kept here any more; decode it again", None)


class Visitors:
    """All visitors who have runs here, so that who is away for long gives up the memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._everyone: weakref.WeakSet[VisitorRuns] = weakref.WeakSet()
        self._lock = threading.Lock()

    def add(self, runs: "VisitorRuns") -> None:
        """Count a visitor in, and forget the runs of those who were idle too long."""
        with self._lock:
            self._everyone.add(runs)
            idle = [other for other in self._everyone if other.idle_seconds > IDLE_SECONDS]
        for other in idle:
            other.forget()


class VisitorRuns:
    """A visitor's runs by id. Packed once they are over; the oldest are dropped for want of room.

    visitors: where it counts itself in. first: runs it begins with, never dropped.
    """

    def __init__(
        self,
        visitors: Visitors | None = None,
        first: Mapping[str, Callable[[], Traces]] | None = None,
    ) -> None:
        self._visitors = visitors or Visitors()
        self._first = dict(first or {})
        self._running: dict[str, Callable[[], Traces]] = {}
        self._packed: dict[str, Packed] = {}
        self._timings: dict[str, Timing] = {}
        self._verdicts: dict[str, Verdicts] = {}
        self._newest: str | None = next(iter(self._first), None)
        self._num_stops = 0
        self._decodes: set[object] = set()
        self._last_used = self._visitors.clock()

    def __deepcopy__(self, memo: object) -> "VisitorRuns":
        """A visitor of their own: Gradio copies the first value of a state for everyone."""
        return VisitorRuns(self._visitors, self._first)

    @property
    def idle_seconds(self) -> float:
        """How long no run was kept or asked for."""
        return self._visitors.clock() - self._last_used

    def stop(self) -> None:
        """Let the decodes that are running end after their next forward pass."""
        self._num_stops += 1

    def is_decoding(self, decode: object, *, is_running: bool) -> bool:
        """Note whether `decode` runs. Says whether any decode of the visitor does."""
        (self._decodes.add if is_running else self._decodes.discard)(decode)
        return bool(self._decodes)

    def watch(self) -> Callable[[], bool]:
        """A function that says whether stop() was called since."""
        before = self._num_stops
        return lambda: self._num_stops != before

    def keep(self, run_id: str, traces: Callable[[], Traces]) -> None:
        """Remember a run; `traces` gives its lanes as they are when asked, the main one first."""
        self._last_used = self._visitors.clock()
        self._visitors.add(self)
        self._running[run_id] = traces
        self._newest = run_id

    def settle(self, run_id: str, verdicts: Verdicts | None = None) -> None:
        """A kept run changes no more: pack it, and drop the oldest there is no room for.

        verdicts: what the page says of its lanes.
        """
        traces = self._running.get(run_id)
        if traces is None:
            return
        self._verdicts[run_id] = verdicts or {}
        self._packed[run_id] = _packed(traces())
        del self._running[run_id]  # only now: the page may ask for it meanwhile
        while len(self._packed) > 1 and not self._has_room():
            oldest = next(iter(self._packed))
            del self._packed[oldest]
            self._timings.pop(oldest, None)
            self._verdicts.pop(oldest, None)

    def add(
        self, lanes: Traces, run_id: str | None = None, *, verdicts: Verdicts | None = None
    ) -> str:
        """Keep a run that is over, the main lane first. Its id, a new one unless it has one.

        verdicts: what the page says of its lanes.
        """
        run_id = run_id or uuid.uuid4().hex[:8]
        self.keep(run_id, lambda: lanes)
        self.settle(run_id, verdicts)
        return run_id

    def forget(self) -> None:
        """Drop every run that is over."""
        self._packed.clear()
        self._timings.clear()
        self._verdicts.clear()

    def verdicts(self, run_id: object) -> Verdicts | None:
        """What the page said of the lanes of a run that is over; None where that is not known."""
        return self._verdicts.get(run_id) if isinstance(run_id, str) else None

    def keep_timing(self, timing: Timing) -> None:
        """Remember how long a kept run took when it was made again."""
        run_id = timing["run"]
        if timing["seconds"] and (run_id in self._packed or run_id in self._first):
            self._timings[run_id] = timing

    def timing(self, run_id: object) -> Timing | None:
        """What `keep_timing` remembers of a run."""
        return self._timings.get(run_id) if isinstance(run_id, str) else None

    def traces(self, run_id: object) -> Traces:
        """The lanes of a kept run. Raises GoneError for any other."""
        self._last_used = self._visitors.clock()
        if isinstance(run_id, str):
            live = self._running.get(run_id) or self._first.get(run_id)
            if live is not None:
                return live()
            if run_id in self._packed:
                return _unpacked(self._packed[run_id])
        raise GoneError(run_id)

    def packed(self, run_id: object) -> list[bytes]:
        """The lanes of a kept run as JSON in zlib's format. Raises GoneError for any other."""
        kept = self._packed.get(run_id) if isinstance(run_id, str) else None
        return list((_packed(self.traces(run_id)) if kept is None else kept).values())

    def finished(self, most: int) -> list[Finished]:
        """The newest runs that are over, at most so many, the oldest of them first."""
        return [
            Finished(_unpacked(lanes), self._is_right(run_id, next(iter(lanes))))
            for run_id, lanes in list(self._packed.items())[-most:]
        ]

    def newest(self) -> Traces:
        """The lanes of the run kept last."""
        return self.traces(self._newest)

    def _is_right(self, run_id: str, lane: str) -> bool | None:
        is_right: bool | None = self._verdicts.get(run_id, {}).get(lane, {}).get("right")
        return is_right

    def _has_room(self) -> bool:
        size = sum(len(lane) for run in self._packed.values() for lane in run.values())
        return size <= MAX_KEPT_BYTES and len(self._packed) <= MAX_KEPT


def _packed(lanes: Traces) -> Packed:
    return {lane: zlib.compress(trace.to_json().encode()) for lane, trace in lanes.items()}


def _unpacked(lanes: Packed) -> Traces:
    return {lane: Trace.from_json(zlib.decompress(data).decode()) for lane, data in lanes.items()}
