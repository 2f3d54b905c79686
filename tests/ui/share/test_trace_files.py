"""Trace files that would be too much for a screen are refused in one sentence, others play."""

import base64
import json
import zlib
from pathlib import Path

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError, SetBlockDecodingError, TraceError
from sbd_core.replay.wire_format import MAX_SHOWN_BLOCK
from tests.ui.doubles import story_model
from ui.charts.section import charts_of
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.verdict import NOT_RUN, WORDS
from ui.decode.visitor_runs import GoneError, VisitorRuns
from ui.gallery import recorded
from ui.gallery.recorded import TRACES
from ui.share import saved_runs
from ui.share.sheet import answer, file_of, shown_run
from ui.share.trace_files import MAX_FILE_BYTES, MAX_POSITIONS, read_trace

PLAIN = json.loads(generate(story_model(), "p", DecodeConfig(max_new_tokens=32)).to_json())
UNSEEN = "\x01"
MARK = "\u0301"


def changed(**parts) -> str:
    """The plain trace with parts of it replaced: config_... of its config, else of itself."""
    data = json.loads(json.dumps(PLAIN))
    for name, value in parts.items():
        head, _, rest = name.partition("_")
        (data["config"] if head == "config" else data)[rest if head == "config" else name] = value
    return json.dumps(data)


def with_block(size: int, start: int = 0) -> str:
    data = json.loads(changed(config_max_new_tokens=2**19))
    data["events"][1]["block"] = [start, size]
    return json.dumps(data)


def committing(count: int) -> str:
    data = json.loads(changed(config_max_new_tokens=2**19))
    data["events"][-1]["committed"] = [3] * count
    return json.dumps(data)


def of_texts(text: str) -> str:
    return changed(tokens=dict.fromkeys(PLAIN["tokens"], text), text="")


def with_other_token() -> str:
    data = json.loads(json.dumps(PLAIN))
    event = next(event for event in data["events"] if event["committed"])
    event["committed"][0] = next(int(i) for i in data["tokens"] if int(i) != event["committed"][0])
    return json.dumps(data)


REFUSED = {
    "block of the config": (changed(config_block_size=65), "config.block_size must be at most 64"),
    "block beyond all": (changed(config_block_size=10**9), "config.block_size: must be a whole"),
    "longest answer": (changed(config_max_new_tokens=10**9), "max_new_tokens must be at most"),
    "longest of many digits": (changed(config_max_new_tokens=10**200), "must be at most 1,048,576"),
    "a far pin": (
        changed(config_max_new_tokens=10**5, config_pinned=[[99_999, 3]]),
        "config.pinned must be at most 1,999",
    ),
    "a block that is drawn": (with_block(65), "its size must be at most 64"),
    "a block far away": (with_block(16, MAX_POSITIONS), "its end must be at most 2,000"),
    "many tokens": (committing(100_000), "tokens of the answer must be at most 2,000"),
    "unseen characters": (of_texts(UNSEEN * 100), "unseen characters"),
    "spaces": (of_texts(" " * 1000), "unseen characters"),
    "lone bytes": (of_texts("\\xE2" * 400), "unseen characters"),
    "a long prompt": (
        changed(prompt="x" * 20_001),
        "prompt: its characters must be at",
    ),
    "a long name": (changed(model="x" * 20_001), "trace.model: its characters must be at most"),
    "a prompt of marks": (
        changed(prompt="a" + MARK * 19_999),
        "prompt: its piled-up marks must",
    ),
    "a text of marks": (changed(text="a" + MARK * 19_999), "text: its piled-up marks must be"),
    "tokens of marks": (of_texts("a" + MARK * 500), "unseen characters"),
    "another text": (changed(text=PLAIN["text"] + "7"), "trace.text: must be the text of the tok"),
    "another token": (with_other_token(), "committed at position 0 must be the one revealed there"),
    "an end that is none": (changed(finish="end_of_sequence"), "must not be end_of_sequence"),
    "a length that is none": (changed(config_max_new_tokens=40), "must not be length where the"),
    "no step": (changed(events=[]), "must hold at least one forward pass"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_trace_that_is_too_much_is_refused_in_one_line(name):
    text, sentence = REFUSED[name]
    with pytest.raises(TraceError) as error:
        read_trace(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) <= 300


@pytest.mark.parametrize("text", [None, 3, ["x"], "x" * (MAX_FILE_BYTES + 1)])
def test_what_is_no_text_or_too_long_is_refused(text):
    with pytest.raises(ArgumentError, match="trace file"):
        read_trace(text)


@pytest.mark.parametrize(
    "text",
    [
        changed(),
        changed(config_block_size=MAX_SHOWN_BLOCK),
        of_texts("\n"),
        of_texts("    "),
        *(path.read_text("utf-8") for path in sorted(Path(TRACES).rglob("*-*.json"))),
    ],
)
def test_an_ordinary_trace_plays(text):
    assert read_trace(text).num_forwards > 0


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
