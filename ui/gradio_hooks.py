"""All code that uses Gradio's internals, which a new release may change.

tests/ui/test_gradio_hooks.py fails when Gradio has changed an internal that is used here.
"""

import os
import time
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from gradio.server_messages import UnexpectedErrorMessage
from starlette.responses import Response

from ui.decode.session import LOCAL, Client
from ui.middleware import App, Receive, Scope, Send

# No part of the page shows Gradio's progress. "hidden" alone is not enough: Gradio copies every
# property of each component in show_progress_on whenever a value of a stream arrives.
HIDDEN: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# An event that is answered at once, each time. With "always_last" Gradio 6.31 delays the last of
# several quick events and then sends the first one's data again.
QUICK: dict[str, Any] = {
    "trigger_mode": "multiple",
    "queue": False,
    **HIDDEN,
}

NOT_QUEUED = "This event does not wait in the queue."
NEWS_A_SECOND = 8
MAX_UNREAD = 48
"""Most unread messages of a visitor who listens: 6 seconds of a run."""
MAX_NEVER_READ = 16
"""Most unread messages of a visitor who has not read any yet."""


def set_queue_poll_seconds(page: gr.Blocks, seconds: float) -> None:
    """Set the seconds between two polls of Gradio's queue; Gradio's default slows decoding."""
    page._queue.sleep_when_free = seconds


def keep_direct_events_out_of_queue(page: gr.Blocks) -> None:
    """Refuse queue=False events sent to the queue, where the limits on such events do not apply."""
    queued = page._queue.push

    async def push(body: Any, *rest: Any, **named: Any) -> Any:
        function = page.fns.get(body.fn_index)
        if function is not None and not function.queue:
            return False, NOT_QUEUED, "error"
        return await queued(body, *rest, **named)

    page._queue.push = push  # type: ignore[method-assign]


def let_uvicorn_trust_no_proxy() -> None:
    """Stop Uvicorn, Gradio's server, from trusting proxies; `ui.middleware` decides about them.

    By default, Uvicorn trusts every connection from 127.0.0.1 as a proxy.
    """
    os.environ["FORWARDED_ALLOW_IPS"] = ""


class ForgottenValues:
    """ASGI middleware that deletes visitors' inputs and outputs from memory after each request.

    Gradio keeps the last inputs and outputs of every session for deep links. This page has no deep
    links, and the values of 200 sessions could take gigabytes.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, then delete the values of all sessions."""
        page: Any = scope.get("app")  # read now: an app mounted within puts itself there
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                for state in list(page.state_holder.session_data.values()):
                    state.config_values.clear()


class KnownStreams:
    """ASGI middleware that answers requests for the messages of an unknown session.

    Gradio gives the same answer, but then raises an error, whose traceback would fill the log.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer that the session is unknown, or pass the request on."""
        if scope["type"] == "http" and scope["path"].endswith("/queue/data"):
            asked = parse_qs(scope["query_string"].decode("latin1")).get("session_hash")
            page: Any = scope["app"]
            if asked and asked[0] not in page.get_blocks()._queue.pending_messages_per_session:
                news = UnexpectedErrorMessage(message="404: Not Found", session_not_found=True)
                body = f"data: {news.model_dump_json()}\n\n"
                await Response(body, media_type="text/event-stream")(scope, receive, send)
                return
        await self._app(scope, receive, send)


def data_of(event: gr.EventData) -> dict[str, Any]:
    """The mapping that the page's script sent with an event; {} if it sent anything else."""
    return event._data if isinstance(event._data, dict) else {}


def client_of(page: gr.Blocks, request: gr.Request | None) -> Client:
    """Make the Client that sent a request. A Client with too many unread messages counts as gone.

    Without a request, the Client is LOCAL, which never counts as gone.
    """
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
        # A visitor who listens may fall behind a fast run for a while.
        return unread < most or now - since < most / NEWS_A_SECOND

    return Client(request.client.host, is_listening, session or "")


def num_unread(page: gr.Blocks, session_hash: str | None) -> int:
    """Number of messages that a session has not fetched; 0 for an unknown session."""
    waiting = page._queue.pending_messages_per_session
    is_known = session_hash is not None and session_hash in waiting
    return waiting[session_hash].qsize() if is_known else 0  # type: ignore[index]
