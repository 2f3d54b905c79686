"""A visitor who stops or leaves frees the model at once, and who waits hears of it at once."""

import threading
import time

from tests.ui.doubles import story_model
from ui.decode import session as session_module
from ui.decode.session import STOPPED_TEXT, Form, Session
from ui.decode.visitor_runs import VisitorRuns


def test_stop_frees_the_model_after_a_pass_and_before_another_word():
    session, visit = Session(story_model()), VisitorRuns()
    stream = session.decode(Form("p"), visit)
    next(stream)
    waiting = session.decode(Form("p"))
    next(waiting)
    visit.stop()
    last = next(stream)
    assert (last.message, last.is_running, last.wire) == (STOPPED_TEXT, False, "")
    assert "run" in next(waiting).wire
    waiting.close()
    assert "run" in next(session.decode(Form("p"), visit)).wire


def test_who_waits_is_called_at_once_when_the_line_moves(monkeypatch):
    monkeypatch.setattr(session_module, "SECONDS_BETWEEN_LOOKS", 50.0)
    session = Session(story_model())
    stream, waiting = session.decode(Form("p")), session.decode(Form("p"))
    next(stream)
    next(waiting)
    began = time.monotonic()
    timer = threading.Timer(0.1, stream.close)
    timer.start()
    assert "run" in next(waiting).wire
    assert time.monotonic() - began < 40
    timer.join()
    waiting.close()
