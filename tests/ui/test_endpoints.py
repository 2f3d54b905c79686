"""Requests that gradio_client can make of a running page, and those it cannot."""

import gc
from itertools import pairwise

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import sbd_core.decoding.api as api_module
from sbd_core.events import StepEvent
from sbd_core.solvers import ConfidenceThreshold, TopK
from sbd_core.trace import Trace
from tests.ui.doubles import ANSWER, story_model
from tests.workers import free_port
from ui import endpoints
from ui import page as page_module
from ui.decode import session as session_module
from ui.decode.form import USUAL_ROWS, Form, Limits
from ui.decode.session import LOCAL, Session
from ui.share.permalink import form_of


@pytest.fixture(scope="module")
def client():
    demo = page_module.build(story_model())
    address = {"server_name": "127.0.0.1", "server_port": free_port()}
    options = {"quiet": True, "prevent_thread_lock": True, **page_module.launch_options()}
    _, url, _ = demo.launch(**address, **options)
    made = Client(url, verbose=False)
    yield made
    made.close()
    demo.close()
    gc.collect()


def test_only_the_named_endpoints_are_listed_with_typed_parameters(client):
    info = client.view_api(return_format="dict")
    assert set(info["named_endpoints"]) == {"/decode", "/race", "/trace_to_html"}
    assert info["unnamed_endpoints"] == {}
    parameters = info["named_endpoints"]["/decode"]["parameters"]
    types = {item["parameter_name"]: item["type"].get("type") for item in parameters}
    assert types.pop("pinned") is None  # a list or nothing
    assert types.pop("repetition_penalty") is None  # a number or nothing
    assert types.pop("strategy") is None  # a name or nothing
    assert types == {
        "prompt": "string", "solver": "string", "gamma": "number",
        "block_size": "integer", "max_new_tokens": "integer", "seed": "integer",
        "template": "string", "tau": "number", "factor": "number", "k": "integer", "by": "string",
        "max_rows": "integer", "model": "string", "system": "string",
    }  # fmt: skip
    for endpoint in info["named_endpoints"].values():
        for item in endpoint["parameters"]:
            assert f"{item['parameter_name']}: " in endpoint["description"]


def test_an_update_of_decode_costs_its_own_events_only(monkeypatch):
    """Each forward pass is written as a line once, and once more in the trace at the end."""
    monkeypatch.setattr("ui.decode.session.SECONDS_TO_FIRST", 0)
    monkeypatch.setattr("ui.decode.session.SECONDS_BETWEEN_YIELDS", 0)
    num_written, num_traced = 0, 0
    to_data, make_trace = StepEvent.to_data, api_module.make_trace

    def counted(event):
        nonlocal num_written
        num_written += 1
        return to_data(event)

    def counted_trace(*args):
        nonlocal num_traced
        num_traced += len(args[-1])
        return make_trace(*args)

    monkeypatch.setattr(StepEvent, "to_data", counted)
    monkeypatch.setattr(api_module, "make_trace", counted_trace)
    form = Form("p", strategy="ntp")
    *updates, last = endpoints.decoded(Session(story_model()), form, LOCAL)
    trace = Trace.from_json(last["trace"])
    assert len(updates) >= trace.num_forwards
    assert [last[name] for name in ("text", "num_tokens")] == [trace.text, trace.num_tokens]
    assert num_written == num_traced == 2 * trace.num_forwards


def test_decode_streams_to_a_whole_trace_and_its_page(client):
    job = client.submit("p", gamma=0.35, api_name="/decode")
    last = job.result()
    assert job.outputs()[-1] == last
    assert last["is_done"]
    assert last["text"] == ANSWER
    trace = Trace.from_json(last["trace"])
    assert (trace.num_tokens, trace.num_forwards) == (last["num_tokens"], last["num_forwards"])
    page = client.predict(last["trace"], api_name="/trace_to_html")
    assert page.startswith("<!doctype html>")
    assert '"type":"end"' in page


def test_decode_tells_what_is_known_while_it_runs(client, monkeypatch):
    monkeypatch.setattr("ui.decode.session.SECONDS_BETWEEN_YIELDS", 0.0)
    monkeypatch.setattr("ui.decode.session.SECONDS_TO_FIRST", 0.0)
    job = client.submit("p", api_name="/decode")
    *running, last = (job.result(), job.outputs())[1]
    assert len(running) > 3
    assert not any(each["is_done"] or each["trace"] for each in running)
    passes = [each["num_forwards"] for each in [*running, last]]
    assert passes == sorted(passes)
    assert passes[0] < passes[-1]
    assert last["text"].startswith(running[1]["text"])


