"""ASGI middleware in front of Gradio: identifies visitors, limits requests, and guards files.

For each address, requests with a large body and requests that bypass Gradio's queue are served one
at a time, each followed by a pause as long as the request took, at most MAX_PAUSE seconds.
`ui.page.launch_options` hands the middleware to the server.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from starlette.responses import FileResponse

from sbd_core.errors import ArgumentError
from sbd_core.files import ASSETS
from ui.models import ROUTE, file_at

MAX_BODY = 6_000_000
"""Most bytes of a body: the largest trace file, and what JSON adds to it."""
TOO_LARGE = f"The request is larger than {MAX_BODY // 10**6} MB, the most that this page takes."
MAX_BODIES = 60_000_000
"""Most bytes of large bodies in memory at a time."""
MAX_BODIES_EACH = 20_000_000
"""Most bytes of one address's large bodies in memory at a time."""
SMALL_BODY = 100_000
"""Bytes up to which a body, such as that of a form, does not count as large."""
BUSY = "The page is reading too many large requests; try again in a minute."
MAX_DISCARDED = 200_000_000
"""Bytes of a too large body that are read and dropped, so that its sender reads the answer."""
SECONDS_FOR_BODY = 120.0
SPACE_PROXIES = "10.0.0.0/8"
"""Network of the proxies of a Hugging Face Space."""
IPV6_PREFIX = 64
"""Prefix length of the IPv6 network that counts as one visitor."""
FILES = "/gradio_api/file=assets/"
"""Address of the page's files, which does not tell where assets/ lies on this machine."""

NOT_LOCAL = (
    "This page answers its own machine alone, under an address or localhost. Behind a proxy start "
    "it with --trusted-proxies, for others with --public."
)
UPLOADS = "/gradio_api/upload"
NO_UPLOADS = "This page takes no uploads."
NO_FILE = "There is no such file."
DIRECT = ("/gradio_api/run/", "/gradio_api/api/")
"""Addresses of events that do not wait in the page's queue."""
MAX_WAITING = 20
"""Most unqueued events and large bodies of one address that wait at a time."""
TOO_MANY = "Too many requests of your network at once; try again in a moment."
MAX_PAUSE = 1.0
"""Longest pause in seconds after an unqueued event or a large body."""
JOIN = "/gradio_api/queue/join"
"""Address of events that wait in the queue; one costs 10 ms of CPU, even if it is refused."""
JOINS_AT_ONCE, JOINS_A_SECOND = 64, 10
"""Events that an address may send to the queue: so many at once (a class), then per second."""
MAX_JOIN_SECONDS = 2.0
"""Longest delay, in seconds, of an event for the queue; an event due later is refused."""
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""Cache headers of a model's files: new content has a new address."""
MAX_KNOWN = 1000
"""Number of remembered addresses above which idle ones are forgotten."""

Address = IPv4Address | IPv6Address
Networks = tuple[IPv4Network | IPv6Network, ...]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Refusal = tuple[int, str]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger(__name__)


def proxies_of(text: str) -> Networks:
    """Parse "10.0.0.0/8,127.0.0.1" or the like; () for "". Raises ArgumentError for other text."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    try:
        return tuple(ip_network(part, strict=False) for part in parts)
    except ValueError as error:
        rule = "must be addresses or networks with commas between, such as 127.0.0.1,10.0.0.0/8"
        raise ArgumentError("trusted_proxies", rule, text) from error


def visitor_of(peer: str, forwarded: Iterable[str], trusted: Networks) -> str:
    """Find the visitor who sent a request: an IPv4 address, or the network of an IPv6 address.

    peer: the address that connected. trusted: networks of the trusted proxies.
    forwarded: values of X-Forwarded-For, to which each proxy appends the address that it served.
    The visitor is the right-most address that is not a trusted proxy. Addresses to its left may be
    forged.
    """
    found = _address(peer)
    if found is None:
        return peer
    for hop in reversed(",".join(forwarded).split(",")):
        before = _address(hop)
        if before is None or not _is_in(found, trusted):
            break
        found = before
    if isinstance(found, IPv6Address):
        return str(ip_network((found, IPV6_PREFIX), strict=False))
    return str(found)


def _address(text: str) -> Address | None:
    """The IP address in a text such as "1.2.3.4:80" or "[::1]"; None if there is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_in(address: Address | None, networks: Networks) -> bool:
    return address is not None and any(address in network for network in networks)


