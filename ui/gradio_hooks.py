"""Everything the page uses of Gradio and of inspect that neither promises to keep.

tests/ui/test_gradio_hooks.py fails when one of them changes. Imports Gradio only once it is asked
about it: the first hook makes that import quick.
"""

import inspect
import logging
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from ui.decode.client import LOCAL, Client

if TYPE_CHECKING:
    import gradio as gr

# No part of the page shows progress in Gradio's way. On an empty list of those that do, not just
# hidden: Gradio copies every property of each of them whenever a value of a stream arrives.
HIDDEN: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# An event answered in no time, each time it comes. With "always_last" Gradio 6.31 puts off the last
# of several quick events and then sends the first one's data again.
QUICK: dict[str, Any] = {
    "trigger_mode": "multiple",
    "queue": False,
    **HIDDEN,
}

NEWS_A_SECOND = 8
MAX_UNREAD = 48
"""News that nobody fetched, of one visitor: 6 seconds of a run."""
MAX_NEVER_READ = 16
"""The same of a visitor who has not fetched any yet."""
MAX_OF_A_KIND, MAX_KINDS = 3, 100
"""Tracebacks in the log: of one error at one line, and of such kinds."""


@contextmanager
def no_stubs_for_editors() -> Iterator[None]:
    """While open, `import gradio` takes half its time.

    Gradio writes a .pyi beside each of its components at every import, and skips a class whose
    file it cannot find.
    """
    file_of = inspect.getfile

    def hidden(item: Any) -> str:
        if isinstance(item, type) and str(item.__module__).startswith("gradio."):
            raise OSError("not looked up")
        return file_of(item)

    with mock.patch.object(inspect, "getfile", hidden):
        yield


def look_into_queue_every(page: "gr.Blocks", seconds: float) -> None:
    """How often Gradio looks for new events; its own thousand times a second cost the engine."""
    page._queue.sleep_when_free = seconds


def let_uvicorn_trust_no_proxy() -> None:
    """Whose word for a visitor's address counts, `ui.hosting.middleware` says.

    Uvicorn, which Gradio starts, would believe whoever connects from 127.0.0.1.
    """
    os.environ["FORWARDED_ALLOW_IPS"] = ""


def keep_no_values_of_sessions() -> None:
    """Let go of what a visitor posted once it is answered.

    Gradio keeps the last value of every input of every session for deep links, which no part of
    the page offers: 200 sessions could hold gigabytes.
    """
    from gradio.state_holder import SessionState

    SessionState._update_value_in_config = _forget  # type: ignore[assignment]


def _forget(state: Any, key: int, value: Any) -> None:
    """Stands in for what would keep a session's value."""


class RareTracebacks(logging.Filter):
    """The first few tracebacks of each kind; of more, which one visitor can cause, none.

    Stands in for the module `traceback` where Gradio prints them, and filters a logger.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[tuple[str, str, int]] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(traceback, name)

    def print_exc(self) -> None:
        """As traceback.print_exc, for the first few of a kind."""
        error = sys.exc_info()[1]
        if error is not None and self._is_rare(error):
            traceback.print_exception(error)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be logged."""
        error = record.exc_info[1] if record.exc_info else None
        return error is None or self._is_rare(error)

    def _is_rare(self, error: BaseException) -> bool:
        *_, last = [None, *traceback.walk_tb(error.__traceback__)]
        file, line = (last[0].f_code.co_filename, last[1]) if last else ("", 0)
        kind = (type(error).__name__, file, line)
        # Counted until it is full: a kind more takes memory that a visitor asks for.
        if kind in self._counts or len(self._counts) < MAX_KINDS:
            self._counts[kind] += 1
        return 0 < self._counts[kind] <= MAX_OF_A_KIND


def log_tracebacks_rarely() -> None:
    """Keep a visitor who posts nonsense from filling the log."""
    from gradio import queueing, routes

    rare = RareTracebacks()
    queueing.traceback = routes.traceback = rare  # type: ignore[assignment]
    server = logging.getLogger("uvicorn.error")
    for old in [each for each in server.filters if isinstance(each, RareTracebacks)]:
        server.removeFilter(old)
    server.addFilter(rare)


def data_of(event: "gr.EventData") -> dict[str, Any]:
    """What the page's script sent with an event; {} for what is no mapping."""
    return event._data if isinstance(event._data, dict) else {}


def client_of(page: "gr.Blocks", request: "gr.Request | None") -> Client:
    """Who sent a request: address and session, and the news that pile up unread."""
    if request is None or request.client is None:
        return LOCAL
    session, last, has_read, since = request.session_hash, 0, False, time.monotonic()

    def is_listening() -> bool:
        nonlocal last, has_read, since
        unread = num_unread(page, session)
        now = time.monotonic()
        if unread < max(last, 1):
            has_read, since = True, now
        last = unread
        most = MAX_UNREAD if has_read else MAX_NEVER_READ
        # A run so fast that its news outpace a visitor who listens is not left.
        return unread < most or now - since < most / NEWS_A_SECOND

    return Client(request.client.host, is_listening, session or "")


def num_unread(page: "gr.Blocks", session_hash: str | None) -> int:
    """Messages that wait for a visitor who does not fetch them."""
    waiting = page._queue.pending_messages_per_session
    is_known = session_hash is not None and session_hash in waiting
    return waiting[session_hash].qsize() if is_known else 0  # type: ignore[index]
