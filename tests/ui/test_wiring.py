"""Values that the page sends Gradio during a decode, and how often it makes Gradio work."""

import gradio as gr

from tests.ui.doubles import story_model
from ui import page as page_module
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.session import Visit

SENT = {"prompt": "Tell me a story."}


def decode_rows(monkeypatch) -> list[tuple]:
    """Every yield of the handler of Decode, one after each wire line."""
    monkeypatch.setattr("ui.decode.session.SECONDS_BETWEEN_YIELDS", 0.0)
    monkeypatch.setattr("ui.decode.session.SECONDS_TO_FIRST", 0.0)
    demo = page_module.build(story_model())
    shown = 4  # player, status line, Decode, Stop
    decode = next(f for f in demo.fns.values() if f.name == "decode" and len(f.outputs) == shown)
    return list(decode.fn(None, Visit(), SENT))


def test_news_of_a_run_are_plain_values_and_buttons_change_twice(monkeypatch):
    """Any update, gr.skip() too, makes Gradio build its component anew: dear on every yield."""
    rows = decode_rows(monkeypatch)
    assert len(rows) > 20
    kinds = [[type(value) for value in row] for row in rows]
    assert kinds[1:-1] == [[str, str, str, str]] * (len(rows) - 2)
    for row, is_running in ((rows[0], True), (rows[-1], False)):
        assert [button["interactive"] for button in row[2:]] == [not is_running, is_running]


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
