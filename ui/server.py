"""The page's server: Gradio's queue and API behind ui.doors, and the page's own files.

gradio.Server is a FastAPI application with Gradio's engine in it; it draws nothing. The page and
programs that use gradio_client call the same functions: decode, compare and trace_to_html. Uses
Gradio's internals; tests/ui/test_server.py fails when Gradio has changed one.
"""

import gzip
import hashlib
import mimetypes
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from inspect import Parameter, Signature, signature
from typing import Any

import gradio as gr
from gradio.server import Server
from starlette.responses import FileResponse, Response

from sbd_core.errors import SetBlockDecodingError
from sbd_core.replay import replay_html
from sbd_core.solvers import SOLVER_PARAMETERS
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.form import DEFAULTS, SETTINGS, Form, lane_forms, message_of
from ui.decode.session import Client, Session, Update
from ui.doors import SECONDS_UNREAD, Doors, Receive, Scope, Send
from ui.models import EXPORTS, Models, exported_file
from ui.page import entries_of_offers, made_files, page_files, page_html
from ui.trace_files import read_trace
from ui.values import lines_of_trace

MAX_THREADS = 2 * MAX_PLACES
"""Most threads of Gradio: everyone who waits in line occupies one, and so do unread events."""
MAX_SESSIONS = 200  # Gradio keeps a tenth of a megabyte of each, long after it is gone
# Gradio's default, a thousand looks per second, takes a twentieth of a core from the engine.
SECONDS_BETWEEN_QUEUE_LOOKS = 0.005
SECONDS_BETWEEN_READER_LOOKS = 0.01
MAX_HELD = 1_500_000
ENVIRONMENT = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    # Gradio sorts these by pandas after every event.
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": str(10**9),
    "GRADIO_MCP_SERVER": "False",
    "GRADIO_NUM_WORKERS": "0",
}
"""Settings that Gradio and its web server take from the environment alone."""
NOBODY = "Nobody reads this run; open the stream of its event right after the POST."


