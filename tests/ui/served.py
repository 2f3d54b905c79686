"""A served page, and visitors who speak to it over HTTP as a browser's script does."""

import inspect
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import httpx

from tests.workers import free_port
from ui import page as page_module
from ui.decode.form import Form
from ui.middleware import proxies_of

TIMEOUT = 120.0
FULL = ("The page is full", "still in line here")
"""Words that a visitor is told who is not let into the line."""


@dataclass(frozen=True, slots=True)
class Served:
    """url: of the page. functions: Gradio's number of each run: page, compare, api, api-race, html.

    quick: of what is answered beside the line, with how many values each takes.
    """

    url: str
    functions: dict[str, int]
    api_values: dict[str, Any]  # of the endpoint `decode`, by parameter
    quick: dict[int, int]


@contextmanager
def served(
    model: Any, *, is_public: bool = False, proxies: str = "", is_local: bool = False
) -> Iterator[Served]:
    """The page over a model, on a free port of 127.0.0.1. proxies: those it trusts."""
    demo = page_module.build(model, is_public=is_public)
    options = {"server_name": "127.0.0.1", "server_port": free_port()}
    options |= page_module.launch_options(proxies_of(proxies), is_local=is_local)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, **options)
    try:
        yield described(demo, url)
    finally:
        demo.close()


def described(demo: Any, url: str) -> Served:
    """Places of a page's runs."""
    named = {(fn.name, len(fn.outputs)): fn for fn in demo.fns.values()}
    page = named["decode", 4]
    decode = next(fn for fn in demo.fns.values() if fn.api_name == "decode")
    parameters = list(inspect.signature(decode.fn).parameters.values())[1:]  # without the request
    return Served(
        url.rstrip("/"),
        {
            "page": page._id,
            "compare": named["started", 1]._id,
            "api": decode._id,
            "api-race": next(f._id for f in demo.fns.values() if f.api_name == "race"),
            "html": next(f._id for f in demo.fns.values() if f.api_name == "trace_to_html"),
        },
        {p.name: "p" if p.default is p.empty else p.default for p in parameters},
        {fn._id: len(fn.inputs) for fn in demo.fns.values() if fn.fn and not fn.queue},
    )


class Visitor:
    """One tab, or one program, with a session of its own.

    address: of the loopback network. forwarded: the X-Forwarded-For that a proxy there sends.
    """

    def __init__(self, page: Served, address: str = "127.0.0.1", forwarded: str = "") -> None:
        self.page = page
        self.session = uuid.uuid4().hex[:12]
        transport = httpx.HTTPTransport(local_address=address)
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}
        self._client = httpx.Client(transport=transport, timeout=TIMEOUT, headers=headers)

    def post(self, path: str, body: Any) -> httpx.Response:
        """A raw post."""
        return self._client.post(f"{self.page.url}/gradio_api/{path}", json=body)

    def ask(self, function: str, data: list[Any], event_data: Any = None) -> str:
        """Ask for a run; the id of the event."""
        body = {
            "data": data,
            "fn_index": self.page.functions[function],
            "session_hash": self.session,
            "event_data": event_data,
        }
        answer = self.post("queue/join", body)
        answer.raise_for_status()
        return str(answer.json()["event_id"])

    def ask_page(self, prompt: str = "p") -> str:
        """Press Decode: the visitor's runs, which Gradio keeps, and the form's fields by name."""
        return self.ask("page", [None, asdict(Form(prompt))])

    def ask_api(self, prompt: str = "p", max_new_tokens: int = 128) -> str:
        """Call the endpoint `decode`."""
        given = {"prompt": prompt, "max_new_tokens": max_new_tokens}
        return self.ask("api", list({**self.page.api_values, **given}.values()))

    def messages(self) -> Iterator[dict[str, Any]]:
        """Read all that Gradio sends, until it closes the stream."""
        url = f"{self.page.url}/gradio_api/queue/data?session_hash={self.session}"
        with self._client.stream("GET", url) as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    message = json.loads(line[5:])
                    yield message
                    if message["msg"] == "close_stream":
                        return

    def ending(self, told: Callable[[], object] = lambda: None) -> str:
        """The end of the run: done, full, or its error. told: called at news of it."""
        for message in self.messages():
            if any(words in json.dumps(message) for words in FULL):
                return "full"
            if message["msg"] == "process_generating":
                told()
            if message["msg"] == "process_completed":
                return "done" if message["success"] else str(message["output"].get("error"))
        return "closed"

    def leave(self) -> None:
        """Close the tab."""
        self._client.close()
