"""What a visitor has on the page stays there to be saved and charted, and no longer than needed."""

import copy
import gc

import pytest

from sbd_core.errors import ArgumentError
from tests.ui.doubles import story_model
from ui import page as page_module
from ui.charts.section import charts_of
from ui.decode import visitor_runs
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.visitor_runs import IDLE_SECONDS, VisitorRuns, Visitors
from ui.gallery.recorded import OPENING_LANES
from ui.share.sheet import file_of, open_trace


def run_ids(session: Session, visit: VisitorRuns, count: int) -> list[str]:
    ids = []
    for number in range(count):
        list(session.decode(Form("p", ask=str(number)), visit))
        ids.append(visit._newest)
    return ids


def test_the_first_run_can_be_saved_and_charted_after_many_branches():
    session, visit = Session(story_model()), VisitorRuns()
    first, *_ = run_ids(session, visit, 40)
    for kind in ("json", "html"):
        assert len(file_of(visit, {"run": first, "kind": kind})["text"]) > 1000
    assert charts_of(visit, {"run": first})["figures"]


def test_a_kept_run_is_the_same_trace_as_while_it_ran():
    session, visit = Session(story_model()), VisitorRuns()
    seen = [visit.newest() for update in session.decode(Form("p"), visit) if update.wire]
    lanes = visit.newest()
    assert lanes == seen[-1]
    assert list(lanes) == ["sbd", "ntp"]
    assert lanes["sbd"].num_forwards < lanes["ntp"].num_forwards
    assert lanes["sbd"].text == lanes["ntp"].text


def test_the_oldest_run_goes_when_there_is_no_room_and_says_so(monkeypatch):
    monkeypatch.setattr(visitor_runs, "MAX_KEPT", 3)
    visit = page_module.first_visit()
    ids = run_ids(Session(story_model()), visit, 5)
    with pytest.raises(ArgumentError, match="is not kept here any more; decode it again"):
        visit.traces(ids[1])
    assert all(visit.traces(run_id) for run_id in ids[2:])
    assert visit.traces("opening"), "what the page opens on is read from its file"


def test_large_traces_that_a_visitor_brings_are_bounded(monkeypatch):
    session, visit = Session(story_model()), VisitorRuns()
    run_ids(session, visit, 1)
    text = next(iter(visit.newest().values())).to_json()
    monkeypatch.setattr(visitor_runs, "MAX_KEPT_BYTES", 30_000)
    for _ in range(30):
        open_trace(visit, {"text": text})
    assert sum(len(lane) for run in visit._packed.values() for lane in run.values()) <= 30_000
    assert visit.newest()


def test_every_visitor_has_runs_of_their_own():
    prototype = page_module.first_visit()
    anna, bert = copy.deepcopy(prototype), copy.deepcopy(prototype)
    run_ids(Session(story_model()), anna, 1)
    assert set(bert.traces("opening")) == set(OPENING_LANES)
    with pytest.raises(ArgumentError):
        bert.traces(anna._newest)


def test_who_is_idle_for_long_gives_up_the_memory_and_who_is_not_keeps_it():
    now = [0.0]
    visitors = Visitors(lambda: now[0])
    away, here, new = (VisitorRuns(visitors) for _ in range(3))
    session = Session(story_model())
    (old,) = run_ids(session, away, 1)
    (mine,) = run_ids(session, here, 1)
    now[0] = IDLE_SECONDS - 1
    here.traces(mine)
    now[0] = IDLE_SECONDS + 1
    run_ids(session, new, 1)
    assert here.traces(mine)
    with pytest.raises(ArgumentError):
        away.traces(old)


def test_a_visitor_whom_gradio_forgets_is_not_held():
    visitors = Visitors()
    visit = VisitorRuns(visitors)
    run_ids(Session(story_model()), visit, 1)
    assert len(visitors._everyone) == 1
    del visit
    gc.collect()
    assert len(visitors._everyone) == 0


@pytest.mark.parametrize("run_id", [None, 3, "no", ["x"], {}])
def test_a_run_that_is_not_there_is_refused_in_words(run_id):
    with pytest.raises(ArgumentError, match="This run"):
        VisitorRuns().traces(run_id)
