"""A visitor's runs: refusals, turns in line, and what leaves the model free; scripted models."""

import json
from types import SimpleNamespace

import pytest

from sbd_core.config import MAX_ROWS
from sbd_core.errors import ArgumentError, ModelError, SetBlockDecodingError
from tests.ui.doubles import ANSWER, Coming, counted_caches, outcome, story_model
from ui.decode import session as session_module
from ui.decode.fair_queue import MAX_PLACES, QueueFull
from ui.decode.form import USUAL_ROWS, Form, checked, lane_forms, message_of
from ui.decode.session import (
    LOADING_TEXT,
    Client,
    Session,
    Update,
    waiting_text,
)


def updates(form: Form, model=None) -> list[Update]:
    return list(Session(model or story_model()).decode(form))


def lines(news: list[Update]) -> list[dict]:
    return [json.loads(row) for update in news for row in update.lines.split("\n") if row]


def strategies(row: dict) -> list[str]:
    return [config["strategy"] for config in row["lanes"]]


BAD_FORMS = {
    "empty prompt": (Form(""), "Prompt must not be empty."),
    "a list as prompt": (Form(["x"]), "Prompt must not be empty."),
    "1 MB prompt": (Form("x" * 2**20), "Prompt must be at most 2,000 characters; got 1048576."),
    "block beyond drawing": (
        Form("p", strategy="ntp", block_size=65),
        "Block size must be at most 64",
    ),
    "block beyond all": (Form("p", strategy="ntp", block_size=10**9), "Block size must be a whole"),
    "block too small": (Form("p", block_size=1), "Block size must be from 2 to 16"),
    "block not whole": (
        Form("p", block_size=7.5),
        "Block size must be a whole number >= 1; got 7.5",
    ),
    "block not a number": (Form("p", block_size="many"), "Block size must be a whole number"),
    "gamma below 0": (Form("p", gamma=-0.1), "γ must be a finite number >= 0; got -0.1."),
    "gamma is missing": (Form("p", gamma=None), "γ must be a finite number"),
    "unknown solver": (Form("p", solver="magic"), "Solver must be one of entropy-bound, "),
    "unknown strategy": (Form("p", strategy="magic"), "Strategy must be one of sbd, "),
    "tau above 1": (Form("p", solver="confidence-threshold", tau=1.5), "τ must be a finite"),
    "rows as text": (Form("p", strategy="verify", max_rows="slow"), "Rows at most must be a whole"),
    "a penalty below 0": (Form("p", repetition_penalty=-1), "Repetition penalty must be a finite"),
    "no tokens a pass": (Form("p", solver="top-k", k=0), "Tokens per forward pass must be a whole"),
    "unknown measure": (Form("p", solver="top-k", by="luck"), "Best by must be one of"),
    "answer too long": (Form("p", max_new_tokens=257), "Longest answer must be at most 256"),
}


@pytest.mark.parametrize("name", BAD_FORMS)
def test_bad_form_gives_one_line_that_names_the_rule(name):
    form, message = BAD_FORMS[name]
    news, told = outcome(Session(story_model()).decode(form))
    assert news == []
    assert told.startswith(message)
    assert "\n" not in told
    assert len(told) < 400


def test_message_escapes_what_could_break_the_line():
    text = message_of(ArgumentError("solver", "must be known", "a\nb\u202e<script>"))
    assert text == "Solver must be known; got 'a\\nb\\u202e<script>'."


def test_defaults_of_the_form_are_valid_and_whole_floats_are_accepted():
    prompt, config = checked(Form("p", block_size=8.0, max_new_tokens=32.0))
    assert (prompt, config.block_size, config.max_new_tokens) == ("p", 8, 32)


def test_decode_streams_its_lane_then_next_token_prediction_to_the_same_text():
    rows = lines(updates(Form("p")))
    assert rows[0]["type"] == "run"
    assert strategies(rows[0]) == ["sbd", "ntp"]
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    lanes = [row["lane"] for row in rows[1:]]
    own = lanes.count("sbd")
    assert lanes == ["sbd"] * own + ["ntp"] * (len(lanes) - own)
    assert (rows[own]["type"], rows[1]["kind"], rows[own + 1]["kind"]) == (
        "end",
        "prefill",
        "prefill",
    )
    ends = {row["lane"]: row for row in rows if row["type"] == "end"}
    assert {row["text"] for row in ends.values()} == {ANSWER}
    assert {row["finish"] for row in ends.values()} == {"end_of_sequence"}
    steps = {lane: sum(row.get("lane") == lane for row in rows) - 1 for lane in ends}
    assert steps["sbd"] < steps["ntp"]


def test_model_without_a_mask_token_decodes_one_lane():
    rows = lines(updates(Form("p", strategy="ntp"), story_model(mask_token_id=None)))
    assert strategies(rows[0]) == ["ntp"]
    with pytest.raises(ArgumentError, match="strategy: must be ntp"):
        updates(Form("p"), story_model(mask_token_id=None))


def test_who_waited_as_long_as_anybody_may_is_told_and_leaves_the_line(monkeypatch):
    session = Session(story_model())
    stream = session.decode(Form("p"))
    next(stream)
    monkeypatch.setattr(session_module, "MAX_PATIENCE_SECONDS", -1.0)
    told = outcome(session.decode(Form("p")))[1]
    assert told == "The model is busy; try again in a minute."
    monkeypatch.undo()
    assert next(session.decode(Form("p"))).message == waiting_text(1)
    stream.close()


def test_a_prompt_is_tokenized_once_for_all_lanes():
    model = story_model()
    asked, encode = [], model.encode
    model.encode = lambda prompt, *, is_raw: asked.append(prompt) or encode(prompt, is_raw=is_raw)
    updates(Form("p"), model)
    assert asked == ["p"]


