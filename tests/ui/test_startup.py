"""The page opens quickly: no torch before it, bad flags told at once."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import httpx
import pytest

import app
import sbd_core
from app import check_address, checked_port, checked_root_path, load_while_serving
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from tests.ui.doubles import story_model
from tests.workers import free_port
from ui.models import Models, model_of
from ui.page import describe

ROOT = Path(__file__).parents[2]
OPEN_THE_PAGE = """
import sys
from ui.models import Models, model_of
lazy = model_of(None, "auto")
from ui import server
page = server.build(lazy)
page.held("index.html")
print(lazy.is_done, sorted({"torch", "transformers", "plotly"} & sys.modules.keys()))
"""


def run_python(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=200, env=env
    )


def test_the_page_is_built_before_torch_is_imported_and_the_model_loaded():
    done = run_python("-c", OPEN_THE_PAGE)
    assert (done.stdout.strip(), done.returncode) == ("False []", 0), done.stderr


@pytest.mark.parametrize(
    ("raised", "sentence"),
    [
        (ModelError(f"m: {str(DEFAULT_CHECKPOINT)!r} is broken"), "m: 'sbd-nano' is broken"),
        (AttributeError("deep inside"), r"failed inside the program \(AttributeError\)"),
    ],
)
def test_whatever_loading_raises_is_one_sentence_for_visitors(
    raised, sentence, monkeypatch, caplog
):
    monkeypatch.setattr("app.SECONDS_TO_OPEN", 0.0)
    lazy = model_of(None, "cpu")
    assert not lazy.is_done
    with mock.patch.object(sbd_core, "load", side_effect=raised, create=True):
        assert load_while_serving(Models.of(lazy)) is raised
    with pytest.raises(ModelError, match=sentence) as told:
        lazy.result()
    assert str(DEFAULT_CHECKPOINT) not in str(told.value)
    assert ("deep inside" in caplog.text) == isinstance(raised, AttributeError)


def test_a_model_that_is_loaded_has_made_its_first_forward_passes_untimed(monkeypatch):
    model = story_model()
    monkeypatch.setattr(sbd_core, "load", lambda *_, **__: model)
    model_of(None, "cpu").load()
    assert len(model.calls) == 2


@contextmanager
def started(*words: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The program, its errors in a pipe, with the address of its page; it is killed at the end."""
    port = str(free_port())
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    words = (sys.executable, "app.py", "--port", port, *words)
    with subprocess.Popen(words, cwd=ROOT, text=True, **pipes) as program:
        try:
            yield f"http://127.0.0.1:{port}", program
        finally:
            program.kill()


def test_a_page_without_its_model_says_why_until_it_is_stopped(broken_model):
    with started("--model", str(broken_model)) as (url, program):
        answer = decoded(url, program)
        assert "'model' cannot be read: SafetensorError" in answer
        assert str(broken_model) not in answer
        said = ""
        while not said.endswith("stop it with Ctrl-C.\n"):
            said += program.stderr.readline()
            assert program.poll() is None
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=60) == 2
    assert said.startswith(f"app.py: model: '{broken_model}"[:40])


def test_a_decode_in_the_first_seconds_is_done_and_ends_no_program():
    with started("--device", "cpu") as (url, program):
        assert '\\"type\\":\\"end\\"' in decoded(url, program)
        assert program.poll() is None
        program.kill()
        assert "Traceback" not in program.stderr.read()


@pytest.mark.parametrize("port", [-1, 0, 65_536, 70_000, "abc", "", "80 ", "１", "9" * 400, 7860.5])
def test_a_port_that_is_none_is_refused_by_name(port):
    with pytest.raises(ArgumentError, match="port: must be a whole number from 1 to 65535"):
        checked_port(port)


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("no such host", "must be a name or an address"),
        ("\udc80", "must be a name or an address"),
        ("x" * 300, "must be a name or an address"),
        ("192.0.2.1", "must be an address of this machine"),
    ],
)
def test_a_host_that_cannot_be_listened_on_is_refused_by_name(host, rule):
    with pytest.raises(ArgumentError, match=f"host: {rule}"):
        check_address(host, 7860)


def test_a_port_in_use_is_said_to_be_so():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"port: is in use; choose another; got {port}"):
            check_address("127.0.0.1", port)
    check_address("127.0.0.1", port)


def test_the_program_refuses_an_address_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["app.py"])
    monkeypatch.setenv("GRADIO_SERVER_PORT", "abc")
    assert app.main() == 2
    said = capsys.readouterr().err
    assert said.startswith("app.py: port: must be a whole number from 1 to 65535")
    assert said.count("\n") == 1


def decoded(url: str, program: "subprocess.Popen[str]") -> str:
    """Ask for a decode as the page's script does, as soon as there is a page; all that is said."""
    until = time.monotonic() + 120
    while (text := page_text(url)) is None:
        assert time.monotonic() < until
        assert program.poll() is None
        time.sleep(0.02)
    values = json.loads(re.search(r'id="sbd-values">(.*?)</script>', text, re.DOTALL)[1])
    named = {**values["server"]["decode"], "prompt": "x", "strategy": "ntp"}
    call = f"{url}/gradio_api/call/decode"
    answer = httpx.post(call, json={"data": list(named.values())}, timeout=120)
    return httpx.get(f"{call}/{answer.json()['event_id']}", timeout=120).text


def page_text(url: str) -> str | None:
    """The page, as soon as there is one."""
    try:
        return httpx.get(url, timeout=120).text
    except httpx.TransportError:
        return None


@pytest.mark.parametrize(
    ("path", "found"),
    [("", ""), ("/", ""), ("/sbd", "/sbd"), ("/a/b/", "/a/b"), ("https://x.example/sbd/", "/sbd")],
)
def test_a_root_path_is_a_path_or_the_one_of_an_address(path, found):
    assert checked_root_path(path) == found


@pytest.mark.parametrize("path", ["/a b", '/"><script>', "/a//b", "sbd"])
def test_a_root_path_that_is_none_is_refused_by_name(path):
    with pytest.raises(ArgumentError, match="root_path: must be a path such as /sbd"):
        checked_root_path(path)


@pytest.fixture
def broken_model(tmp_path) -> Path:
    folder = shutil.copytree(DEFAULT_CHECKPOINT, tmp_path / "model")
    (folder / "model.safetensors").write_text("not weights")
    return folder


def test_a_page_without_room_for_its_output_ends_in_one_line():
    line = f"exec {sys.executable} app.py --port {free_port()} > /dev/full"
    done = subprocess.run(
        ["/bin/bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_the_title_says_what_makes_the_forward_passes(dtype) -> None:
    said = describe(sbd_core.load(device="cpu", dtype=dtype))
    used = "float32" if dtype == "auto" else dtype
    assert said.endswith(f" · cpu · ONNX Runtime, {used} · verify is exact: probed")
