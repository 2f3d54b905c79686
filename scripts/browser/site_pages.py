"""A static site served from this machine, and pages of headless Chromium over it.

For the commands that measure the site. Needs playwright and Chromium (tests/requirements.txt).
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import Any

from scripts.static_site import write_site

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WAIT_MS = 180_000
RUN = "document.querySelector('.sbd-host').sbdPlayer.run"

DECODE = """(prompt) => new Promise((done) => {
  const run = () => document.querySelector('.sbd-host').sbdPlayer.run;
  const old = run().id;
  const box = document.querySelector('#sbd-prompt-box textarea');
  box.value = prompt;
  box.dispatchEvent(new Event('input', { bubbles: true }));
  const began = performance.now();
  [...document.querySelectorAll('#sbd-go button')].find((b) => b.id !== 'sbd-stop').click();
  const look = () => {
    if (run().id !== old && run().isComplete)
      done({ ms: performance.now() - began, text: run().main.text, prompt: run().prompt });
    else setTimeout(look, 20);
  };
  look();
})"""
"""Decodes a prompt as a visitor does; resolves once both lanes are complete."""


class Server(ThreadingHTTPServer):
    """Serves the folder; counts requests, those that failed, and bytes of files sent."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, folder: Path) -> None:
        """Listens on a free port of this machine."""
        super().__init__(("127.0.0.1", 0), partial(Files, directory=str(folder)))
        self.counting = threading.Lock()
        self.num_requests = self.num_failed = self.num_bytes = 0

    @property
    def address(self) -> str:
        """Of the site's page."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A visitor who leaves hangs up, which is no error; any other one is told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Files(SimpleHTTPRequestHandler):
    """As python -m http.server, which a Server counts."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Called once a request with its status."""
        with self.server.counting:
            self.server.num_requests += 1
            self.server.num_failed += int(code) >= 400

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def send_header(self, keyword: str, value: str) -> None:
        """Every file's length is told before it is sent."""
        if keyword == "Content-Length":
            with self.server.counting:
                self.server.num_bytes += int(value)
        super().send_header(keyword, value)


@contextmanager
def served(folder: Path, model: Path) -> Iterator[Server]:
    """The site of a model, written to `folder`, from a file server."""
    write_site(folder, model)
    with serving(Server(folder)) as server:
        yield server


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """A server at work in a thread of its own."""
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@contextmanager
def chromium(*flags: str) -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=which("chromium"), args=[*FLAGS, *flags]
        )
        try:
            yield browser
        finally:
            browser.close()


def open_page(browser: Any, address: str) -> Any:
    """A visitor who was here before, in a context of their own, the engine ready."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script("try { localStorage.setItem('sbd-has-come', '1'); } catch {}")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    page.get_by_text("Decode runs in your browser").wait_for()
    return page
