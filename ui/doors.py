"""The doors of the page's server: which requests it answers, and how many of each visitor.

Every request passes here before anything of Gradio runs. Paths and methods outside the lists get
404. Bodies and ids are checked for shape and size. For each address, requests are slowed down once
there are too many, and what is computed is served one at a time, each followed by a pause as long
as the request took, at most MAX_PAUSE seconds.
"""

import asyncio
import json
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import parse_qs

from anyio import fail_after, move_on_after
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

MAX_BODY = 6_000_000
"""Most bytes of a body with a trace: the largest trace file, and what JSON adds to it."""
SMALL_BODY = 100_000
"""Most bytes of any other body."""
MAX_LARGE, MAX_LARGE_EACH = 10, 3
"""Most larger bodies in memory at a time, of all addresses and of one."""
MAX_DISCARDED = 200_000_000
"""Bytes of a too large body that are read and dropped, so that its sender reads the answer."""
SECONDS_FOR_BODY = 120.0
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
IPV6_PREFIX = 64
"""Prefix length of the IPv6 network that counts as one visitor."""
MAX_WAITING = 20
MAX_PAUSE = 1.0
"""Longest pause in seconds after a computed request."""
MAX_DELAY = 2.0
"""Longest delay in seconds of a request when there are too many; one due later is refused."""
MAX_STREAMS = 64
MAX_UNREAD = 8
"""Most events of one address whose streams nobody has opened yet."""
SECONDS_UNREAD = 10.0
"""Time in which somebody has to open the stream of an event."""
MAX_KNOWN = 1000
"""Number of addresses that are remembered, those seen last."""

