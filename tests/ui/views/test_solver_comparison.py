"""Solvers compared on one prompt: each decode is the engine's own; bad wishes are told in words."""

import pytest

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.rules import SOLVERS, EntropyBound, LeftToRight
from tests.ui.doubles import story_model
from ui.decode.client import LOCAL
from ui.decode.session import Session, waiting_text
from ui.views.solvers import MOST, chosen, comparison

FORM = {
    "prompt": "p",
    "block_size": 16,
    "max_new_tokens": 48,
    "gamma": 0.35,
    "tau": 0.9,
    "factor": 1.0,
    "k": 2,
    "by": "confidence",
    "seed": 0,
}


def news_of(names, **changes):
    form = {**FORM, **changes}
    return list(comparison(Session(story_model()), names, form, LOCAL))


def test_each_lane_is_the_decode_of_its_solver() -> None:
    news = news_of(["entropy-bound", "left-to-right"])
    assert [each["is_running"] for each in news][-1] is False
    assert "1 of 2 decoded …" in [each["text"] for each in news]
    bound, left = news[-1]["lanes"]
    for lane, solver in ((bound, EntropyBound(0.35)), (left, LeftToRight(2))):
        config = DecodeConfig(solver=solver, max_new_tokens=48)
        trace = sbd_core.generate(story_model(), "p", config)
        assert lane["num_passes"] == trace.num_forwards
        assert [token for token, _, _ in lane["tokens"]] == list(trace.token_ids)
    assert bound["label"] == "Entropy bound (Eq. 8), γ 0.35"
    assert bound["num_passes"] != left["num_passes"]
    assert news[-1]["asked"] == {"prompt": "p", "block_size": 16, "max_new_tokens": 48}


def test_a_lane_has_the_verdict_on_its_answer() -> None:
    [lane] = news_of(["entropy-bound"], prompt="What is 100 + 21?", max_new_tokens=96)[-1]["lanes"]
    assert lane["verdict"]["right"] is True


@pytest.mark.parametrize(
    "names", [None, [], ["nope"], [1], "entropy-bound", list(SOLVERS)[: MOST + 1], [["top-k"]]]
)
def test_a_wish_that_makes_no_sense_is_one_sentence(names) -> None:
    [news] = news_of(names)
    assert news["is_error"]
    assert not news["is_running"]
    assert "olvers" in news["text"]


def test_a_solver_chosen_twice_runs_once_and_a_bad_form_is_said() -> None:
    assert chosen(["top-k", "random", "top-k"]) == ["top-k", "random"]
    assert news_of(["top-k"], prompt="")[-1]["is_error"]
    assert news_of(["entropy-bound"], gamma=-1)[-1]["is_error"]


def test_who_waits_for_others_is_told() -> None:
    session = Session(story_model())
    first = session.queue.join("anna")
    news = comparison(session, ["entropy-bound"], FORM, LOCAL)
    assert next(news)["text"] == waiting_text(1)
    session.queue.leave(first)
    assert list(news)[-1]["lanes"]
