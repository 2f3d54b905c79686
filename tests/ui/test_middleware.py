"""Checks of a request before Gradio: whose it is, how large it may be, which file it names."""

import asyncio
import gc
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from sbd_core.errors import ArgumentError
from sbd_core.files import ASSETS
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import WebFolder, open_web
from tests.ui.doubles import story_model
from tests.ui.served import Visitor, served
from ui import middleware, models
from ui.middleware import MAX_BODY, SMALL_BODY, PageMiddleware, proxies_of, visitor_of

PROXY = "10.1.2.3"
TRUSTED = proxies_of("10.0.0.0/8, 127.0.0.1")


@pytest.fixture(scope="module")
def page():
    with served(story_model()) as found:
        yield found


@pytest.fixture(scope="module")
def local_page():
    with served(story_model(), is_local=True) as found:
        yield found


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("8.8.8.8", ["1.1.1.1"], "8.8.8.8"),  # who is no proxy says nothing of addresses
        (PROXY, [], PROXY),
        (PROXY, ["1.1.1.1"], "1.1.1.1"),
        (PROXY, ["6.6.6.6, 1.1.1.1"], "1.1.1.1"),  # what is left of it may be forged
        (PROXY, ["6.6.6.6", "1.1.1.1, 127.0.0.1"], "1.1.1.1"),
        (PROXY, ["10.9.9.9, 10.8.8.8"], "10.9.9.9"),
        (PROXY, ["6.6.6.6, junk"], PROXY),
        (PROXY, ["1.1.1.1:4711"], "1.1.1.1"),
        (PROXY, ["[2001:db8::1]:4711"], "2001:db8::/64"),
        (PROXY, ["2001:db8::ffff"], "2001:db8::/64"),
        ("2001:db8:0:1::7", [], "2001:db8:0:1::/64"),
        ("::ffff:10.1.2.3", ["1.1.1.1"], "1.1.1.1"),
        ("unix", ["1.1.1.1"], "unix"),
    ],
)
def test_the_right_most_hop_that_is_no_trusted_proxy_is_the_visitor(peer, forwarded, visitor):
    assert visitor_of(peer, forwarded, TRUSTED) == visitor


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.0/99", "10.0.0.0/8;127.0.0.1"])
def test_proxies_that_are_no_networks_are_refused_by_name(text):
    with pytest.raises(ArgumentError, match="trusted_proxies: must be addresses or networks"):
        proxies_of(text)
    assert proxies_of(" ") == ()


