"""A run that the visitor's browser saved is brought back to a server that has it no more."""

import base64
import json
import zlib

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import SetBlockDecodingError
from tests.ui.doubles import story_model
from ui.charts.section import charts_of
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.verdict import NOT_RUN, WORDS
from ui.decode.visitor_runs import GoneError, VisitorRuns
from ui.gallery import recorded
from ui.share import saved_runs
from ui.share.sheet import answer, file_of, shown_run
from ui.share.trace_files import MAX_FILE_BYTES

RUN = "0a1b2c3d"


@pytest.fixture(scope="module")
def decoded():
    """(id of a run, what its visitor's server knows)."""
    visit = VisitorRuns()
    list(Session(story_model()).decode(Form("p", max_new_tokens=48), visit))
    return visit._newest, visit


@pytest.fixture(scope="module")
def lanes(decoded) -> list[str]:
    run_id, visit = decoded
    return json.loads(answer(visit, {"kind": "traces", "run": run_id}))["traces"]["lanes"]


def packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


def test_a_run_is_saved_and_charted_after_a_restart_as_before_it(decoded, lanes):
    run_id, visit = decoded
    for kind in ("json", "html"):
        wish = {"kind": kind, "run": run_id}
        assert file_of(VisitorRuns(), {**wish, "lanes": lanes}) == file_of(visit, wish)
    restarted = VisitorRuns()
    assert charts_of(restarted, {"run": run_id, "lanes": lanes})["figures"]
    assert restarted.traces(run_id) == visit.traces(run_id), "kept again, for wishes without lanes"


def test_the_replay_page_says_whether_the_answer_is_right():
    visit = VisitorRuns()
    session = Session(story_model(["The answer is 43."]))
    list(session.decode(Form("What is 12 + 30?", max_new_tokens=48), visit))
    page = file_of(visit, {"run": visit._newest, "kind": "html"})["text"]
    assert "Wrong: the answer is 42, not 43." in page


def test_a_replay_says_of_a_function_what_the_page_said_and_of_one_brought_that_it_is_not_run():
    name = next(item.name for item in recorded.gallery() if item.name.startswith("code-"))
    traces = recorded.gallery_traces(name)
    visit = VisitorRuns()
    for is_ours, words in ((True, WORDS["code"][0]), (False, NOT_RUN["server"])):
        shown_run(visit, traces, is_ours=is_ours)
        wish = {"run": visit._newest, "kind": "html"}
        assert words in file_of(visit, wish)["text"]
        lanes = json.loads(answer(visit, {**wish, "kind": "traces"}))["traces"]["lanes"]
        again = file_of(VisitorRuns(), {**wish, "lanes": lanes})["text"]
        assert NOT_RUN["server"] in again


def test_the_replay_page_brings_along_what_running_it_again_took(decoded):
    run_id, visit = decoded
    wish = {"run": run_id, "kind": "html"}
    assert '"type":"timing"' not in file_of(visit, wish)["text"].split('id="sbd-lines"')[1]
    visit.keep_timing({"run": run_id, "seconds": [0.25, 0.5], "ntpSeconds": [1.0, 2.0]})
    page = file_of(visit, wish)["text"].split('id="sbd-lines"')[1]
    assert '"type":"timing","times":[250000,500000],"ntp_times":[1000000,2000000]' in page
    visit.keep_timing({"run": "another", "seconds": [1.0], "ntpSeconds": [1.0]})
    assert visit.timing("another") is None, "of kept runs alone"


def test_the_page_is_told_which_run_to_bring(decoded):
    run_id, _ = decoded
    news = json.loads(answer(VisitorRuns(), {"kind": "json", "run": run_id}))
    assert news["gone"] == run_id
    assert news["error"] == "This run is not kept here any more; decode it again."


def test_a_run_can_be_asked_for_while_it_is_being_packed(monkeypatch):
    visit = VisitorRuns()
    traces = {"ntp": generate(story_model(), "p", DecodeConfig(strategy="ntp"))}
    visit.keep(RUN, lambda: traces)
    running, meanwhile = visit.packed(RUN), []
    compress = zlib.compress

    def slow_compress(data):
        if not meanwhile:
            meanwhile.append(None)
            meanwhile.append(visit.traces(RUN))
        return compress(data)

    monkeypatch.setattr("ui.decode.visitor_runs.zlib.compress", slow_compress)
    visit.settle(RUN)
    assert meanwhile == [None, traces]
    assert visit.packed(RUN) == running


@pytest.mark.parametrize("run_id", ["gone", None, 3, float("nan"), ["x"], {}])
def test_a_run_that_was_never_here_has_no_traces_to_save(run_id):
    news = json.loads(answer(VisitorRuns(), {"kind": "traces", "run": run_id}))
    assert news["traces"]["lanes"] == []


def test_a_run_that_is_kept_is_not_replaced_by_one_brought(decoded):
    run_id, visit = decoded
    other = generate(story_model(), "another", DecodeConfig(max_new_tokens=8)).to_json()
    wish = {"kind": "json", "run": run_id, "lanes": [packed(other)]}
    assert json.loads(file_of(visit, wish)["text"])["prompt"] == "p"


def hostile(lane: str) -> dict[str, object]:
    return {
        "no list": lane,
        "nothing": [],
        "many": [lane] * 4,
        "twice the same": [lane, lane],
        "no text": [3],
        "no base64": ["%%%"],
        "not packed": [base64.b64encode(b"{}").decode()],
        "cut off": [lane[: len(lane) // 8 * 4]],
        "not UTF-8": [base64.b64encode(zlib.compress(b"\xff")).decode()],
        "not a trace": [packed("{}")],
        "a bomb": [packed("x" * (MAX_FILE_BYTES + 1))],
        "long": ["A" * (MAX_FILE_BYTES + 4)],
    }


@pytest.mark.parametrize("what", hostile("x"))
def test_what_cannot_be_a_saved_run_is_refused_in_one_sentence(what, lanes):
    wish = {"kind": "json", "run": RUN, "lanes": hostile(lanes[0])[what]}
    visit = VisitorRuns()
    news = json.loads(answer(visit, wish))
    assert set(news) == {"number", "error"}
    assert "\n" not in news["error"]
    assert len(news["error"]) < 400
    with pytest.raises(GoneError):
        visit.traces(RUN)


@pytest.mark.parametrize("run_id", [None, 3, "", "x" * 8, "0" * 9, "opening", ["0a1b2c3d"]])
def test_a_run_is_brought_under_the_id_of_a_run_alone(run_id, lanes):
    with pytest.raises(SetBlockDecodingError, match="must have the id of a run"):
        saved_runs.traces_of(VisitorRuns(), {"run": run_id, "lanes": lanes})


def test_no_more_of_a_bomb_is_unpacked_than_a_trace_file_may_have(monkeypatch):
    asked = []

    def read(text):
        asked.append(len(text))
        raise saved_runs.ArgumentError("trace file", "must be small", None)

    monkeypatch.setattr(saved_runs, "read_trace", read)
    answer(VisitorRuns(), {"kind": "json", "run": RUN, "lanes": [packed("x" * 10**8)]})
    assert asked == [MAX_FILE_BYTES + 1]
