"""The hooks into Gradio that it does not promise to keep: each still does its work."""

import asyncio
import inspect
from itertools import count
from types import SimpleNamespace

import gradio as gr
import psutil
import pytest

from tests.ui.doubles import story_model
from tests.ui.served import Visitor, served
from ui import page as page_module
from ui.decode.session import LOCAL
from ui.gradio_hooks import (
    MAX_NEVER_READ,
    MAX_UNREAD,
    NOT_QUEUED,
    client_of,
    look_into_queue_every,
    num_unread,
)


def test_an_idle_page_looks_into_its_queue_seldom():
    page = gr.Blocks()
    assert page._queue.sleep_when_free < 0.005
    look_into_queue_every(page, 0.25)
    assert page._queue.sleep_when_free == 0.25
    source = inspect.getsource(type(page._queue).start_processing)
    assert "asyncio.sleep(self.sleep_when_free)" in source
    built = page_module.build(story_model())
    assert built._queue.sleep_when_free == page_module.SECONDS_BETWEEN_QUEUE_LOOKS


def test_what_is_answered_beside_the_queue_is_not_taken_into_it():
    with served(story_model()) as page:
        visitor = Visitor(page)
        for function, num_values in page.quick.items():
            body = {"data": [None] * num_values, "fn_index": function, "session_hash": "me"}
            answer = visitor.post("queue/join", body)
            assert (answer.status_code, answer.json()["detail"]) == (400, NOT_QUEUED)
        visitor.leave()


def test_a_stream_that_nobody_asked_for_ends_at_once_without_a_traceback(capfd):
    with served(story_model()) as page:
        visitor = Visitor(page)
        [message] = visitor.messages()
        assert (message["msg"], message["session_not_found"]) == ("unexpected_error", True)
        visitor.ask_page()
        assert visitor.ending() == "done"
        visitor.leave()
    assert "Traceback" not in capfd.readouterr().err


def test_what_200_sessions_sent_is_not_kept():
    size = 200_000
    with served(story_model()) as page:
        choice = next(index for index, num_inputs in page.quick.items() if num_inputs == 2)

        def come_and_go():
            visitor = Visitor(page)
            data = ["x" * size, "y" * size]
            sent = {"data": data, "fn_index": choice, "session_hash": visitor.session}
            assert visitor.post("run/predict", sent).status_code == 500  # no such choice
            visitor.ask_page("z" * size)
            assert visitor.ending() == "done"
            visitor.leave()

        come_and_go()
        before = psutil.Process().memory_info().rss
        for _ in range(200):
            come_and_go()
        grown = psutil.Process().memory_info().rss - before
    assert grown < 200 * size, "of the 600 times that size that came"


def test_messages_that_nobody_fetches_are_counted():
    page = gr.Blocks()
    waiting = page._queue.pending_messages_per_session
    assert num_unread(page, "me") == num_unread(page, None) == 0
    waiting["me"] = asyncio.Queue()
    for _ in range(MAX_UNREAD):
        waiting["me"].put_nowait("news")
    assert num_unread(page, "me") == MAX_UNREAD
    assert num_unread(page, "you") == 0
    source = inspect.getsource(type(page._queue).send_message)
    assert "self.pending_messages_per_session[event.session_hash]" in source
    assert "put_nowait" in source


@pytest.fixture
def slow_clock(monkeypatch):
    """Ten seconds pass between two looks."""
    clock = SimpleNamespace(monotonic=count(0, 10).__next__)
    monkeypatch.setattr("ui.gradio_hooks.time", clock)


def test_news_that_come_faster_than_anyone_fetches_do_not_end_a_run():
    page = gr.Blocks()
    waiting = page._queue.pending_messages_per_session["me"] = asyncio.Queue()
    request = SimpleNamespace(client=SimpleNamespace(host="10.0.0.7"), session_hash="me")
    client = client_of(page, request)
    for _ in range(MAX_UNREAD):
        waiting.put_nowait("news")
    assert client.is_listening()


def test_a_client_has_the_address_of_its_request_and_listens_while_it_fetches(slow_clock):
    page = gr.Blocks()
    request = SimpleNamespace(client=SimpleNamespace(host="10.0.0.7"), session_hash="me")
    client = client_of(page, request)
    assert (client.address, client.is_listening()) == ("10.0.0.7", True)
    waiting = page._queue.pending_messages_per_session["me"] = asyncio.Queue()
    for _ in range(MAX_UNREAD - 1):
        waiting.put_nowait("news")
    assert client.is_listening()
    waiting.put_nowait("news")
    assert not client.is_listening()
    waiting.get_nowait()
    assert client.is_listening()


def test_who_never_fetched_anything_is_given_up_sooner(slow_clock):
    page = gr.Blocks()
    waiting = page._queue.pending_messages_per_session["me"] = asyncio.Queue()
    waiting.put_nowait("news")
    request = SimpleNamespace(client=SimpleNamespace(host="10.0.0.7"), session_hash="me")
    deaf, slow = client_of(page, request), client_of(page, request)
    assert deaf.is_listening()
    assert slow.is_listening()
    for _ in range(MAX_NEVER_READ):
        waiting.put_nowait("news")
    assert not deaf.is_listening()
    waiting.get_nowait()
    waiting.get_nowait()
    assert slow.is_listening()
    assert deaf.is_listening(), "it has fetched some now"
    assert client_of(page, None) is LOCAL