def run(coroutine):
    """Runs it in a thread of its own: the browser tests leave a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def test_who_forwards_without_being_trusted_is_said_to_the_log_once(caplog):
    async def app(scope, receive, send):
        pass

    around = PageMiddleware(app, proxies_of(PROXY))
    headers = [(b"x-forwarded-for", b"1.1.1.1")]
    for peer in (PROXY, "10.7.7.7", "10.7.7.7"):
        scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
        with caplog.at_level(logging.WARNING):
            run(around({**scope, "client": (peer, 1)}, None, None))
    assert [record.args for record in caplog.records] == [("10.7.7.7",)]


def chunks(size: int):
    """A body whose size no header tells."""
    for _ in range(size // 10**6):
        yield b"x" * 10**6


@pytest.mark.parametrize("body", [lambda: b"x" * (MAX_BODY + 1), lambda: chunks(40 * 10**6)])
@pytest.mark.parametrize("door", ["queue/join", "run/predict"])
def test_a_body_too_large_is_refused_in_words_before_it_is_parsed(page, body, door):
    kind = {"content-type": "application/json"}
    url = f"{page.url}/gradio_api/{door}"
    answer = httpx.post(url, content=body(), headers=kind, timeout=60)
    assert answer.status_code == 413
    assert answer.json() == {"detail": middleware.TOO_LARGE}
    assert "6 MB" in middleware.TOO_LARGE


def test_a_body_as_large_as_is_allowed_is_read(page):
    text = "x" * (MAX_BODY - 1000)
    visitor = Visitor(page)
    answer = visitor.post("queue/join", {"data": [text], "fn_index": 10**6, "session_hash": "s"})
    visitor.leave()
    assert answer.status_code not in (413, 503)


def test_large_bodies_together_take_bounded_memory_and_give_it_back(monkeypatch):
    monkeypatch.setattr(middleware, "MAX_BODIES", 2 * MAX_BODY)
    told, inside, go_on = [], threading.Semaphore(0), threading.Event()

    async def app(scope, receive, send):
        assert len((await receive())["body"]) == MAX_BODY
        inside.release()
        await asyncio.to_thread(go_on.wait)

    around = PageMiddleware(app)

    def post(number=0):
        messages = [{"type": "http.request", "body": b"x" * MAX_BODY, "more_body": False}]

        async def receive():
            return messages.pop()

        async def send(message):
            told.append(message)

        scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
        run(around({**scope, "client": (f"10.0.0.{number}", 1)}, receive, send))

    with ThreadPoolExecutor(3) as threads:
        held = [threads.submit(post, number) for number in range(2)]
        for _ in held:
            assert inside.acquire(timeout=20)
        try:
            post()
        finally:
            go_on.set()
        for one in held:
            one.result(20)
    assert told[0]["status"] == 503
    assert json.loads(told[1]["body"])["detail"] == middleware.BUSY
    gc.collect()
    inside.release()
    post()
    assert len(told) == 2, "the room of the first two was not given back"


def test_bodies_of_one_address_that_do_not_arrive_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(middleware, "SECONDS_FOR_BODY", 0.5)
    statuses = []

    async def app(scope, receive, send):
        await receive()
        await answered(send)

    async def post(around, address, size, *, has_end=True):
        async def receive():
            if told:
                await asyncio.sleep(60)
            told.append(1)
            return {"type": "http.request", "body": b"x" * size, "more_body": not has_end}

        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        told: list[int] = []
        scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
        await around({**scope, "client": (address, 0)}, receive, send)

    async def all_of_them():
        around = PageMiddleware(app)
        held = [post(around, "1.2.3.4", MAX_BODY, has_end=False) for _ in range(10)]
        waiting = [asyncio.create_task(each) for each in held]
        await asyncio.sleep(0.1)
        assert statuses == []
        await post(around, "1.2.3.4", SMALL_BODY)
        await post(around, "5.6.7.8", MAX_BODY)
        assert statuses == [200, 200]
        await post(around, "1.2.3.4", MAX_BODY)
        assert statuses.pop() == 429
        await asyncio.gather(*waiting)
        await post(around, "1.2.3.4", MAX_BODY)

    run(all_of_them())
    assert statuses == [200, 200, *[408] * 10, 200]


def test_the_page_does_not_say_where_it_is_installed_and_its_files_are_served(page):
    everything = httpx.get(page.url).text + httpx.get(f"{page.url}/config").text
    assert str(ASSETS.parent) not in everything
    assert "file=assets/dist/page.js" in everything
    script = httpx.get(f"{page.url}/gradio_api/file=assets/dist/page.js?v=1")
    assert script.content == (ASSETS / "dist" / "page.js").read_bytes()


NO_FILES = ["nope", "%00", "results", "../README.md", "/etc/passwd", "results/bench.json"]
NO_FILES += ["../app.py", "dist/../../app.py", "%2e%2e/app.py"]


@pytest.mark.parametrize("path", NO_FILES)
def test_no_other_file_is_served_by_that_name(page, path):
    answer = httpx.get(f"{page.url}/gradio_api/file=assets/{path}")
    assert answer.status_code in (403, 404)
    assert str(ASSETS.parent) not in answer.text


@pytest.fixture
def export(tmp_path) -> WebFolder:
    return open_web(Path(export_web(None, tmp_path / "export").folder))


def test_the_files_of_an_export_are_served_for_good_and_in_ranges(page, export, monkeypatch):
    monkeypatch.setattr(models, "_served", {})
    assert httpx.get(f"{page.url}/web-model/{export.digest}/manifest.json").status_code == 404
    url = f"{page.url}/{models.serve_export(export)}"
    assert url.endswith(f"/web-model/{export.digest}/")
    for name in export.names:
        answer = httpx.get(url + name)
        assert answer.content == (export.folder / name).read_bytes()
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert "cross-origin-embedder-policy" not in answer.headers
    part = httpx.get(f"{url}weights-01.bin", headers={"Range": "bytes=10-19"})
    assert (part.status_code, len(part.content)) == (206, 10)
    head = httpx.head(f"{url}weights-01.bin")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str((export.folder / "weights-01.bin").stat().st_size)


def test_nothing_else_is_served_as_a_file_of_an_export(page, export):
    url = f"{page.url}/{models.serve_export(export)}"
    (export.folder / "secret.txt").write_text("secret")
    (export.folder / "weights-00.bin").unlink()
    names = (
        "secret.txt",
        "",
        "weights-00.bin",
        "../export/config.json",
        "%2e%2e/export/config.json",
    )
    unknown = f"{page.url}/web-model/{'0' * 64}/config.json"
    for place in (*(url + name for name in names), unknown):
        assert httpx.get(place).status_code == 404
    assert httpx.post(f"{url}config.json").status_code == 404


def asked(app, paths, address="1.2.3.4", size=0):
    """Statuses of posts of so many bytes that come at once from one address."""
    around, statuses = PageMiddleware(app), []

    async def one(path):
        async def receive():
            return {"type": "http.request", "body": b"x" * size, "more_body": False}

        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {"type": "http", "method": "POST", "path": path, "headers": []}
        await around({**scope, "client": (address, 0)}, receive, send)

    async def all_at_once():
        await asyncio.gather(*(one(path) for path in paths))

    run(all_at_once())
    return statuses


async def answered(send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(("door", "size"), [("run/predict", 0), ("queue/join", SMALL_BODY + 1)])
def test_direct_events_and_large_bodies_come_one_by_one_with_pauses_and_no_more_than_20(door, size):
    running, together, times = 0, [], []

    async def app(scope, receive, send):
        nonlocal running
        running += 1
        together.append(running)
        times.append(time.monotonic())
        await asyncio.sleep(0.02)
        running -= 1
        await answered(send)

    statuses = asked(app, [f"/gradio_api/{door}"] * 30, size=size)
    assert sorted(statuses) == [200] * 20 + [429] * 10
    assert set(together) == {1}
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.039, "an event is followed by a pause as long as itself"


def test_what_waits_in_the_queue_waits_for_no_turn():
    async def app(scope, receive, send):
        together.append(1)
        await asyncio.sleep(0)
        await barrier()
        await answered(send)

    async def barrier():
        while len(together) < 5:
            await asyncio.sleep(0.001)

    together: list[int] = []
    assert asked(app, ["/gradio_api/queue/join"] * 5, size=SMALL_BODY) == [200] * 5


def test_events_in_the_queue_of_one_address_begin_at_most_so_many_a_second(monkeypatch):
    """One costs 10 ms of CPU, though it be refused: 20 connections of them slowed every decode."""
    monkeypatch.setattr(middleware, "JOINS_AT_ONCE", 4)
    monkeypatch.setattr(middleware, "MAX_JOIN_SECONDS", 0.45)

    async def app(scope, receive, send):
        times.append(time.monotonic())
        await answered(send)

    times: list[float] = []
    began = time.monotonic()
    assert sorted(asked(app, ["/gradio_api/queue/join"] * 30)) == [200] * 9 + [429] * 21
    waits = [when - began for when in times]
    assert max(waits[:5]) < 0.1, "those that a class has are not held up"
    assert all(later - before > 0.08 for before, later in pairwise(waits[4:]))


def test_a_crowd_at_one_address_takes_no_state_of_another(monkeypatch):
    monkeypatch.setattr(middleware, "JOINS_AT_ONCE", 1)

    async def app(scope, receive, send):
        await answered(send)

    around = PageMiddleware(app)
    first, other = around._state_of({"client": ("1.1.1.1", 0)}), around._state_of({})
    while first.join() is not None:
        pass
    assert other.join() == 0.0


def test_several_ranges_give_the_whole_file_and_no_kind_is_guessed(page):
    url, ranges = f"{page.url}/gradio_api/file=assets/dist/page.js", "bytes=0-0,1-1"
    answer = httpx.get(url, headers={"range": ranges})
    assert answer.status_code == 200
    assert answer.content == (ASSETS / "dist" / "page.js").read_bytes()
    assert answer.headers["x-content-type-options"] == "nosniff"
    one = httpx.get(url, headers={"range": "bytes=0-9"})
    assert (one.status_code, len(one.content)) == (206, 10)


@pytest.mark.parametrize(
    ("host", "origin", "is_own"),
    [
        ("localhost:7860", "http://localhost:7860", True),
        ("127.0.0.1:7860", None, True),
        ("[::1]:7860", "http://[::1]:7860", True),
        ("0.0.0.0:7860", None, True),  # no name: nobody can make it lead here
        ("demo.localhost", "http://demo.localhost", True),
        ("evil.example:7860", None, False),
        ("evil.example:7860", "http://evil.example:7860", False),
        ("127.0.0.1.evil.example", None, False),
        ("localhost.evil.example:7860", None, False),
        ("127.0.0.1:7860", "https://evil.example", False),
        ("127.0.0.1:7860", "null", False),
    ],
)
def test_a_local_page_answers_no_name_and_no_page_of_others(local_page, host, origin, is_own):
    headers = {"host": host} | ({"origin": origin} if origin else {})
    for method, path in (("GET", "/config"), ("POST", "/gradio_api/queue/join")):
        answer = httpx.request(method, local_page.url + path, headers=headers)
        assert (answer.status_code == 403) is not is_own
        if not is_own:
            assert answer.json() == {"detail": middleware.NOT_LOCAL}
            is_here = middleware.is_local_name(host)
            assert not (is_here and "access-control-allow-origin" in answer.headers)


@pytest.mark.parametrize(
    ("host", "found"),
    [("127.0.0.1", True), ("::1", True), ("0.0.0.0", False), ("a.example", False)],
)
def test_a_page_is_local_where_it_listens_on_loopback(host, found):
    assert middleware.is_loopback(host) is found


def test_no_link_of_gradio_s_own_is_looked_up(page):
    for query in ("?deep_link=x", "?a=1&deep_link=x"):
        text = httpx.get(f"{page.url}/{query}").text
        assert '"deep_link_state":"none"' in text.replace(" ", "")


@pytest.mark.parametrize("size", [4, 50_000_000])
def test_uploads_are_refused_in_words(page, size):
    files = {"files": ("a.txt", b"x" * size)}
    answer = httpx.post(f"{page.url}/gradio_api/upload", files=files)
    assert (answer.status_code, answer.json()) == (403, {"detail": middleware.NO_UPLOADS})
