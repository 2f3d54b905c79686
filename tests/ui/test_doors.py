"""The doors: whose a request is, how large it may be, how many may come, what answers have."""

import asyncio
import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from starlette.exceptions import HTTPException
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app import checked_proxies
from sbd_core.errors import ArgumentError
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import WebFolder, open_web
from tests.ui.doubles import story_model
from tests.ui.served import Visitor, data_of, served
from ui import doors, models
from ui.doors import MAX_BODY, SMALL_BODY, Bucket, Doors, Sender

PROXY = "10.1.2.3"
TRUSTED = checked_proxies("10.0.0.0/8, 127.0.0.1")


@pytest.fixture(scope="module")
def page():
    with served(story_model()) as found:
        yield found


@pytest.fixture(scope="module")
def local_page():
    with served(story_model(), is_local=True) as found:
        yield found


def asked(peer, forwarded, trusted=TRUSTED):
    """The visitor of a request through uvicorn and our doors."""
    around, found = doors_alone(), []

    async def app(scope, receive, send):
        found.append(around._with_visitor(scope)["client"][0])

    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    run(ProxyHeadersMiddleware(app, trusted)(scope, None, None))
    return found[0]


@pytest.mark.parametrize(
    ("peer", "forwarded", "visitor"),
    [
        ("8.8.8.8", ["1.1.1.1"], "8.8.8.8"),  # who is no proxy says nothing of addresses
        (PROXY, [], PROXY),
        (PROXY, ["1.1.1.1"], "1.1.1.1"),
        (PROXY, ["6.6.6.6, 1.1.1.1"], "1.1.1.1"),  # what is left of it may be forged
        (PROXY, ["6.6.6.6", "1.1.1.1, 127.0.0.1"], "1.1.1.1"),
        (PROXY, ["10.9.9.9, 10.8.8.8"], "10.9.9.9"),
        (PROXY, ["6.6.6.6, unknown"], "unknown"),
        (PROXY, ["1.1.1.1:4711"], "1.1.1.1"),
        (PROXY, ["[2001:db8::1]:4711"], "2001:db8::/64"),
        (PROXY, ["2001:db8::ffff"], "2001:db8::/64"),
        ("2001:db8:0:1::7", [], "2001:db8:0:1::/64"),
        ("::ffff:10.1.2.3", ["1.1.1.1"], "1.1.1.1"),
        ("::ffff:8.8.8.8", ["1.1.1.1"], "8.8.8.8"),
        ("unix", ["1.1.1.1"], "unix"),
    ],
)
def test_the_right_most_hop_that_is_no_trusted_proxy_is_the_visitor(peer, forwarded, visitor):
    assert asked(peer, forwarded) == visitor


@pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.0/99", "10.0.0.0/8;127.0.0.1"])
def test_proxies_that_are_no_networks_are_refused_by_name(text):
    with pytest.raises(ArgumentError, match="trusted_proxies: must be addresses or networks"):
        checked_proxies(text)
    assert checked_proxies(" ") == ""