@dataclass(slots=True)
class SenderState:
    """State of one address: its requests with large bodies or unqueued events are served singly.

    free_at: the time.monotonic() at which the pause after the last of these requests ends.
    num_waiting: number of these requests that are waiting or being served.
    num_bytes: bytes of this address's large bodies in memory.
    joined_until: the time.monotonic() until which the address's events so far use up its share of
        the queue, JOINS_A_SECOND events per second.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    num_waiting: int = 0
    num_bytes: int = 0
    joined_until: float = 0.0

    def join(self) -> float | None:
        """Count an event for Gradio's queue; return the seconds to delay it, None to refuse it."""
        now = time.monotonic()
        before = max(now, self.joined_until)
        seconds = before - now - JOINS_AT_ONCE / JOINS_A_SECOND
        if seconds > MAX_JOIN_SECONDS:
            return None
        self.joined_until = before + 1 / JOINS_A_SECOND
        return max(0.0, seconds)


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


class PageMiddleware:
    """The ASGI middleware around the page's app.

    trusted: networks of the proxies whose X-Forwarded-For is believed.
    is_local: whether to refuse requests whose Host or Origin does not name this machine.
    """

    def __init__(self, app: App, trusted: Networks = (), *, is_local: bool = False) -> None:
        self._app = app
        self._trusted = trusted
        self._is_local = is_local
        self._num_bytes = 0  # of all large bodies held now
        self._has_warned = False
        self._states: dict[str, SenderState] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it with a message."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_no_sniffing(send)
        if self._is_local and not _is_own(scope):
            await _refuse(send, 403, NOT_LOCAL)
            return
        scope = self._with_visitor(_without_deep_link(_with_one_range(scope)))
        if UPLOADS in scope["path"]:
            await _refuse(send, 403, NO_UPLOADS)
            return
        found, is_of_model = _with_file(scope), ROUTE in scope["path"]
        is_read = scope["method"] in ("GET", "HEAD")
        file = file_at(scope["path"]) if is_of_model and is_read else None
        if found is None or (is_of_model and (file is None or not file.is_file())):
            await _refuse(send, 404, NO_FILE)
            return
        scope = found
        if file is not None:
            await FileResponse(file, headers=FOREVER)(scope, receive, send)
            return
        if is_read:  # their bodies are not read
            await self._app(scope, receive, send)
            return
        held, sender = bytearray(), self._state_of(scope)
        try:
            try:
                reading = self._read(scope, receive, held, sender)
                refusal = await asyncio.wait_for(reading, SECONDS_FOR_BODY)
            except asyncio.TimeoutError:
                refusal = 408, "The request took too long to arrive."
            if refusal is not None:
                await _refuse(send, *refusal)
                return
            if JOIN in scope["path"]:
                seconds = sender.join()
                if seconds is None:
                    await _refuse(send, 429, TOO_MANY)
                    return
                await asyncio.sleep(seconds)
            if len(held) > SMALL_BODY or any(door in scope["path"] for door in DIRECT):
                await self._in_turn(sender, scope, _replayed(held, receive), send)
            else:
                await self._app(scope, _replayed(held, receive), send)
        finally:
            if len(held) > SMALL_BODY:
                self._num_bytes -= len(held)
                sender.num_bytes -= len(held)

    def _state_of(self, scope: Scope) -> SenderState:
        """The SenderState of the address that sent a request."""
        now = time.monotonic()
        if len(self._states) > MAX_KNOWN:
            self._states = {
                name: sender
                for name, sender in self._states.items()
                if sender.num_waiting
                or sender.num_bytes
                or max(sender.free_at, sender.joined_until) > now
            }
        return self._states.setdefault(str((scope.get("client") or ("",))[0]), SenderState())

    async def _in_turn(
        self, sender: SenderState, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a request after earlier ones of its address; refuse it if too many wait."""
        if sender.num_waiting >= MAX_WAITING:
            await _refuse(send, 429, TOO_MANY)
            return
        sender.num_waiting += 1
        try:
            async with sender.lock:
                await asyncio.sleep(max(0.0, sender.free_at - time.monotonic()))
                began = time.monotonic()
                try:
                    await self._app(scope, receive, send)
                finally:
                    ended = time.monotonic()
                    sender.free_at = ended + min(ended - began, MAX_PAUSE)
        finally:
            sender.num_waiting -= 1

    def _with_visitor(self, scope: Scope) -> Scope:
        """Replace the client in the scope by the visitor behind the trusted proxies."""
        if scope.get("client") is None:
            return scope
        peer = scope["client"][0]
        forwarded = [
            value.decode("latin1") for name, value in scope["headers"] if name == b"x-forwarded-for"
        ]
        if forwarded and not self._has_warned and not _is_in(_address(peer), self._trusted):
            self._has_warned = True
            logger.warning(
                "%s forwards requests and is no trusted proxy: all who come through it count as "
                "one visitor; see --trusted-proxies in docs/hosting.md",
                peer,
            )
        return {**scope, "client": (visitor_of(peer, forwarded, self._trusted), 0)}

    async def _read(
        self, scope: Scope, receive: Receive, held: bytearray, sender: SenderState
    ) -> Refusal | None:
        """Read a body into `held`, count its bytes in `sender`; return None, or why to refuse."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        is_too_large = not announced.isdigit() or int(announced) > MAX_BODY
        refusal = (413, TOO_LARGE) if is_too_large else None
        num_bytes, is_more = 0, True
        while is_more and num_bytes <= MAX_DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return 400, "The request was cut off."
            part = message.get("body", b"")
            is_more = message.get("more_body", False)
            num_bytes += len(part)
            if refusal is None and num_bytes > MAX_BODY:
                refusal = 413, TOO_LARGE
            before, size = len(held), len(held) + len(part)
            more = size - before * (before > SMALL_BODY) if size > SMALL_BODY else 0
            if refusal is None and sender.num_bytes + more > MAX_BODIES_EACH:
                refusal = 429, TOO_MANY
            if refusal is None and self._num_bytes + more > MAX_BODIES:
                refusal = 503, BUSY
            if refusal is None:
                held += part
                self._num_bytes += more
                sender.num_bytes += more
        return refusal


def _is_own(scope: Scope) -> bool:
    """Whether a request's Host and Origin, where given, both name this machine."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin1")
    names = [headers.get(b"host", b"").decode("latin1"), origin.rpartition("://")[2]]
    return all(is_local_name(name) for name in names if name)


def _without_deep_link(scope: Scope) -> Scope:
    """Drop Gradio's parameter deep_link from the scope; it would show the visitor an error."""
    query = scope.get("query_string", b"")
    if b"deep_link" not in query:
        return scope
    kept = [part for part in query.split(b"&") if not part.startswith(b"deep_link")]
    return {**scope, "query_string": b"&".join(kept)}


def _with_file(scope: Scope) -> Scope | None:
    """Put the full path of a requested assets/ file into the scope; return None to refuse it."""
    from gradio.utils import is_static_file  # here, as app.py reports a missing Gradio

    path: str = scope["path"]
    before, found, name = path.partition(FILES)
    if not found:
        return scope
    try:
        file = (ASSETS / name).resolve()
        if not file.is_relative_to(ASSETS.resolve()) or not is_static_file(file):
            return None
    except (OSError, ValueError):
        return None
    path = f"{before}{FILES.removesuffix('assets/')}{ASSETS.as_posix()}/{name}"
    return {**scope, "path": path}


def _with_one_range(scope: Scope) -> Scope:
    """Drop a Range header on which Gradio's route fails, such as one with several ranges."""
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name != b"range" or (value.startswith(b"bytes=") and b"," not in value)
    ]
    return {**scope, "headers": headers}


def _with_no_sniffing(send: Send) -> Send:
    """Wrap `send` so that browsers trust the content type and do not guess another."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", []), (b"x-content-type-options", b"nosniff")]
            message = {**message, "headers": headers}
        await send(message)

    return sender


def _replayed(body: bytearray, receive: Receive) -> Receive:
    """Make a `receive` that first gives the body already read, then whatever comes later."""
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return replay


async def _refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"detail": words}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
