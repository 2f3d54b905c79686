"""A served page, and visitors who speak to it over HTTP as a browser's script does."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from app import checked_proxies
from tests.workers import free_port
from ui import server

TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Served:
    """url: of the page, without a slash at its end."""

    url: str
    server: server.PageServer


@contextmanager
def served(
    model: Any,
    *,
    is_public: bool = False,
    proxies: str = "",
    is_local: bool = False,
    root_path: str = "",
) -> Iterator[Served]:
    """The page over a model, on a free port of 127.0.0.1. proxies: those it trusts."""
    page = server.build(
        model,
        is_public=is_public,
        trusted=checked_proxies(proxies),
        is_local=is_local,
        root_path=root_path,
    )
    port = free_port()
    server.serve(page, "127.0.0.1", port)
    try:
        yield Served(f"http://127.0.0.1:{port}", page)
    finally:
        server.stop(page)


def data_of(page: Served, name: str, values: dict[str, Any]) -> list[Any]:
    """The data of an event: `values` by parameter, defaults for all others."""
    defaults = server.defaults_of(server.functions(page.server)[name])
    return list({**defaults, **values}.values())


class Visitor:
    """One tab, or one program.

    address: of the loopback network. forwarded: the X-Forwarded-For that a proxy there sends.
    """

    def __init__(self, page: Served, address: str = "127.0.0.1", forwarded: str = "") -> None:
        self.page = page
        transport = httpx.HTTPTransport(local_address=address)
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}
        self._client = httpx.Client(transport=transport, timeout=TIMEOUT, headers=headers)

    def get(self, path: str, **named: Any) -> httpx.Response:
        """A request for a path."""
        return self._client.get(self.page.url + path, **named)

    def post(self, path: str, body: Any) -> httpx.Response:
        """A raw post to a door of Gradio."""
        return self._client.post(f"{self.page.url}/gradio_api/{path}", json=body)

    def ask(self, name: str = "decode", **values: Any) -> str:
        """Ask for a run; the id of the event."""
        data = data_of(self.page, name, {"prompt": "p", **values})
        answer = self.post(f"call/{name}", {"data": data})
        answer.raise_for_status()
        return str(answer.json()["event_id"])

    def events(self, event_id: str, name: str = "decode") -> Iterator[tuple[str, Any]]:
        """Read the events of a run, until the server closes the stream: (name, data)."""
        address = f"{self.page.url}/gradio_api/call/{name}/{event_id}"
        kind = ""
        with self._client.stream("GET", address) as stream:
            stream.raise_for_status()
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    yield kind, json.loads(line[6:])

    def updates(self, name: str = "decode", **values: Any) -> list[dict[str, Any]]:
        """Ask for a run, and read all that it yields. Raises AssertionError for its error."""
        found = []
        for kind, data in self.events(self.ask(name, **values), name):
            assert kind != "error", data["error"]
            if kind == "generating":
                found.append(data[0])
        return found

    def ending(self, **values: Any) -> str:
        """The text of the first lane of a run, or its error."""
        try:
            return str(self.updates(**values)[-1]["text"])
        except AssertionError as error:
            return str(error)

    def join(self, name: str, session: str = "", **values: Any) -> httpx.Response:
        """Let an event join a session of Gradio, as gradio_client does."""
        number, _ = self.page.server.doors.event(name) or (0, 0)
        data = data_of(self.page, name, {"prompt": "p", **values})
        session = session or uuid.uuid4().hex[:12]
        body = {"data": data, "fn_index": number, "session_hash": session}
        return self.post("queue/join", body)

    def leave(self) -> None:
        """Close the tab."""
        self._client.close()