def run(coroutine):
    """Runs it in a thread of its own: the browser tests leave a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def doors_alone(**named) -> Doors:
    """Doors that lead to nothing."""
    return Doors(None, None, **named)


def test_who_forwards_without_being_trusted_is_said_to_the_log_once(caplog):
    around = doors_alone()
    headers = [(b"x-forwarded-for", b"1.1.1.1")]
    with caplog.at_level(logging.WARNING):
        for peer in ("1.1.1.1", "10.7.7.7", "10.7.7.7"):  # uvicorn puts the first for its proxy
            around._with_visitor({"headers": headers, "client": (peer, 1)})
    assert [record.args for record in caplog.records] == [("10.7.7.7",)]


def chunks(size: int):
    """A body whose size no header tells."""
    for _ in range(size // 10**6):
        yield b"x" * 10**6


@pytest.mark.parametrize("body", [lambda: b"x" * (MAX_BODY + 1), lambda: chunks(40 * 10**6)])
@pytest.mark.parametrize("door", ["gradio_api/queue/join", "ask/trace"])
def test_a_body_too_large_is_refused_in_words_before_it_is_parsed(page, body, door):
    answer = httpx.post(f"{page.url}/{door}", content=body(), timeout=60)
    assert (answer.status_code, answer.json()) == (413, {"detail": doors.TOO_LARGE})


def test_only_traces_may_be_large(page):
    visitor = Visitor(page)
    text = "x" * (SMALL_BODY + 1)
    refused = visitor.post("call/decode", {"data": data_of(page, "decode", {"prompt": text})})
    assert (refused.status_code, refused.json()) == (413, {"detail": doors.TOO_LARGE})
    assert visitor.post("cancel", {"event_id": text}).status_code == 413
    taken = visitor.post("call/trace_to_html", {"data": [text, ""]})
    assert taken.status_code == 200
    [(kind, words)] = visitor.events(taken.json()["event_id"], "trace_to_html")
    assert (kind, "trace: must be JSON" in words["error"]) == ("error", True)
    visitor.leave()


def test_a_body_of_no_kind_is_json_and_is_not_sent_back(page):
    text = "secret " * 5000
    body = json.dumps({"data": data_of(page, "decode", {"prompt": text, "max_new_tokens": 1})})
    for kind in ({}, {"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"}):
        answer = httpx.post(
            f"{page.url}/gradio_api/call/decode", content=body.encode(), headers=kind
        )
        assert answer.status_code == 200
        assert list(answer.json()) == ["event_id"]


def test_bodies_that_do_not_arrive_take_bounded_memory_and_give_it_back(monkeypatch):
    monkeypatch.setattr(doors, "SECONDS_FOR_BODY", 2.0)
    monkeypatch.setattr(doors, "MAX_LARGE", 4)
    around, senders = doors_alone(), {name: Sender() for name in "abc"}

    async def read(name, size, *, has_end):
        async def receive():
            if told:
                await asyncio.sleep(60)
            told.append(1)
            return {"type": "http.request", "body": b"x" * size, "more_body": not has_end}

        told: list[int] = []
        try:
            async with around._body(receive, senders[name], MAX_BODY) as held:
                return 200 if len(held) == size else 500
        except HTTPException as refusal:
            return refusal.status_code

    async def all_of_them():
        waiting = [asyncio.create_task(read("a", MAX_BODY, has_end=False)) for _ in range(10)]
        await asyncio.sleep(0.1)
        now = [await read("a", SMALL_BODY, has_end=True), await read("b", MAX_BODY, has_end=True)]
        now.append(await read("a", MAX_BODY, has_end=True))
        more = [asyncio.create_task(read("c", MAX_BODY, has_end=False)) for _ in range(2)]
        await asyncio.sleep(0.1)
        now.append(await read("b", MAX_BODY, has_end=True))
        await asyncio.gather(*waiting, *more)
        return [*now, *[await read(name, MAX_BODY, has_end=True) for name in "abc"]]

    assert run(all_of_them()) == [200, 200, 429, 503, 200, 200, 200]
    assert around._num_large == 0


@pytest.fixture
def export(tmp_path) -> WebFolder:
    return open_web(Path(export_web(None, tmp_path / "export").folder))


def test_the_files_of_an_export_are_served_for_good_and_in_ranges(page, export, monkeypatch):
    monkeypatch.setattr(models, "_served", {})
    assert httpx.get(f"{page.url}/models/{export.digest}/manifest.json").status_code == 404
    url = f"{page.url}/{models.serve_export(export)}"
    for name in export.names:
        answer = httpx.get(url + name)
        assert answer.content == (export.folder / name).read_bytes()
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    part = httpx.get(f"{url}weights-01.bin", headers={"Range": "bytes=10-19"})
    assert (part.status_code, len(part.content)) == (206, 10)
    head = httpx.head(f"{url}weights-01.bin")
    assert (head.status_code, head.content) == (200, b"")
    (export.folder / "secret.txt").write_text("secret")
    for name in ("secret.txt", "", "../export/config.json", "%2e%2e/export/config.json"):
        assert httpx.get(url + name).status_code == 404


def test_answers_guess_no_kind_and_let_the_engine_have_threads(page):
    for path in ("/", "/dist/engine.js", "/nothing", "/config"):
        headers = httpx.get(page.url + path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-embedder-policy"] == "require-corp"


def test_what_is_computed_comes_one_by_one_with_pauses_and_no_more_than_20_wait(monkeypatch):
    monkeypatch.setattr(doors, "MAX_DELAY", 0.0)
    running, together, times, sender = 0, [], [], Sender()

    async def act():
        nonlocal running
        running += 1
        together.append(running)
        times.append(time.monotonic())
        await asyncio.sleep(0.02)
        running -= 1

    async def all_at_once():
        asked = (sender.in_turn(act) for _ in range(30))
        return await asyncio.gather(*asked, return_exceptions=True)

    answers = run(all_at_once())
    assert sum(isinstance(answer, HTTPException) for answer in answers) == 10
    assert set(together) == {1}
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.039, "an answer is followed by a pause as long as itself"


def test_requests_beyond_those_of_a_class_come_at_most_so_many_a_second(monkeypatch):
    monkeypatch.setattr(doors, "MAX_DELAY", 0.45)
    bucket, times = Bucket(4, 10), []

    async def take():
        await bucket.take()
        times.append(time.monotonic())

    async def all_at_once():
        return await asyncio.gather(*(take() for _ in range(30)), return_exceptions=True)

    began = time.monotonic()
    answers = run(all_at_once())
    assert sum(isinstance(answer, HTTPException) for answer in answers) == 21
    waits = [when - began for when in times]
    assert all(later - before > 0.08 for before, later in pairwise(waits[4:]))
    assert min(when for when in waits[5:]) > 0.08


def test_a_crowd_at_one_address_takes_no_state_of_another(monkeypatch):
    monkeypatch.setattr(doors, "MAX_KNOWN", 2)
    around = doors_alone()
    first = around._sender("1.1.1.1")
    assert first is around._sender("1.1.1.1") is not around._sender("2.2.2.2")
    around._sender("1.1.1.1")
    around._sender("3.3.3.3")
    assert first is around._sender("1.1.1.1"), "who comes often is not forgotten"


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
    for method, path in (("GET", "/"), ("GET", "/config"), ("POST", "/gradio_api/queue/join")):
        answer = httpx.request(method, local_page.url + path, headers=headers)
        assert (answer.status_code == 403) is not is_own
        if not is_own:
            assert answer.json() == {"detail": doors.NOT_LOCAL}
            is_here = doors.is_local_name(host)
            assert not (is_here and "access-control-allow-origin" in answer.headers)


@pytest.mark.parametrize(
    ("host", "found"),
    [("127.0.0.1", True), ("::1", True), ("0.0.0.0", False), ("a.example", False)],
)
def test_a_page_is_local_where_it_listens_on_loopback(host, found):
    assert doors.is_loopback(host) is found