@pytest.mark.parametrize(
    ("failure", "words"),
    [(TypeError("secret"), "the log says where"), (MemoryError(), "ran out of memory")],
)
def test_failed_runs_free_the_model_and_the_log_says_where_but_no_word(failure, words, caplog):
    session = Session(story_model())
    outcome(session.decode(Form("")))

    def fail(requests):
        raise failure

    session.model().forward_batch = fail
    assert words in outcome(session.decode(Form("p")))[1]
    assert "in fail" in caplog.text
    assert "secret" not in caplog.text
    assert session.queue.num_ahead(session.queue.join()) == 0


def test_the_first_news_brings_the_first_reveal_and_the_next_ones_wait(monkeypatch):
    monkeypatch.setattr(session_module, "SECONDS_TO_FIRST", 1000.0)
    monkeypatch.setattr(session_module, "SECONDS_BETWEEN_UPDATES", 1000.0)
    news = updates(Form("p"))
    assert len(news) == 2
    first = lines(news[:1])
    assert [row["type"] for row in first] == ["run", "step", "step"]
    assert "reveals" in first[-1]


def test_at_most_eight_sendings_a_second_after_the_first(monkeypatch):
    model, now = story_model(), [0.0]
    forward_batch = model.forward_batch

    def pass_of_20_milliseconds(requests):
        now[0] += 0.02
        return forward_batch(requests)

    model.forward_batch = pass_of_20_milliseconds
    monkeypatch.setattr(session_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    news = updates(Form("p", strategy="ntp"), model)
    _, *middle, _ = [sum(row["type"] == "step" for row in lines([update])) for update in news]
    assert len(middle) > 5
    assert set(middle) == {7}


def test_a_decode_waits_for_its_model_in_words_and_loses_nothing():
    coming = Coming(story_model)
    stream = Session(coming.lazy).decode(Form("p"))
    assert next(stream).message == LOADING_TEXT
    coming.go_on.set()
    coming.lazy.wait()
    rows = lines(list(stream))
    assert rows[0]["type"] == "run"
    assert {row["text"] for row in rows if row["type"] == "end"} == {ANSWER}


def test_a_model_that_cannot_be_loaded_is_told_to_who_waits_and_to_the_program():
    def load():
        raise ModelError("m: has no weights")

    coming = Coming(load)
    stream = Session(coming.lazy).decode(Form("p"))
    next(stream)
    coming.go_on.set()
    coming.lazy.wait()
    assert isinstance(coming.lazy.failure, ModelError)
    assert outcome(stream) == ([], "m: has no weights")


def test_a_system_message_comes_before_the_prompt():
    asked = [["system", "Be brief."], ["user", "Go on"]]
    assert lines(updates(Form("Go on", system="Be brief.")))[0]["messages"] == asked
    assert "messages" not in lines(updates(Form("Go on")))[0]


@pytest.mark.parametrize("system", [5, ["x"], "x" * 2_001])
def test_a_bad_system_message_is_one_sentence(system):
    with pytest.raises(ArgumentError) as told:
        updates(Form("Go on", system=system))
    assert message_of(told.value) == "System message must be text of at most 2,000 characters."


ENDINGS = {"left": lambda stream: stream.close(), "finished": list}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_that_is_over_keeps_its_events_and_no_cache(ending):
    model, num_alive = counted_caches(story_model())
    session = Session(model)
    for strategy in ("sbd", "verify", "ntp"):
        stream = session.decode(Form("p", strategy=strategy))
        news = next(stream)
        assert num_alive() > 0
        ENDINGS[ending](stream)
        assert num_alive() == 0
        assert news.lanes[0].events


def test_lanes_to_compare_that_are_left_keep_no_cache():
    model, num_alive = counted_caches(story_model())
    session = Session(model)
    running = session.compare(lane_forms(["ntp", "sbd", "verify"], Form("p")))
    next(running)
    assert num_alive() > 0
    running.close()
    assert num_alive() == 0


def test_who_waits_or_is_refused_has_no_cache_yet():
    model, num_alive = counted_caches(story_model())
    session = Session(model)
    first = session.decode(Form("p"))
    next(first)
    before = num_alive()
    waiting = [session.decode(Form("p"), client=Client(str(i))) for i in range(80)]
    told = []
    for stream in waiting:
        try:
            told.append(next(stream).message)
        except QueueFull as error:
            told.append(str(error))
    assert num_alive() == before
    assert sum("The page is full" in words for words in told) == 80 - (MAX_PLACES - 1)
    first.close()


def deaf_after(count: int) -> Client:
    """A client who fetches so much news and no more."""
    asked = iter(range(count))
    return Client("deaf", lambda: next(asked, None) is not None)


def test_a_run_that_nobody_listens_to_ends():
    session = Session(story_model())
    forms = lane_forms(["ntp"], Form("p"))
    for run in (session.decode(Form("p"), client=deaf_after(5)),
                session.compare(forms, deaf_after(5))):  # fmt: skip
        with pytest.raises(SetBlockDecodingError, match="nobody listens to this run any more"):
            list(run)
    assert session.queue.num_ahead(session.queue.join()) == 0


def test_the_rows_of_verify_depend_on_what_decodes(monkeypatch):
    cpu, gpu = (SimpleNamespace(device=name) for name in ("cpu", "cuda:0"))
    assert [session_module.usual_rows(each) for each in (cpu, gpu)] == [USUAL_ROWS["CPU"], MAX_ROWS]
    monkeypatch.setattr(session_module, "on_zero_gpu", lambda: True)
    assert session_module.usual_rows(cpu) == MAX_ROWS
