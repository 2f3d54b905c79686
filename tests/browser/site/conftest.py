"""The static site behind a plain file server, and what a visitor does there."""

import json
import shutil
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import WebFolder, open_web
from scripts.static_site import write_site
from tests.browser.conftest import RUN, decode_button, on_watch, state, sync_api
from tests.ui.doubles import wait_for

expect = sync_api.expect
HERE = "Decode runs in your browser"
MOST_BYTES = 25_000_000
GPU_FLAGS = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
"""Chromium's flags for a GPU that is emulated."""
KEPT = """navigator.serviceWorker.ready.then(() => caches.keys()).then((names) =>
  ['page', 'runtime'].every((kind) =>
    names.filter((name) => name.startsWith(`sbd ${location.pathname} ${kind} `)).length === 1))"""
"""The page's files and the runtime are here, and none of another version."""

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


class Quiet(SimpleHTTPRequestHandler):
    """A file server that keeps its log to itself."""

    def log_message(self, *words) -> None:
        pass


class Stalling(Quiet):
    """Sends no weights until `goes_on` is set."""

    goes_on = threading.Event()

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("weights-01.bin"):
            self.goes_on.wait(60)
        super().do_GET()


class Counting(Quiet):
    """Remembers what was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path.partition("?")[0])
        super().do_GET()


class Readable(Quiet):
    """Lets pages of other origins read its files, and says nothing more of them."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


@contextmanager
def serving(folder, handler=Quiet):
    """A file server on a free port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextmanager
def visiting(browser, folder: Path, query: str = "", handler=Quiet):
    """A new page of a browser, or of its context, on the site in a folder."""
    page = browser.new_page()
    with serving(folder, handler) as server:
        page.goto(on_watch(address(server) + query))
        yield page
        page.close()  # before its server ends


@pytest.fixture
def context(browser):
    """A visitor who was never here."""
    made = browser.new_context()
    yield made
    made.close()


@pytest.fixture
def changed(site, tmp_path) -> Callable[[Callable[[Path], object]], Path]:
    """Change a copy of the site; gives its folder."""

    def change(how: Callable[[Path], object]) -> Path:
        folder = tmp_path / "site"
        shutil.copytree(site, folder)
        how(folder)
        return folder

    return change


@pytest.fixture(scope="session")
def exports(tmp_path_factory, adapter_folder):
    """nano, and a random adapter with a sampler head beside a random Llama."""
    root = tmp_path_factory.mktemp("exports")
    for name, model in (("nano", DEFAULT_CHECKPOINT), ("adapted", adapter_folder)):
        export_web(model, root / name)
    return [open_web(root / name) for name in ("nano", "adapted")]


@pytest.fixture(scope="session")
def site(tmp_path_factory, exports):
    """The folder of a site."""
    folder = tmp_path_factory.mktemp("site") / "out"
    sizes = write_site(folder, exports)
    assert sum(sizes.values()) <= MOST_BYTES
    return folder


@pytest.fixture
def server(site, request):
    """A file server over the site; shutting it down cuts the network."""
    with serving(site, getattr(request, "param", Quiet)) as found:
        yield found


@pytest.fixture
def open_page(server, open_page):
    """Pages close before their server ends: one may be fetching what it needs later."""
    return open_page


def say_it_is_large(site: Path, export: WebFolder) -> None:
    """Have a copy of the site say that the model's download has 30 MB."""
    large = dict.fromkeys(export.download, 30_000_000)
    own, other = (json.dumps(each, separators=(",", ":")) for each in (export.download, large))
    file = site / "index.html"
    text = file.read_text("utf-8")
    assert own in text
    file.write_text(text.replace(own, other), "utf-8")


def address(server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/"


def until(page, script: str) -> None:
    """Wait for a script to say True. The site lets nobody evaluate text, Playwright's waits too."""
    wait_for(lambda: page.evaluate(script))


def is_complete(page, old: str) -> None:
    """Wait until a run other than `old` is complete."""
    until(page, f"{RUN}.id !== {json.dumps(old)} && {RUN}.isComplete")


FILL = """(box, value) => {
  box.value = value;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}"""


def fill(page, name: str, value: int) -> None:
    """Fill in a number of the form, shown or not."""
    page.locator(f"#sbd-{name}-field input").evaluate(FILL, value)


def decode_here(page, prompt: str) -> dict:
    """Decode with a number of rows, as what pays here is another every time it is measured."""
    old = state(page)["run"]
    fill(page, "max-rows", 41)
    page.get_by_label("Prompt").fill(prompt)
    decode_button(page).click()
    is_complete(page, old)
    assert page.evaluate(f"{RUN}.prompt") == prompt
    return state(page)


def kept_here(page) -> None:
    """Wait until the service worker has every file."""
    expect(page.get_by_text(HERE)).to_be_visible()
    until(page, KEPT)


def before_engine(script: str) -> Callable[[Path], None]:
    """A script that runs in the engine's worker before it."""

    def put(site) -> None:
        file = site / "dist" / "engine.js"
        file.write_text(f"{script}\n{file.read_text('utf-8')}", "utf-8")

    return put
