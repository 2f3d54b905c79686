"""A visitor who stops or leaves frees the model at once, and who waits hears of it at once."""

import copy

import pytest

from sbd_core.errors import SetBlockDecodingError
from tests.ui.doubles import counted_caches, story_model
from ui.decode.form import Form, forms_of
from ui.decode.session import STOPPED_TEXT, Client, Session, Visit


def test_stop_is_heard_by_what_runs_and_not_by_what_comes_after() -> None:
    visit = Visit()
    running = visit.watch()
    assert not running()
    visit.stop()
    assert running()
    assert not visit.watch()()


def test_a_visitor_is_decoding_while_any_of_their_decodes_is() -> None:
    visit = Visit()
    assert visit.is_decoding("first", is_running=True)
    assert visit.is_decoding("second", is_running=True)
    assert visit.is_decoding("first", is_running=False)
    assert not visit.is_decoding("second", is_running=False)


def test_every_visitor_has_a_visit_of_their_own() -> None:
    prototype = Visit()
    anna, bert = copy.deepcopy(prototype), copy.deepcopy(prototype)
    heard = bert.watch()
    anna.stop()
    assert not heard()
    assert anna.is_decoding(1, is_running=True)
    assert not bert.is_decoding(1, is_running=False)


def test_stop_frees_the_model_after_a_pass_and_before_another_word():
    session, visit = Session(story_model()), Visit()
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


ENDINGS = {
    "left": lambda stream, visit: stream.close(),
    "stopped": lambda stream, visit: (visit.stop(), list(stream)),
    "finished": lambda stream, visit: list(stream),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_that_is_over_keeps_its_events_and_no_cache(ending):
    model, num_alive = counted_caches(story_model())
    session, visit = Session(model), Visit()
    for strategy in ("sbd", "verify", "ntp"):
        stream = session.decode(Form("p", strategy=strategy), visit)
        news = next(stream)
        assert num_alive() > 0
        ENDINGS[ending](stream, visit)
        assert num_alive() == 0
        assert news.lane.events


def test_lanes_to_compare_and_traces_that_are_left_keep_no_cache():
    model, num_alive = counted_caches(story_model())
    session = Session(model)
    running = session.compare(forms_of(["ntp", "sbd", "verify"], Form("p")))
    next(running)
    assert num_alive() > 0
    running.close()
    assert num_alive() == 0
    drained = session.traces([Form("p"), Form("p", strategy="ntp")])
    for _ in range(5):
        next(drained)
    assert num_alive() > 0
    drained.close()
    assert num_alive() == 0


def test_who_waits_or_is_refused_has_no_cache_yet():
    model, num_alive = counted_caches(story_model())
    session = Session(model)
    first = session.decode(Form("p"))
    next(first)
    before = num_alive()
    waiting = [session.decode(Form("p"), client=Client(str(i))) for i in range(80)]
    news = [next(stream) for stream in waiting]
    assert num_alive() == before
    assert any("The page is full" in item.message and item.is_error for item in news)
    first.close()


def deaf_after(count: int) -> Client:
    """A client who fetches so much news and no more."""
    asked = iter(range(count))
    return Client("deaf", lambda: next(asked, None) is not None)


def test_a_run_that_nobody_listens_to_ends():
    session = Session(story_model())
    news = list(session.decode(Form("p"), client=deaf_after(5)))
    assert (news[-1].message, news[-1].is_error) == (
        "Stopped: nobody listens to this run any more.",
        True,
    )
    forms = forms_of(["ntp"], Form("p"))
    assert list(session.compare(forms, deaf_after(5)))[-1].is_error
    with pytest.raises(SetBlockDecodingError, match="nobody listens"):
        list(session.traces([Form("p")], deaf_after(5)))
    assert session.queue.num_ahead(session.queue.join()) == 0
