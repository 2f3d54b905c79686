"""The hooks into Gradio and inspect that neither promises to keep: each still does its work."""

import asyncio
import inspect
import logging
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import gradio as gr
import pytest
from gradio.component_meta import create_or_modify_pyi
from gradio.state_holder import SessionState

from tests.campaign.server import Visitor, served
from tests.ui.doubles import story_model
from ui import page as page_module
from ui.decode.client import LOCAL
from ui.gradio_hooks import (
    MAX_KINDS,
    MAX_NEVER_READ,
    MAX_UNREAD,
    RareTracebacks,
    client_of,
    look_into_queue_every,
    no_stubs_for_editors,
    num_unread,
)


def test_gradio_writes_no_stub_files_while_told_so():
    with mock.patch("gradio.component_meta.create_pyi", side_effect=RuntimeError("a stub")):
        with no_stubs_for_editors():
            create_or_modify_pyi(gr.HTML, "HTML", [])
            assert inspect.getfile(Path)
        with pytest.raises(RuntimeError, match="a stub"):
            create_or_modify_pyi(gr.HTML, "HTML", [])


def test_an_idle_page_looks_into_its_queue_seldom():
    page = gr.Blocks()
    assert page._queue.sleep_when_free < 0.005
    look_into_queue_every(page, 0.25)
    assert page._queue.sleep_when_free == 0.25
    source = inspect.getsource(type(page._queue).start_processing)
    assert "asyncio.sleep(self.sleep_when_free)" in source
    built = page_module.build(story_model())
    assert built._queue.sleep_when_free == page_module.SECONDS_BETWEEN_QUEUE_LOOKS


def test_what_a_session_posted_is_not_kept():
    page = page_module.build(story_model())
    state = SessionState(page)
    for key in state.config_values:
        state._update_value_in_config(key, "posted")
    assert "posted" not in repr(state.config_values)
    assert "state._update_value_in_config(" in inspect.getsource(type(page).preprocess_data)


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


def test_a_visitor_who_posts_nonsense_writes_few_tracebacks(capfd):
    with served(story_model()) as page:
        visitor = Visitor(page)
        for _ in range(12):
            visitor.post("run/predict", {"data": [], "fn_index": 11, "event_data": [1]})
            visitor.ask("api", [])
            for message in visitor.messages():
                if message["msg"] == "process_completed":
                    break
        visitor.leave()
    assert 1 <= capfd.readouterr().err.count("Traceback (most recent call last)") <= 8


def test_tracebacks_are_counted_by_kind_and_other_lines_are_logged():
    rare = RareTracebacks()
    errors = [ValueError("a"), KeyError("b")]
    told = [rare._is_rare(error) for error in errors * 5]
    assert told == [True] * 6 + [False] * 4
    assert rare.filter(logging.LogRecord("x", 40, "f", 1, "words", None, None))
    for number in range(200):
        rare._is_rare(type(f"Error{number}", (Exception,), {})())
    assert len(rare._counts) <= MAX_KINDS


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
