"""What the page sends Gradio during a decode, and how often it makes Gradio work."""

import gradio as gr

from tests.ui.doubles import story_model
from ui import page as page_module
from ui.decode.visitor_runs import VisitorRuns


def decode_rows(monkeypatch) -> list[tuple]:
    """Every yield of the handler of Decode, one after each wire line."""
    monkeypatch.setattr("ui.decode.update_throttle.SECONDS_BETWEEN_YIELDS", 0.0)
    monkeypatch.setattr("ui.decode.update_throttle.SECONDS_TO_FIRST", 0.0)
    demo = page_module.build(story_model())
    shown = 4  # player, notice, Decode, Stop
    decode = next(f for f in demo.fns.values() if f.name == "decode" and len(f.outputs) == shown)
    values = ["" if item.value is None else item.value for item in decode.inputs[1:]]
    return list(decode.fn(VisitorRuns(), *values))


def test_news_of_a_run_are_plain_values_and_buttons_change_twice(monkeypatch):
    """Any update, gr.skip() too, makes Gradio build its component anew: dear on every yield."""
    rows = decode_rows(monkeypatch)
    assert len(rows) > 20
    kinds = [[type(value) for value in row] for row in rows]
    assert kinds[1:-1] == [[str, str, str, str]] * (len(rows) - 2)
    for row, is_running in ((rows[0], True), (rows[-1], False)):
        assert [button["interactive"] for button in row[2:]] == [not is_running, is_running]


def test_news_are_said_once(monkeypatch):
    rows = decode_rows(monkeypatch)
    assert len({row[1] for row in rows[:-1]}) == 1


def test_an_idle_page_looks_into_its_queue_seldom():
    assert gr.Blocks()._queue.sleep_when_free < page_module.SECONDS_BETWEEN_QUEUE_LOOKS
    demo = page_module.build(story_model())
    assert demo._queue.sleep_when_free == page_module.SECONDS_BETWEEN_QUEUE_LOOKS
