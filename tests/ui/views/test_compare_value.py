"""Lanes compared: their names, their one run, what is refused. Scripted models only."""

import json

import pytest

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from sbd_core.solvers import SOLVERS, EntropyBound, LeftToRight
from tests.ui.doubles import slowed, story_model
from ui.decode import session as session_module
from ui.decode.form import Form, Limits, checked, lane_forms, message_of
from ui.decode.session import Session, Update, waiting_text
from ui.examples import compared_traces

LANES = ["ntp", "sbd:0.35", "left-to-right:2", "verify"]
FORM = Form("p", max_new_tokens=48)


def news_of(lanes, form=FORM, model=None) -> list[Update]:
    return list(Session(model or story_model()).compare(lane_forms(lanes, form)))


def lines_of(news) -> list[dict]:
    return [json.loads(line) for each in news for line in each.lines.splitlines()]


def test_the_lanes_are_one_run_in_which_each_takes_its_turn():
    news = news_of(LANES)
    assert [each.is_running for each in news] == [True] * (len(news) - 1) + [False]
    opening, *lines = lines_of(news)
    assert (opening["type"], opening["names"]) == ("run", LANES)
    steps = [line["lane"] for line in lines if line["type"] == "step"]
    assert list(dict.fromkeys(steps[:6])) == LANES
    assert {line["lane"] for line in lines if line["type"] == "end"} == set(LANES)


def test_each_lane_is_the_decode_that_its_name_says():
    lines = lines_of(news_of(LANES))
    for lane, config in {
        "ntp": DecodeConfig(strategy="ntp", max_new_tokens=48),
        "sbd:0.35": DecodeConfig(solver=EntropyBound(0.35), max_new_tokens=48),
        "left-to-right:2": DecodeConfig(solver=LeftToRight(2), max_new_tokens=48),
    }.items():
        trace = sbd_core.generate(story_model(), "p", config)
        steps = [line for line in lines if line["type"] == "step" and line["lane"] == lane]
        assert len(steps) == trace.num_forwards
        assert [token for step in steps for token in step.get("committed", [])] == list(
            trace.token_ids
        )


def test_every_solver_and_strategy_is_a_lane_and_its_name_says_which():
    names = ["ntp", "verify", "sbd:0.2", "top-k:3", "causal-first:0.5", *SOLVERS]
    for name in names:
        [form] = lane_forms([name], FORM).values()
        config, kind = checked(form)[1], name.partition(":")[0]
        rule = "entropy-bound" if kind == "sbd" else kind
        assert rule == (config.solver.name if config.strategy == "sbd" else config.strategy)


def test_the_recorded_lanes_are_what_their_names_say():
    traces = compared_traces()
    prompt = next(iter(traces.values())).prompt
    forms = lane_forms(list(traces), Form(prompt))
    for name, trace in traces.items():
        config = checked(forms[name])[1]
        assert (config.strategy, config.solver) == (trace.strategy, trace.config.solver)


def test_what_the_lanes_share_comes_from_the_form_and_a_lane_asked_for_twice_runs_once():
    forms = lane_forms(["verify", "sbd:2", "verify"], Form("p", max_rows=7, seed=3))
    assert list(forms) == ["verify", "sbd:2"]
    assert forms["verify"].settings["max_rows"] == 7
    assert (forms["sbd:2"].settings["gamma"], forms["sbd:2"].settings["seed"]) == (2, 3)


BAD = {
    "no lanes": ([], "Ways to decode must be 1 to 4; choose one."),
    "lanes no list": ("ntp", "Ways to decode must be 1 to 4"),
    "five lanes": (list(SOLVERS)[:5], "Ways to decode must be 1 to 4"),
    "unknown lane": (["ntp", "fast"], "lanes must each be one of ntp, verify, sbd"),
    "lane is a list": ([["ntp"]], "lanes must each be one of"),
    "a value of none": (["ntp:3"], "lanes ntp takes no value"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lanes_are_refused_in_one_sentence(name):
    lanes, sentence = BAD[name]
    with pytest.raises(ArgumentError) as told:
        lane_forms(lanes, FORM)
    assert message_of(told.value).startswith(sentence)


def test_who_waits_for_others_is_told_and_stopping_frees_the_model_at_once():
    session = Session(story_model())
    running = session.compare(lane_forms(LANES, FORM))
    next(running)
    waiting = session.compare(lane_forms(["ntp"], FORM))
    assert next(waiting).message == waiting_text(1)
    running.close()
    assert "run" in next(waiting).lines
    waiting.close()
    assert session.queue.num_ahead(session.queue.join()) == 0


def test_lanes_that_take_too_long_are_shown_as_far_as_they_got(monkeypatch):
    monkeypatch.setattr(session_module, "USUAL", Limits(max_run_seconds=0.05))
    model = story_model()
    slowed(model, 0.02)
    news = news_of(LANES, model=model)
    assert news[-1].message.startswith("Stopped after")
    ends = {line["lane"]: line["finish"] for line in lines_of(news) if line["type"] == "end"}
    assert ends == dict.fromkeys(LANES, "stopped")
