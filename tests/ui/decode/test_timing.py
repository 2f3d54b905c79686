"""A decode timed a few times."""

import pytest

from tests.ui.doubles import story_model
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.timing import NUM_TIMINGS, timings


@pytest.fixture(scope="module")
def session():
    return Session(story_model())


def test_each_news_holds_one_timing_more_of_both(session):
    counts = [
        (len(news["seconds"]), len(news["ntpSeconds"]))
        for news in timings(session, Form("p", gamma=0.35, ask="r"))
    ]
    assert counts == [(number, number) for number in range(1, NUM_TIMINGS + 1)]


def test_seconds_are_those_of_the_engine_and_the_run_is_named(session):
    *_, news = timings(session, Form("p", gamma=0.35, ask="r"))
    assert news["run"] == "r"
    assert all(seconds > 0 for seconds in news["seconds"] + news["ntpSeconds"])


def test_bad_settings_are_one_sentence_and_free_the_line(session):
    (news,) = timings(session, Form("", ask="r"))
    assert news["error"] == "Prompt must not be empty."
    assert session.queue.num_ahead(session.queue.join()) == 0
