"""The page's server: Gradio's queue and API behind ui.doors, and the page's own files.

gradio.Server is a FastAPI application with Gradio's engine in it; it draws nothing. The page and
programs that use gradio_client call the same functions: decode, compare and trace_to_html. Uses
Gradio's internals; tests/ui/test_server.py fails when Gradio has changed one.
"""

import gzip
import hashlib
import logging
import mimetypes
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache, partial, wraps
from inspect import Parameter, Signature, isgeneratorfunction, signature
from pathlib import Path
from typing import Any, NoReturn

import gradio as gr
from gradio.server import Server
from starlette.responses import FileResponse, Response

from sbd_core.config import decode_settings
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.replay import replay_html
from sbd_core.solvers import SOLVER_PARAMETERS
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.form import DEFAULTS, Form, lane_forms, message_of
from ui.decode.session import FAILED_TEXT, Client, Lane, Session, Update, timings, where
from ui.doors import SECONDS_UNREAD, Doors, Networks, Receive, Scope, Send
from ui.examples import gallery
from ui.models import EXPORTS, Models, exported_file
from ui.page import (
    CARD_PATH,
    card_html,
    entries_of_offers,
    gallery_json,
    page_files,
    page_html,
)
from ui.share.trace_files import read_trace
from ui.views.recorded import lines_of_trace