NOT_LOCAL = (
    "This page answers its own machine alone, under an address or localhost. Behind a proxy start "
    "it with --trusted-proxies, for others with --public."
)
NOT_FOUND = "There is nothing at this address."
TOO_LARGE = "The request is larger than this page takes."
TOO_MANY = "Too many requests of your network at once; try again in a moment."
NOT_TEXT = "The request must be JSON, and its texts Unicode without lone surrogates."

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-embedder-policy": b"require-corp",
}
"""Headers of every answer: no guessed content types, and threads for the engine in browsers."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger(__name__)


def visitor_of(client: str) -> str:
    """The visitor with an address: the IPv4 address, or the network of an IPv6 address."""
    found = _address(client)
    if isinstance(found, IPv6Address):
        return str(ip_network((found, IPV6_PREFIX), strict=False))
    return client if found is None else str(found)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address in a text such as "1.2.3.4:80" or "[::1]"; None if there is none."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_loopback(host: str) -> bool:
    """Whether a page that listens on `host` can be reached only from its own machine."""
    found = _address(host)
    return host == "localhost" if found is None else found.is_loopback


def is_local_name(host: str) -> bool:
    """Whether a Host header, or an Origin without its scheme, is an IP address or localhost.

    A hostile site could let any other name point to this machine (DNS rebinding).
    """
    name = host.lower().partition(":")[0]
    return _address(host) is not None or name == "localhost" or name.endswith(".localhost")


class Bucket:
    """Lets `at_once` requests pass at once, then `a_second` per second."""

    def __init__(self, at_once: int, a_second: float) -> None:
        self._at_once, self._a_second = at_once, a_second
        self._used_until = 0.0  # by time.monotonic(): what the requests so far use up of the share

    async def take(self) -> None:
        """Count a request and delay it as needed. Raises HTTPException if it is due too late."""
        now = time.monotonic()
        before = max(now, self._used_until)
        seconds = before - now - self._at_once / self._a_second
        if seconds > MAX_DELAY:
            await asyncio.sleep(MAX_DELAY)  # whoever asks again at once does not get ahead by it
            raise HTTPException(429, TOO_MANY)
        self._used_until = before + 1 / self._a_second
        await asyncio.sleep(max(0.0, seconds))


@dataclass(slots=True)
class Sender:
    """State of one address.

    requests: limits requests of every kind; a page with its engine needs about 30.
    events: limits requests that change something, such as decodes; a class may send 64 at once.
    free_at: the time.monotonic() at which the pause after the last computed request ends.
    counts: of what is "waiting" for its turn, of "large" bodies in memory, of open "streams", and
        of events whose streams nobody has opened yet, "unread".
    """

    requests: Bucket = field(default_factory=lambda: Bucket(1200, 60))
    events: Bucket = field(default_factory=lambda: Bucket(64, 10))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    async def in_turn(self, act: Callable[[], Awaitable[None]]) -> None:
        """Serve a computed request after earlier ones of the address. Raises HTTPException."""
        if self.counts["waiting"] >= MAX_WAITING:
            await asyncio.sleep(MAX_DELAY)
            raise HTTPException(429, TOO_MANY)
        self.counts["waiting"] += 1
        try:
            async with self.lock:
                await asyncio.sleep(max(0.0, self.free_at - time.monotonic()))
                began = time.monotonic()
                try:
                    await act()
                finally:
                    ended = time.monotonic()
                    self.free_at = ended + min(ended - began, MAX_PAUSE)
        finally:
            self.counts["waiting"] -= 1


API = "/gradio_api"
TRACE_EVENT = "trace_to_html"
COMPUTED = {"/config", f"{API}/info"}
STARTUP = f"{API}/startup-events"
"""Gradio asks itself for it when it starts."""
SMALL_POSTS = {f"{API}/cancel", f"{API}/reset"}
JOIN, MESSAGES = f"{API}/queue/join", f"{API}/queue/data"
CALL = re.compile(rf"{API}/call/([a-z_]{{1,32}})")
STREAM = re.compile(rf"{API}/call/[a-z_]{{1,32}}/([^/]+)")


class Doors:
    """The ASGI application in front of Gradio's.

    app: answers what is let through.
    server: the page's server, a gradio.Server whose queue of events is watched. Its file() makes
        the answer with the file at a path; `answers` has the functions behind other paths of POST,
        from JSON to JSON.
    is_local: whether to refuse requests whose Host or Origin does not name this machine.
    """

    def __init__(
        self, app: App, server: Any, *, is_local: bool = False, root_path: str = ""
    ) -> None:
        self._app, self._server = app, server
        self._is_local, self._root_path = is_local, root_path
        self._num_large = 0  # of all large bodies held now
        self._has_warned = False
        self._sender = lru_cache(MAX_KNOWN)(lambda address: Sender())
        self._tasks: set[asyncio.Task[None]] = set()
        self._readers: Counter[str] = Counter()  # open streams of each session or event
        self._opened: dict[str, asyncio.Event] = {}  # set once somebody reads what was joined

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it with a sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close"})
            return
        send = _with_headers(send)
        try:
            if self._is_local and not _is_own(scope):
                raise HTTPException(403, NOT_LOCAL)
            await self._serve(self._with_visitor(scope), receive, send)
        except HTTPException as refusal:
            answer = JSONResponse({"detail": refusal.detail}, refusal.status_code)
            if scope["method"] == "POST":  # its body may not have been read
                answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
        except ClientDisconnect:
            pass

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        sender = self._sender(str((scope.get("client") or ("",))[0]))
        await sender.requests.take()
        # A page and its files may have any query, which Gradio must not read.
        query = scope["query_string"]
        scope = {**scope, "path": self._path(scope), "query_string": b""}
        path, method = scope["path"], scope["method"]
        is_event = path == JOIN or CALL.fullmatch(path)
        if method in ("GET", "HEAD") and (file := self._server.file(path, scope)) is not None:
            await file(scope, receive, send)
        elif method == "GET" and path in COMPUTED:
            await sender.in_turn(lambda: self._app(scope, receive, send))
        elif method == "GET" and path == STARTUP and is_loopback(scope["client"][0]):
            await self._app(scope, receive, send)
        elif method == "GET" and (path == MESSAGES or STREAM.fullmatch(path)):
            await self._stream(sender, {**scope, "query_string": query}, receive, send)
        elif method == "POST" and (is_event or path in SMALL_POSTS or path in self._server.answers):
            await sender.events.take()
            await self._post(sender, scope, receive, send)
        else:
            raise HTTPException(404, NOT_FOUND)

    def _path(self, scope: Scope) -> str:
        """The path below the page's root, which proxies may or may not have removed."""
        path: str = scope["path"]
        if self._root_path and (path + "/").startswith(self._root_path + "/"):
            path = path[len(self._root_path) :]
        return path or "/"

    async def _post(self, sender: Sender, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        most = SMALL_BODY if path in SMALL_POSTS else MAX_BODY
        async with self._body(receive, sender, most) as held:
            body = await run_in_threadpool(_parsed, held)
            if path in self._server.answers:

                async def answer() -> None:
                    made = await run_in_threadpool(self._server.answers[path], body)
                    await JSONResponse(made)(scope, receive, send)

                await sender.in_turn(answer)
                return
            if path in SMALL_POSTS:
                body = _checked_ids(body, "session_hash", "event_id")
            else:
                body = self._checked_event(path, body, len(held))
            headers = [pair for pair in scope["headers"] if not pair[0].startswith(b"content-")]
            headers.append((b"content-type", b"application/json"))
            handed_on = {**scope, "headers": headers}
            read = [{"type": "http.request", "body": json.dumps(body).encode()}]

            async def replayed() -> Message:
                return read.pop() if read else await receive()

            try:
                if path in SMALL_POSTS:
                    await self._app(handed_on, replayed, send)
                else:
                    await self._join(sender, body.get("session_hash"), handed_on, replayed, send)
            finally:
                self._forget()

    def _checked_event(self, path: str, body: Any, size: int) -> dict[str, Any]:
        """Check the body of an event and drop what Gradio does not need. Raises HTTPException."""
        called = CALL.fullmatch(path)
        body = body if isinstance(body, dict) else {}
        found = self.event(called[1] if called else body.get("fn_index"))
        if found is None:
            raise HTTPException(404, NOT_FOUND)
        number, count = found
        data = body.get("data")
        if not isinstance(data, list) or len(data) != count:
            raise HTTPException(422, f"This event takes a list of {count} values as its data.")
        if size > SMALL_BODY and self.event(TRACE_EVENT) != found:
            raise HTTPException(413, TOO_LARGE)
        if called:
            return {"data": data}
        return {"data": data, **_checked_ids(body, "session_hash"), "fn_index": number}

    def event(self, name: object) -> tuple[int, int] | None:
        """Number and count of values of Gradio's event with a name or number; None for none."""
        for number, function in self._server.get_blocks().fns.items():
            if name == (number if type(name) is int else function.api_name):
                return number, len(function.inputs)
        return None

    async def _join(
        self, sender: Sender, session: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let an event join Gradio's queue, and drop it if nobody opens its stream in time."""
        if sender.counts["unread"] >= MAX_UNREAD:
            raise HTTPException(429, TOO_MANY)
        said = bytearray()

        async def listen(message: Message) -> None:
            said.extend(message.get("body", b""))
            await send(message)

        async def watch(known: str) -> None:
            with move_on_after(SECONDS_UNREAD):
                if not self.is_read(known):
                    await self._opened.setdefault(known, asyncio.Event()).wait()
            sender.counts["unread"] -= 1
            self._opened.pop(known, None)
            if not self.is_read(known):
                await self._drop(known)

        sender.counts["unread"] += 1
        try:
            await self._app(scope, receive, listen)
            known = json.loads(said).get("event_id") if session is None else session
        except BaseException:
            sender.counts["unread"] -= 1
            raise
        task = asyncio.create_task(watch(known))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stream(self, sender: Sender, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a visitor read the messages of a session or of an event."""
        called = STREAM.fullmatch(scope["path"])
        # No id where a query names no session, or several.
        named = parse_qs(scope["query_string"].decode("latin1")).get("session_hash", [])
        session = called[1] if called else ",".join(named)
        messages = self._server.get_blocks()._queue.pending_messages_per_session
        if not ID.fullmatch(session) or session not in messages:
            raise HTTPException(404, "There is no such event, or nobody read it in time.")
        if sender.counts["streams"] >= MAX_STREAMS:
            raise HTTPException(429, TOO_MANY)
        sender.counts["streams"] += 1
        self._readers[session] += 1
        if session in self._opened:
            self._opened[session].set()
        try:
            await self._app(scope, receive, send)
        finally:
            sender.counts["streams"] -= 1
            self._readers -= Counter([session])
            if called:  # nobody reads an event twice
                await self._drop(session)
            self._forget()

    def is_read(self, session: str) -> bool:
        """Whether somebody reads the messages of a session, or of an event called by name."""
        return self._readers[session] > 0

    async def _drop(self, session: str) -> None:
        """Drop the events of a session that nobody reads, or an event, and its messages."""
        queue = self._server.get_blocks()._queue
        await queue.clean_events(session_hash=session)
        queue.pending_messages_per_session.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)

    def _forget(self) -> None:
        """Forget the values that Gradio keeps of events that were sent."""
        for state in list(self._server.state_holder.session_data.values()):
            state.config_values.clear()

    def _with_visitor(self, scope: Scope) -> Scope:
        """Put the visitor in place of the address, for which uvicorn has asked trusted proxies."""
        if scope.get("client") is None:
            return scope
        peer = scope["client"][0]
        forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        if forwarded and peer not in forwarded and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%s forwards requests and is no trusted proxy: all who come through it count as "
                "one visitor; see --trusted-proxies in docs/hosting.md",
                peer,
            )
        return {**scope, "client": (visitor_of(peer), 0)}

    @asynccontextmanager
    async def _body(self, receive: Receive, sender: Sender, most: int) -> AsyncIterator[bytes]:
        """Read a body of at most `most` bytes, and hold it in a block. Raises HTTPException."""
        held, num_bytes, is_large = bytearray(), 0, False
        refusal: HTTPException | None = None
        try:
            try:
                with fail_after(SECONDS_FOR_BODY):
                    async for part in Request({"type": "http"}, receive).stream():
                        num_bytes += len(part)
                        if num_bytes > most:
                            refusal = refusal or HTTPException(413, TOO_LARGE)
                        elif num_bytes > SMALL_BODY and not is_large:
                            refusal = refusal or self._refusal_of_large(sender)
                            is_large = refusal is None
                        if refusal is None:
                            held += part
                        elif num_bytes > MAX_DISCARDED:
                            break
            except TimeoutError:
                refusal = HTTPException(408, "The request took too long to arrive.")
            if refusal is not None:
                raise refusal
            yield bytes(held)
        finally:
            sender.counts["large"] -= is_large
            self._num_large -= is_large

    def _refusal_of_large(self, sender: Sender) -> HTTPException | None:
        """Count a large body of an address, or return why there is no room for it."""
        if sender.counts["large"] >= MAX_LARGE_EACH:
            return HTTPException(429, TOO_MANY)
        if self._num_large >= MAX_LARGE:
            return HTTPException(503, "The page is full of large requests; try again soon.")
        sender.counts["large"] += 1
        self._num_large += 1
        return None


def _parsed(body: bytes) -> Any:
    try:
        found = json.loads(body)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise HTTPException(422, NOT_TEXT) from None
    return found


def _checked_ids(body: Any, *names: str) -> dict[str, Any]:
    """The ids and the number of a function in a body. Raises HTTPException if they are not such."""
    body = body if isinstance(body, dict) else {}
    checked = {name: body.get(name) for name in names}
    if not all(isinstance(value, str) and ID.fullmatch(value) for value in checked.values()):
        raise HTTPException(
            422, f"{' and '.join(names)} must be ids of at most 64 letters and digits."
        )
    number = body.get("fn_index")
    return {**checked, "fn_index": number if type(number) is int and abs(number) < 1000 else 0}


def _is_own(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    names = [headers.get("host", ""), headers.get("origin", "").rpartition("://")[2]]
    return all(is_local_name(name) for name in names if name)


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *HEADERS.items()]}
        await send(message)

    return sender
