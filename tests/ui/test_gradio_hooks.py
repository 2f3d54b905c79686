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
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.session import LOCAL, Visit
from ui.gradio_hooks import (
    MAX_NEVER_READ,
    MAX_UNREAD,
    NOT_QUEUED,
    client_of,
    num_unread,
    set_queue_poll_seconds,
)


def test_an_idle_page_looks_into_its_queue_seldom():
    page = gr.Blocks()
    assert page._queue.sleep_when_free < 0.005
    set_queue_poll_seconds(page, 0.25)
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


SENT = {"prompt": "Tell me a story."}


def decode_rows(monkeypatch, sent=SENT, **model) -> list[tuple]:
    """Every yield of the handler of Decode, one after each wire line."""
    monkeypatch.setattr("ui.decode.session.SECONDS_BETWEEN_YIELDS", 0.0)
    monkeypatch.setattr("ui.decode.session.SECONDS_TO_FIRST", 0.0)
    demo = page_module.build(story_model(**model))
    shown = 4  # player, status line, Decode, Stop
    decode = next(f for f in demo.fns.values() if f.name == "decode" and len(f.outputs) == shown)
    return list(decode.fn(None, Visit(), sent))


def test_news_of_a_run_are_plain_values_and_buttons_change_twice(monkeypatch):
    """Any update, gr.skip() too, makes Gradio build its component anew: dear on every yield."""
    rows = decode_rows(monkeypatch)
    assert len(rows) > 20
    kinds = [[type(value) for value in row] for row in rows]
    assert kinds[1:-1] == [[str, str, str, str]] * (len(rows) - 2)
    for row, is_running in ((rows[0], True), (rows[-1], False)):
        assert [button["interactive"] for button in row[2:]] == [not is_running, is_running]


@pytest.mark.parametrize(("name", "is_said"), [("a-chat-model", True), ("sbd-nano", False)])
def test_only_a_model_that_takes_a_conversation_gets_the_system_message(monkeypatch, name, is_said):
    rows = decode_rows(monkeypatch, SENT | {"system": "Be brief."}, name=name)
    wire = "\n".join(row[0] for row in rows)
    assert ("Be brief." in wire) == is_said


def test_stop_stays_alive_while_another_decode_of_the_visitor_runs():
    demo = page_module.build(story_model())
    handlers = {f.name: f for f in demo.fns.values() if f.name in ("decode", "redo")}
    kept = Visit()
    first = handlers["decode"].fn(None, kept, SENT)
    assert next(first)[3]["interactive"] is True
    branch = gr.EventData(None, {"prompt": "p", "ask": "a1"})
    second = handlers["redo"].fn(None, kept, branch)
    assert next(second)[3]["interactive"] is True
    # A plain value leaves the button as it is.
    assert all(isinstance(row[3], str) for row in first)
    *_, last = second
    assert last[3]["interactive"] is False


def test_a_stream_makes_gradio_copy_the_properties_of_hardly_anything():
    """It copies those of every input of an event that ended, and of all that shows progress."""
    demo = page_module.build(story_model())
    streams = [f for f in demo.fns.values() if f.targets and f.concurrency_id == "runs"]
    assert len(streams) == 5
    assert all(stream.show_progress_on == [] for stream in streams)
    decode = next(stream for stream in streams if stream.name == "decode")
    assert [type(item) for item in decode.inputs] == [gr.State, gr.JSON]
    assert not decode.inputs[1].visible


def test_every_run_is_in_the_one_line_and_gradio_holds_nobody_back():
    demo = page_module.build(story_model())
    runs = {f.name: f for f in demo.fns.values() if f.concurrency_id == "runs"}
    assert set(runs) == {"decode", "redo", "linked", "started", "race", "timed", "trace_to_html"}
    limits = {f.concurrency_limit for f in runs.values()}
    options = page_module.launch_options()
    assert MAX_PLACES < min(limits) <= options["max_threads"] < demo._queue.max_size
    assert {f.concurrency_limit for f in demo.fns.values() if f.queue} == limits