MAX_THREADS = 2 * MAX_PLACES
"""Most threads of Gradio: everyone who waits in line occupies one, and so do unread events."""
MAX_SESSIONS = 200  # Gradio keeps a tenth of a megabyte of each, long after it is gone
# Gradio's default, a thousand looks per second, takes a twentieth of a core from the engine.
SECONDS_BETWEEN_QUEUE_LOOKS = 0.005
SECONDS_BETWEEN_READER_LOOKS = 0.01
MAX_HELD = 1_500_000
"""Bytes of the largest file that is served from memory."""
ENVIRONMENT = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    # Gradio sorts these by pandas after every event.
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**9),
    "GRADIO_MCP_SERVER": "False",
    "GRADIO_NUM_WORKERS": "0",
    # Uvicorn would trust every connection from 127.0.0.1 as a proxy; ui.doors decides about them.
    "FORWARDED_ALLOW_IPS": "",
}
"""Settings that Gradio and its web server take from the environment alone."""
NOBODY = "Nobody reads this run; open the stream of its event right after the POST."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Held:
    """A file in memory."""

    content: bytes
    gzipped: bytes
    kind: str
    etag: str

    @classmethod
    def of(cls, content: bytes, name: str) -> "Held":
        """Hold the content of a file of this name."""
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        kind = "text/javascript" if name.endswith((".js", ".mjs")) else kind
        is_text = kind.startswith("text/") or kind == "application/json"
        etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
        return cls(content, gzip.compress(content, 6) if is_text else b"", kind, etag)

    def answer(self, scope: Scope) -> Response:
        """Answer with the file, or say that the browser's copy of it is the same."""
        sent = dict(scope["headers"])
        headers = {"ETag": self.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if self.etag in sent.get(b"if-none-match", b"").decode("latin1"):
            return Response(status_code=304, headers=headers)
        content = self.content
        if self.gzipped and b"gzip" in sent.get(b"accept-encoding", b""):
            content, headers["Content-Encoding"] = self.gzipped, "gzip"
        return Response(content, media_type=self.kind, headers=headers)


class PageServer(Server):
    """The server of a page. Build one with build(), and start it with serve()."""

    def __init__(self, session: Session, root_path: str = "", **doors: Any) -> None:
        super().__init__(docs_url=None, redoc_url=None, openapi_url=None)
        self.session = session
        self.models = session.models
        self.page_root = root_path
        self.doors = Doors(super().__call__, self, root_path=root_path, **doors)
        self._files = page_files()
        runs = (f"gallery/{item.name}.json" for item in gallery())
        self._made = {"index.html", CARD_PATH, *runs}
        self.answers: dict[str, Callable[[Any], Any]] = {
            "/ask/models": self._entries,
            "/ask/trace": _asked(lambda sent: {"lines": lines_of_trace(sent.get("text"))}),
        }
        self.held = cache(self._held)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request through the doors."""
        scope.setdefault("app", self)
        await self.doors(scope, receive, send)

    def file(self, path: str) -> Callable[[Scope], Response] | None:
        """Make a function that answers with the file at a path below the page; None for none."""
        name = path.removeprefix("/") or "index.html"
        if name.startswith(EXPORTS):
            found = exported_file(name)
            headers = {"Cache-Control": "public, max-age=31536000, immutable"}
            return None if found is None else _large(found, headers)
        held = self.held(name) if name in self._files or name in self._made else None
        if held is not None:
            return held.answer
        found = self._files.get(name)
        return None if found is None else _large(found, {"Cache-Control": "no-cache"})

    def _held(self, name: str) -> Held | None:
        """The file of a known name in memory; None if it is too large or there is none."""
        if name == "index.html":
            return Held.of(self._index().encode(), name)
        if name == CARD_PATH:
            return Held.of(card_html().encode(), name)
        if name in self._files:
            is_small = self._files[name].stat().st_size <= MAX_HELD
            return Held.of(self._files[name].read_bytes(), name) if is_small else None
        try:
            run = gallery_json(name.removeprefix("gallery/").removesuffix(".json"))
        except ArgumentError:
            return None
        return Held.of(run.encode(), name)

    def _entries(self, sent: Any) -> Any:
        """The entries of all models; the one that a visitor has chosen begins to load."""
        wanted = sent.get("wanted") if isinstance(sent, dict) else None
        with suppress(SetBlockDecodingError):
            self.models.wanted(wanted)
        return entries_of_offers(self.models, is_public=self.session.limits.is_public)

    def _index(self) -> str:
        """Make the page. What it says of the models may change; it asks for that anew."""
        is_public = self.session.limits.is_public
        space = os.environ.get("SPACE_ID", "")
        return page_html(
            entries_of_offers(self.models, is_public=is_public),
            {"untrained": ""},
            server={name: defaults_of(call) for name, call in functions(self).items()},
            code=f"https://huggingface.co/spaces/{space}/tree/main" if space else "",
            base=f"{self.page_root}/" if self.page_root else "",
        )

    def answer(self, path: str) -> Callable[[Any], Any] | None:
        """The function behind POST `path`, from JSON to JSON; None for none."""
        return self.answers.get(path)

    def event(self, name: object) -> tuple[int, int] | None:
        """Number and count of values of the event with a name or number; None for none."""
        for number, function in self.get_blocks().fns.items():
            if name == (number if type(name) is int else function.api_name):
                return number, len(function.inputs)
        return None

    def is_event(self, session: str) -> bool:
        """Whether a session, or an event called by name, has messages to read."""
        return session in self.get_blocks()._queue.pending_messages_per_session

    async def drop(self, session: str) -> None:
        """Drop an event whose stream nobody has opened, and its messages."""
        queue = self.get_blocks()._queue
        await queue.clean_events(session_hash=session)
        queue.pending_messages_per_session.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)

    def forget(self) -> None:
        """Forget the values that Gradio keeps of events that were sent."""
        for state in list(self.state_holder.session_data.values()):
            state.config_values.clear()

    def client(self, request: gr.Request) -> Client:
        """Wait until somebody reads an event, and make the Client that sent it.

        Raises gr.Error if nobody does, as nobody then waits for what would be decoded.
        """
        session = request.session_hash or ""
        until = time.monotonic() + SECONDS_UNREAD
        while not self.doors.readers.is_read(session):
            if time.monotonic() > until:
                refuse(NOBODY)
            time.sleep(SECONDS_BETWEEN_READER_LOOKS)
        is_listening = partial(self.doors.readers.is_read, session)
        return Client(request.client.host if request.client else "", is_listening)


def _large(file: Path, headers: dict[str, str]) -> Callable[[Scope], Response]:
    return lambda scope: FileResponse(file, headers=headers)


def _asked(act: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    """Wrap `act`, so that it is given a dict and answers {"error": words} if it refuses it."""

    def answer(sent: Any) -> dict[str, Any]:
        try:
            return act(sent if isinstance(sent, dict) else {})
        except SetBlockDecodingError as error:
            return {"error": message_of(error)}
        except Exception as error:  # whatever broke, the page must say so
            logger.error("an answer failed:\n%s", where(error))
            return {"error": FAILED_TEXT}

    return answer


DECODE = """Decode a prompt and stream the answer so far every few forward passes.
prompt: what to answer. template: an answer with blanks, ___ a token to fill in, ___3 three.
model: the name of one that the page offers; empty is the one it opens with.
system: message to the model before the prompt. ask: id that the first line of the run repeats.
beside_ntp: whether to decode by next-token prediction, too. traces: whether the end has traces.
Yields {text, lines, message, num_ahead, is_running, results}. text: the answer so far. lines: JSON
lines of the run that are new. num_ahead: runs of others that are before this one. results: [] but
at the end; then for each lane {lane, text, finish, num_tokens, num_forwards, tokens_per_forward,
seconds, trace}; trace is JSON text.
The settings of a decode follow. null takes the model's own, and 0 as max_rows what is usual on the
server.
"""
COMPARE = """Decode one prompt in several ways, a forward pass of each in turn.
prompt: what to answer.
lanes: of ntp, verify, verify:ROWS, sbd, and names in sbd_core.solvers.SOLVERS, with a value of
the first setting or without, as in ["ntp", "sbd:0.1", "top-k:4", "verify"].
block_size, max_new_tokens, seed, repetition_penalty, model, system, traces: see decode.
Yields what decode yields; text is that of the first lane. seconds are the engine's own, without
drawing and network."""
TO_HTML = """One HTML page that replays a trace with no server and no network.
trace: JSON text, as Trace.to_json() or the end of decode gives it. ntp_trace: the same prompt by
next-token prediction, shown beside it; may be empty."""
TIME = """Decode a prompt and time it, in turns with next-token prediction; for the page."""


def settings_in_words() -> str:
    """A line on every setting of a decode that the page has."""
    items = [item for item in decode_settings() if item["link"]]
    choices = {item["name"]: f": {', '.join(item['choices'])}" for item in items if item["choices"]}
    return "\n".join(f"{e['name']}: {e['help']}{choices.get(e['name'], '')}." for e in items)


KINDS = {"whole": int, "number": float, "choice": str, "pairs": list[list[int]]}
"""Types of the API by the kind of a setting."""


def _signature(needed: dict[str, Any], *more: str, without: tuple[str, ...] = ()) -> Signature:
    """The parameters of a function that decodes: `needed`, settings that the page has, its own.

    more: names of texts of the function alone. without: settings of all but this function.
    """
    first = {"request": gr.Request, "prompt": str, **needed}
    settings = [
        (item["name"], KINDS[item["kind"]], _default(item))
        for item in decode_settings()
        if item["link"] and item["name"] not in without
    ]
    texts = [(name, str, "") for name in ("model", "system", *more)]
    flags = [("beside_ntp", bool, False)] * bool(more) + [("traces", bool, True)]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Signature(
        [Parameter(name, kind, annotation=type) for name, type in first.items()]
        + [
            Parameter(
                name, kind, annotation=type | None if default is None else type, default=default
            )
            for name, type, default in (*settings, *texts, *flags)
        ],
        return_annotation=Iterator[dict[str, Any]],
    )


def _default(item: dict[str, Any]) -> Any:
    return None if item["kind"] == "pairs" else DEFAULTS.get(item["name"], item["default"])


def _of(signature: Signature) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function of a dict the parameters of a signature; an argument None is left out."""

    def declared(function: Callable[[dict[str, Any]], Iterator[Any]]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Iterator[Any]:
            given = signature.bind(*values, **named)
            given.apply_defaults()
            yield from function({k: v for k, v in given.arguments.items() if v is not None})

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {
            each.name: each.annotation for each in signature.parameters.values()
        }
        return call

    return declared


DECODE_SIGNATURE = _signature({}, "template", "ask")
OF_A_LANE = ("strategy", "solver", *SOLVER_PARAMETERS, "max_rows", "pinned")
COMPARE_SIGNATURE = _signature({"lanes": list[str]}, without=OF_A_LANE)


def functions(server: PageServer) -> dict[str, Callable[..., Any]]:
    """The functions that the page and programs call, by name."""
    session = server.session

    @_of(DECODE_SIGNATURE)
    def decode(sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        client, is_compared = server.client(sent["request"]), sent["beside_ntp"] is True
        updates = session.decode(Form.of(sent), client, is_compared=is_compared)
        yield from streamed(session, updates, with_traces=sent["traces"] is True)

    @_of(COMPARE_SIGNATURE)
    def compare(sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        forms = lane_forms(sent["lanes"], Form.of(sent))
        updates = session.compare(forms, server.client(sent["request"]))
        yield from streamed(session, updates, with_traces=sent["traces"] is True)

    def time_decode(request: gr.Request, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from timings(session, Form.of(settings), server.client(request))

    def trace_to_html(request: gr.Request, trace: str, ntp_trace: str = "") -> str:
        texts = [trace, ntp_trace] if ntp_trace != "" else [trace]
        with session.turn(server.client(request)):
            return replay_html(*(read_trace(text) for text in texts))

    return {
        "decode": decode,
        "compare": compare,
        "time_decode": time_decode,
        "trace_to_html": trace_to_html,
    }


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The default of every parameter but the request, "" for those that have none."""
    _, *parameters = signature(function).parameters.values()
    return {each.name: "" if each.default is each.empty else each.default for each in parameters}


def streamed(
    session: Session, updates: Generator[Update, None, None], *, with_traces: bool
) -> Iterator[dict[str, Any]]:
    """The values that decode and compare yield. Raises SetBlockDecodingError for an error."""
    with closing(updates):  # an end of this generator must end the decode at once
        for update in updates:
            if update.is_error:
                raise SetBlockDecodingError(update.message)
            main = update.lanes[0] if update.lanes else None
            is_over = main is not None and not update.is_running
            yield {
                "text": main.model.decode(main.token_ids) if main else "",
                "lines": update.lines,
                "message": update.message,
                "num_ahead": update.num_ahead,
                "is_running": update.is_running,
                "results": [
                    result(session, lane, with_trace=with_traces)
                    for lane in update.lanes
                    if is_over
                ],
            }


def result(session: Session, lane: Lane, *, with_trace: bool) -> dict[str, Any]:
    """The result of a lane, for programs."""
    trace = session.trace(lane)
    names = ("text", "finish", "num_tokens", "num_forwards", "tokens_per_forward", "seconds")
    facts = {name: getattr(trace, name) for name in names}
    return {"lane": lane.name, **facts, "trace": trace.to_json() if with_trace else ""}


def refuse(message: str) -> NoReturn:
    """Raise gr.Error with a message for the caller, without a traceback in the log."""
    raise gr.Error(message, print_exception=False)


def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of the API so that every error in it becomes a gr.Error of one sentence."""

    def refusal_of(error: Exception) -> gr.Error:
        if isinstance(error, gr.Error):
            return error
        if isinstance(error, SetBlockDecodingError):
            return gr.Error(message_of(error), print_exception=False)
        logger.error("a function of the API failed:\n%s", where(error))
        return gr.Error(FAILED_TEXT, print_exception=False)

    @wraps(function)
    def stream(*values: Any, **named: Any) -> Iterator[Any]:
        try:
            yield from function(*values, **named)
        except Exception as error:
            raise refusal_of(error) from None

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        try:
            return function(*values, **named)
        except Exception as error:
            raise refusal_of(error) from None

    return stream if isgeneratorfunction(function) else call


def build(
    models: Any,
    *,
    is_public: bool = False,
    trusted: Networks = (),
    is_local: bool = False,
    root_path: str = "",
) -> PageServer:
    """Build the server of a page for its models, which may still be loading.

    is_public: whether strangers use the page; they get tighter limits and see no details of this
    machine. trusted, is_local, root_path: see Doors.
    """
    os.environ.update(ENVIRONMENT)
    session = Session(Models.of(models), is_public=is_public)
    server = PageServer(session, root_path, trusted=trusted, is_local=is_local)
    words = {
        "decode": DECODE + settings_in_words(),
        "compare": COMPARE,
        "trace_to_html": TO_HTML,
        "time_decode": TIME,
    }
    for name, function in functions(server).items():
        # ui.decode.fair_queue lets everybody wait, so Gradio's queue holds nobody back.
        server.api(
            refusing(function),
            name=name,
            description=words[name],
            concurrency_limit=None,
            api_visibility="undocumented" if name == "time_decode" else "public",
        )
    return server


def serve(server: PageServer, host: str, port: int) -> str:
    """Start a server in a thread; return the address of its page. stop() ends it."""
    server.held("index.html")  # made now, as it takes a while
    _, url, _ = server.launch(
        server_name=host,
        server_port=port,
        root_path=server.page_root or None,
        prevent_thread_lock=True,
        quiet=True,
        share=False,
        inline=False,
        ssr_mode=False,
        enable_monitoring=False,
        run_history=False,
        pwa=False,
        max_threads=MAX_THREADS,
        max_file_size=1,
        state_session_capacity=MAX_SESSIONS,
        footer_links=[],
        _frontend=False,
    )
    server.get_blocks()._queue.sleep_when_free = SECONDS_BETWEEN_QUEUE_LOOKS
    return url


def stop(server: PageServer) -> None:
    """Stop a server that serve() started."""
    server.get_blocks().close(verbose=False)