def test_decode_takes_the_parameters_of_every_solver_and_a_template(client):
    settings = {"solver": "top-k", "k": 3, "by": "margin", "block_size": 8}
    config = Trace.from_json(client.predict("p", **settings, api_name="/decode")["trace"]).config
    assert (config.solver, config.block_size) == (TopK(3, "margin"), 8)
    settings = {"solver": "confidence-threshold", "tau": 0.5, "template": "1___."}
    trace = Trace.from_json(client.predict("p", **settings, api_name="/decode")["trace"])
    assert trace.config.solver == ConfidenceThreshold(0.5)
    assert list(trace.config.pinned) == [0, 2, 3]
    settings = {"strategy": "verify", "max_rows": 9, "repetition_penalty": 1.25}
    trace = Trace.from_json(client.predict("p", **settings, api_name="/decode")["trace"])
    assert trace.config.max_rows == 9
    assert trace.config.repetition_penalty == 1.25
    assert trace.text == ANSWER
    address = {"prompt": "p", "strategy": "verify", "max_rows": "9", "penalty": "1.25"}
    assert form_of(address) == Form("p", **settings)
    trace = Trace.from_json(client.predict("p", "verify", api_name="/decode")["trace"])
    assert trace.config.max_rows == USUAL_ROWS["CPU"]
    assert trace.text == ANSWER


def test_a_link_of_an_older_page_decodes_without_what_is_not_known_any_more():
    old = {"prompt": "p", "strategy": "verify", "predrafts": "2", "rows": "fixed"}
    assert form_of(old) == Form("p", strategy="verify")


def test_race_gives_a_row_a_lane(client):
    lanes = ["ntp", "sbd:0.1", "sbd:2", "verify"]
    job = client.submit("p", lanes, api_name="/race")
    rows = job.result()
    # While a lane runs, the rows so far may be sent again: none before the first lane is done.
    sent = [[], *job.outputs()]
    assert [more for less, more in pairwise(sent) if more != less] == [
        rows[:n] for n in (1, 2, 3, 4)
    ]
    assert [row["lane"] for row in rows] == lanes
    passes = {row["lane"]: row["num_forwards"] for row in rows}
    assert passes["ntp"] == rows[0]["num_tokens"]
    assert passes["sbd:2"] < passes["sbd:0.1"] < passes["ntp"]
    assert {row["text"] for row in rows if row["lane"] != "sbd:2"} == {ANSWER}


@pytest.mark.parametrize("door", ["decode", "race"])
def test_who_asks_by_program_is_told_how_many_are_before_them(door, monkeypatch):
    for name in ("SECONDS_BETWEEN_ROWS", "SECONDS_BETWEEN_WAITING_ROWS"):
        monkeypatch.setattr(endpoints, name, 0.0)
    session = Session(story_model())
    line = [session.queue.join("anna"), session.queue.join("bert")]
    if door == "decode":
        news = ([row] for row in endpoints.decoded(session, Form("p"), LOCAL))
    else:
        news = endpoints.raced(session, "p", ["ntp", "verify"], {}, LOCAL)
    waiting = []
    for ticket in line:
        waiting.append(next(news))
        session.queue.leave(ticket)
    assert [[row["num_ahead"] for row in rows] for rows in waiting] == [[2], [1]]
    *_, last = news
    assert {row["num_ahead"] for row in last} == {0}
    assert {row["text"] for row in last} == {ANSWER}
    assert {frozenset(row) for rows in waiting for row in rows} == {frozenset(last[0])}


def test_a_race_that_takes_too_long_is_refused_and_no_lane_cut_short(client, monkeypatch):
    monkeypatch.setattr(session_module, "USUAL", Limits(max_run_seconds=-1.0))
    with pytest.raises(AppError, match="this page’s limit"):
        client.predict("p", ["ntp"], api_name="/race")


DECODE_VALUES = [
    *("p", "sbd", "entropy-bound", 0.35, 16, 128, 0, [], "", 0.9, 1.0, 2, "confidence", 0, 0.5)
]


@pytest.mark.parametrize(
    ("name", "values"), [("decode", DECODE_VALUES), ("race", ["p", ["ntp"], 16, 32])]
)
@pytest.mark.parametrize("door", ["run", "api"])
def test_a_direct_post_does_not_pass_by_the_line(client, door, name, values):
    answer = httpx.post(f"{client.src}gradio_api/{door}/{name}", json={"data": values})
    assert answer.status_code == 404
    assert ANSWER not in answer.text


BAD_CALLS = {
    "bad gamma": ("/decode", ("p",), {"gamma": -1}, "γ must be a finite number"),
    "bad pins": ("/decode", ("p",), {"pinned": [[1]]}, "must be a list of offsets"),
    "no lanes": ("/race", ("p", []), {}, "lanes must be a list of 1 to 6"),
    "lane's gamma": ("/race", ("p", ["sbd:x"]), {}, "γ must be a finite number"),
    "no trace": ("/trace_to_html", ("", ""), {}, "trace: must be JSON"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_answered_by_a_sentence(client, name):
    endpoint, values, named, sentence = BAD_CALLS[name]
    with pytest.raises(AppError, match="(?s)" + sentence.replace("[", r"\[")):
        client.predict(*values, api_name=endpoint, **named)
