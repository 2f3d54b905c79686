"""A race: its lanes, its rules, its board. Scripted models only."""

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.rules import EntropyBound
from tests.ui.doubles import ANSWER, Coming, slowed, story_model
from ui.decode import session as session_module
from ui.decode.form import checked
from ui.decode.session import LOADING_TEXT, Session, waiting_text
from ui.hosting.limits import Limits
from ui.views.race import LANES, Entry, forms_of, race

ALL = list(LANES)
GAMMAS = {"low": 0.1, "high": 2.0}


def news_of(entry: Entry, model=None) -> list:
    return list(race(Session(model or story_model()), entry))


def board_of(lanes, **settings):
    return news_of(Entry("p", lanes, **GAMMAS, **settings))[-1].board


def trace(model=None, **settings):
    config = {"solver": EntropyBound(0.35), "max_new_tokens": 128, **settings}
    return generate(model or story_model(), "p", DecodeConfig(**config))


def test_lanes_run_in_their_order_whatever_was_asked_and_only_the_last_news_has_the_board():
    news = news_of(Entry("p", ALL[::-1], **GAMMAS))
    assert [each.board is None for each in news] == [True] * (len(news) - 1) + [False]
    assert [each.is_running for each in news] == [True] * (len(news) - 1) + [False]
    assert [row["name"] for row in news[-1].board["lanes"]] == ALL
    told = [each.message.split(":")[0] for each in news[1:-1]]
    assert list(dict.fromkeys(told)) == [
        f"Running lane {number} of 5" for number in (1, 2, 3, 4, 5)
    ]
    named = {each.message.split(": ")[1].split(", forward pass")[0] for each in news[1:-1]}
    assert named == {row["label"] for row in news[-1].board["lanes"]}


def test_the_board_counts_what_the_traces_count():
    rows = {row["name"]: row for row in board_of(ALL)["lanes"]}
    plain = trace(strategy="ntp", solver=EntropyBound())
    assert rows["ntp"]["num_passes"] == rows["ntp"]["num_tokens"] == plain.num_tokens
    assert rows["sbd-high"]["num_passes"] < rows["sbd-low"]["num_passes"] < plain.num_forwards
    for row in rows.values():
        assert len(row["times"]) == row["num_passes"]
        assert len(row["tokens"]) == row["num_tokens"]
        assert row["seconds"] == sum(row["times"]) / 1e6, "one number for the lane and the table"
        passes = {number for _, _, number in row["tokens"]}
        assert passes <= set(range(row["num_passes"]))
    assert [token[0] for token in rows["verify"]["tokens"]] == list(plain.token_ids)
    text = "".join(text for _, text, _ in rows["verify"]["tokens"][:-1])
    assert text == ANSWER


def test_verify_alone_has_the_rows_that_the_form_chose():
    forms = forms_of(Entry("p", ALL, row_policy="fewest-passes"))
    policies = {lane: checked(form)[1].row_policy for lane, form in forms.items()}
    assert policies == dict.fromkeys(ALL, "fixed") | {"verify": "fewest-passes"}


def test_a_lane_that_the_limit_cut_off_says_which_and_one_that_ended_does_not():
    assert {row["limit"] for row in board_of(ALL, max_new_tokens=16)["lanes"]} == {16}
    assert {row["limit"] for row in board_of(ALL)["lanes"]} == {None}


def test_the_lane_that_drafts_ahead_answers_as_next_token_prediction_does():
    rows = {row["name"]: row for row in board_of(["ntp", "verify", "verify-predraft"])["lanes"]}
    answers = [[token_id for token_id, _, _ in row["tokens"]] for row in rows.values()]
    assert answers[0] == answers[1] == answers[2]


BAD = {
    "no lanes": (Entry("p", []), "The race must have one lane or more; check its box."),
    "lanes no list": (Entry("p", "ntp"), "The race must have one lane"),
    "unknown lane": (Entry("p", ["ntp", "fast"]), "lanes must each be one of"),
    "lane is a list": (Entry("p", [["ntp"]]), "lanes must each be one of"),
    "gamma": (Entry("p", ["sbd-low"], low=-1), "γ must be a finite number >= 0; got -1."),
    "no gamma": (Entry("p", ["sbd-high"], high=None), "γ must be a finite number"),
    "equal gammas": (Entry("p", ["sbd-low", "sbd-high"], low=1, high=1), "another γ must differ"),
    "empty prompt": (Entry(" ", ["ntp"]), "Prompt must not be empty."),
    "block": (Entry("p", ["sbd-low"], block_size=99), "Block size must be from 2 to 16"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_entry_gives_one_sentence_and_no_run(name):
    entry, sentence = BAD[name]
    model = story_model()
    (news,) = news_of(entry, model)
    assert news.message.startswith(sentence)
    assert news.is_error
    assert not news.is_running
    assert model.calls == []


def test_stopping_frees_the_model_at_once():
    session = Session(story_model())
    running = race(session, Entry("p", ALL))
    next(running)
    waiting = race(session, Entry("p", ["ntp"]))
    assert next(waiting).message == waiting_text(1)
    running.close()
    assert next(waiting).message == "Warming up …"
    waiting.close()
    assert session.queue.num_ahead(session.queue.join()) == 0


def test_a_race_that_takes_too_long_says_what_to_change(monkeypatch):
    monkeypatch.setattr(session_module, "USUAL", Limits(max_run_seconds=0.05))
    model = story_model()
    slowed(model, 0.02)
    last = news_of(Entry("p", ALL), model)[-1]
    assert last.is_error
    assert "choose fewer lanes or a shorter answer" in last.message
    assert last.board is None


def test_what_breaks_inside_is_said_and_frees_the_model(caplog):
    session = Session(story_model())
    session.model().forward_batch = None  # type: ignore[assignment]
    last = list(race(session, Entry("p", ["ntp"])))[-1]
    assert "log" in last.message
    assert session.queue.num_ahead(session.queue.join()) == 0


def test_a_race_waits_for_its_model_in_words() -> None:
    coming = Coming(story_model)
    stream = race(Session(coming.lazy), Entry("p", ["ntp", "sbd-low"]))
    assert next(stream).message == LOADING_TEXT
    coming.go_on.set()
    assert list(stream)[-1].board is not None