class Held:
    """A file in memory."""

    def __init__(self, text: str | bytes, name: str) -> None:
        """Hold the content of a file of this name."""
        self.content = text.encode() if isinstance(text, str) else text
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.kind = "text/javascript" if name.endswith((".js", ".mjs")) else kind
        is_text = self.kind.startswith("text/") or self.kind == "application/json"
        self.gzipped = gzip.compress(self.content, 6) if is_text else b""
        self.etag = f'"{hashlib.sha256(self.content).hexdigest()[:24]}"'

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
        self.page_root = root_path
        self.answers = {"/ask/models": self._entries, "/ask/trace": _lines_of_trace}
        self.doors = Doors(super().__call__, self, root_path=root_path, **doors)
        self._files = page_files()
        small = {n: file for n, file in self._files.items() if file.stat().st_size <= MAX_HELD}
        self._made: dict[str, Callable[[], str | bytes]] = {
            **{name: file.read_bytes for name, file in small.items()},
            "index.html": self._index,
            **made_files(),
        }
        self.held = cache(lambda name: Held(self._made[name](), name))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request through the doors."""
        scope.setdefault("app", self)
        await self.doors(scope, receive, send)

    def file(self, path: str, scope: Scope) -> Response | None:
        """Answer a request with the file at a path below the page; None for none."""
        name = path.removeprefix("/") or "index.html"
        if name.startswith(EXPORTS) and (found := exported_file(name)) is not None:
            headers = {"Cache-Control": "public, max-age=31536000, immutable"}
            return FileResponse(found, headers=headers)
        if name in self._made:
            return self.held(name).answer(scope)
        if name in self._files:
            return FileResponse(self._files[name], headers={"Cache-Control": "no-cache"})
        return None

    def _entries(self, sent: Any) -> Any:
        """The entries of all models; the one that a visitor has chosen begins to load."""
        wanted = sent.get("wanted") if isinstance(sent, dict) else None
        models, limits = self.session.models, self.session.limits
        with suppress(SetBlockDecodingError):
            models.named(wanted).wanted()
        return entries_of_offers(models, is_public=limits.is_public)

    def _index(self) -> str:
        """Make the page. What it says of the models may change; it asks for that anew."""
        space = os.environ.get("SPACE_ID", "")
        return page_html(
            entries_of_offers(self.session.models, is_public=self.session.limits.is_public),
            server={name: defaults_of(call) for name, call in functions(self).items()},
            code=f"https://huggingface.co/spaces/{space}/tree/main" if space else "",
            base=f"{self.page_root}/" if self.page_root else "",
        )

    def client(self, request: gr.Request) -> Client:
        """Wait until somebody reads an event, and make the Client that sent it.

        Raises SetBlockDecodingError if nobody does, as nobody waits for what would be decoded.
        """
        is_read = partial(self.doors.is_read, request.session_hash or "")
        until = time.monotonic() + SECONDS_UNREAD
        while not is_read():
            if time.monotonic() > until:
                raise SetBlockDecodingError(NOBODY)
            time.sleep(SECONDS_BETWEEN_READER_LOOKS)
        return Client(request.client.host if request.client else "", is_read)


def _lines_of_trace(sent: Any) -> dict[str, str]:
    try:
        return {"lines": lines_of_trace(sent.get("text") if isinstance(sent, dict) else None)}
    except Exception as error:  # whatever broke, the page must say so
        return {"error": message_of(error)}


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


OF_A_LANE = ("strategy", "solver", *SOLVER_PARAMETERS, "max_rows", "pinned")
KINDS = {"whole": int, "number": float, "choice": str, "pairs": list[list[int]]}
"""Types of the API by the kind of a setting."""


def settings_in_words() -> str:
    """A line on every setting of a decode that the page has."""
    lines = []
    for item in SETTINGS:
        choices = f": {', '.join(item['choices'])}" if item["choices"] else ""
        lines.append(f"{item['name']}: {item['help']}{choices}.")
    return "\n".join(lines)


def _signature(
    needed: dict[str, Any], optional: dict[str, Any], without: tuple[str, ...] = ()
) -> Signature:
    """The parameters of a function that decodes: `needed`, settings, and `optional`.

    needed: types by name. optional: defaults by name. without: settings that it does not take.
    """
    given: dict[str, Any] = {name: (kind, Parameter.empty) for name, kind in needed.items()}
    for item in SETTINGS:
        name, kind = item["name"], KINDS[item["kind"]]
        default = None if item["kind"] == "pairs" else DEFAULTS.get(name, item["default"])
        if name not in without:
            given[name] = (kind | None if default is None else kind, default)
    given |= {name: (type(default), default) for name, default in optional.items()}
    return Signature(
        [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=default)
            for name, (kind, default) in given.items()
        ],
        return_annotation=Iterator[dict[str, Any]],
    )


def _declared(
    declaration: Signature, function: Callable[[dict[str, Any]], Iterator[Any]]
) -> Callable[..., Iterator[Any]]:
    """Give a function of a dict the parameters of a signature; an argument None is left out."""

    def call(*values: Any, **named: Any) -> Iterator[Any]:
        given = declaration.bind(*values, **named)
        given.apply_defaults()
        with refusals():
            yield from function({k: v for k, v in given.arguments.items() if v is not None})

    call.__signature__ = declaration  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in declaration.parameters.values()}
    return call


@contextmanager
def refusals() -> Iterator[None]:
    """Turn every error in a `with` block into a gr.Error of one sentence, without a traceback."""
    try:
        yield
    except Exception as error:  # whatever broke, the caller is told
        raise gr.Error(message_of(error), print_exception=False) from None


TEXTS = {"model": "", "system": ""}
DECODE_SIGNATURE = _signature(
    {"request": gr.Request, "prompt": str},
    {**TEXTS, "template": "", "ask": "", "beside_ntp": False, "traces": True},
)
COMPARE_SIGNATURE = _signature(
    {"request": gr.Request, "prompt": str, "lanes": list[str]},
    {**TEXTS, "traces": True},
    without=OF_A_LANE,
)


def functions(server: PageServer) -> dict[str, Callable[..., Any]]:
    """The functions that the page and programs call, by name."""
    session = server.session

    def decode(sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        client, is_compared = server.client(sent["request"]), sent["beside_ntp"] is True
        yield from streamed(session.decode(Form.of(sent), client, is_compared=is_compared), sent)

    def compare(sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        forms = lane_forms(sent["lanes"], Form.of(sent))
        yield from streamed(session.compare(forms, server.client(sent["request"])), sent)

    def trace_to_html(request: gr.Request, trace: str, ntp_trace: str = "") -> str:
        texts = [trace, ntp_trace] if ntp_trace != "" else [trace]
        with refusals(), session.turn(server.client(request)):
            return replay_html(*(read_trace(text) for text in texts))

    return {
        "decode": _declared(DECODE_SIGNATURE, decode),
        "compare": _declared(COMPARE_SIGNATURE, compare),
        "trace_to_html": trace_to_html,
    }


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The default of every parameter but the request, "" for those that have none."""
    _, *parameters = signature(function).parameters.values()
    return {each.name: "" if each.default is each.empty else each.default for each in parameters}


def streamed(
    updates: Generator[Update, None, None], sent: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The values that decode and compare yield. sent: their arguments."""
    with closing(updates):  # an end of this generator must end the decode at once
        for update in updates:
            yield update.as_json(with_traces=sent["traces"] is True)


def build(
    models: Any,
    *,
    is_public: bool = False,
    trusted: str = "",
    is_local: bool = False,
    root_path: str = "",
) -> PageServer:
    """Build the server of a page for its models, which may still be loading.

    is_public: whether strangers use the page; they get tighter limits and see no details of this
    machine. trusted: proxies whose X-Forwarded-For uvicorn believes, as checked_proxies() of app.py
    writes them. is_local, root_path: see Doors.
    """
    os.environ.update(ENVIRONMENT, FORWARDED_ALLOW_IPS=trusted)
    session = Session(Models.of(models), is_public=is_public)
    server = PageServer(session, root_path, is_local=is_local)
    words = {
        "decode": DECODE + settings_in_words(),
        "compare": COMPARE,
        "trace_to_html": TO_HTML,
    }
    for name, function in functions(server).items():
        # ui.decode.fair_queue lets everybody wait, so Gradio's queue holds nobody back.
        server.api(
            function,
            name=name,
            description=words[name],
            concurrency_limit=None,
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
