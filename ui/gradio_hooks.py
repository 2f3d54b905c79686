"""Everything the page uses of Gradio and of inspect that neither promises to keep.

tests/ui/test_gradio_hooks.py fails when one of them changes. Imports Gradio only once it is asked
about it: the first hook makes that import quick.
"""

import inspect
import time
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


def data_of(event: "gr.EventData") -> dict[str, Any]:
    """What the page's script sent with an event; {} for what is no mapping."""
    return event._data if isinstance(event._data, dict) else {}


def client_of(page: "gr.Blocks", request: "gr.Request | None") -> Client:
    """Who sent a request: a proxy's word for the address, and the news that pile up unread."""
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

    return Client(request.client.host, is_listening)


def num_unread(page: "gr.Blocks", session_hash: str | None) -> int:
    """Messages that wait for a visitor who does not fetch them."""
    waiting = page._queue.pending_messages_per_session
    is_known = session_hash is not None and session_hash in waiting
    return waiting[session_hash].qsize() if is_known else 0  # type: ignore[index]
