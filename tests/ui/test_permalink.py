"""An address as a form: whatever it holds can be checked, and sent back to the page."""

import contextlib
import json
from types import SimpleNamespace
from urllib.parse import parse_qsl

import gradio as gr
import orjson
import pytest

from sbd_core.errors import SetBlockDecodingError
from tests.ui.doubles import story_model
from ui.decode.session import LOCAL, Session, Visit
from ui.share.permalink import FIELDS, NUM_SHOWN, form_of, linked_run
from ui.views.controls import FIELD_IDS

HUGE = ["0", "-1", "65", "100000", "9" * 20, "9" * 400, "1e9", "nan", "x", ""]


@pytest.mark.parametrize("value", [*HUGE, "18446744073709551616", "-9223372036854775809"])
def test_every_number_of_a_link_can_be_sent_back(value):
    session = Session(story_model())
    for name in FIELDS.keys() - {"pins"}:
        form = form_of({"prompt": "x", "strategy": "ntp", name: value})
        orjson.dumps([getattr(form, field) for field in FIELDS.values()])
        with contextlib.suppress(SetBlockDecodingError):
            session.open(form)


def test_a_block_of_any_size_in_a_link_is_refused_whatever_the_strategy():
    for strategy in ("ntp", "sbd", "verify"):
        for block in ("65", "100000", "9" * 20, "9" * 400):
            form = form_of({"prompt": "x", "strategy": strategy, "block": block})
            with pytest.raises(SetBlockDecodingError, match="block_size"):
                Session(story_model()).open(form)


FORM_FIELDS = ["prompt", *FIELD_IDS]

BAD_LINKS = {
    "gamma=abc": "γ must be a finite number >= 0; got 'abc'.",
    "gamma=-1": "γ must be a finite number >= 0; got -1.",
    "gamma=nan": "γ must be a finite number",
    "block=99": "Block size must be from 2 to 16",
    "tokens=1e9": "Longest answer must be at most 256",
    "strategy=magic": "Strategy must be one of",
    "solver=%3Cscript%3E": "Solver must be one of",
    "seed=-3": "Seed must be a whole number",
    "pins=1:2;3": "pins must be offsets and token ids like 3:17,5:99",
    "pins=3:5,3:6": "Pins must name each position once; got 3.",
    "pins=300:5": "A pin’s position must be a whole number",
    "pins=3:999999": "pinned[3] must hold token ids from 0 to",
}

BAD_COMPARISONS = {
    "lanes=ntp,%3Cb%3E": "lanes must each be one of ntp, verify, sbd",
    "lanes=sbd:1e999": "γ must be a finite number >= 0; got inf.",
    "lanes=ntp,ntp,ntp,ntp,sbd": "Ways to decode must be 1 to 4",
    "lanes=verify&block=99": "Block size must be from 2 to 16",
}


def answer_to(query: str) -> tuple:
    """The one value of each output that the page's load gives for an address."""

    def shown(*_):
        pytest.fail("decoded")

    opened = linked_run(Session(story_model()), shown, lambda request: LOCAL, FORM_FIELDS)
    request = SimpleNamespace(query_params=dict(parse_qsl(query)))
    [outputs] = opened(Visit(), "", request)
    return outputs


@pytest.mark.parametrize("part", BAD_LINKS)
def test_a_bad_link_is_answered_by_a_sentence_and_keeps_its_prompt(part) -> None:
    outputs = answer_to(f"prompt=mine&{part}")
    status = json.loads(outputs[1])
    assert status["kind"] == "error"
    assert status["text"].startswith(f"This link cannot be decoded: {BAD_LINKS[part]}")
    assert outputs[NUM_SHOWN + 1 + FORM_FIELDS.index("prompt")] == "mine"


@pytest.mark.parametrize("part", BAD_COMPARISONS)
def test_a_bad_link_of_lanes_is_answered_by_a_sentence_and_keeps_its_prompt(part) -> None:
    outputs = answer_to(f"prompt=mine&{part}")
    news = json.loads(outputs[NUM_SHOWN])
    assert news["is_error"]
    assert news["text"].startswith(f"This link cannot be compared: {BAD_COMPARISONS[part]}")
    assert outputs[NUM_SHOWN + 1 + FORM_FIELDS.index("prompt")] == "mine"


@pytest.mark.parametrize("query", ["", "with=story", "with=other", "unknown=1"])
def test_an_address_that_asks_for_no_decode_changes_nothing(query) -> None:
    """The model that it names the page's script chooses."""
    assert all(output == gr.skip() for output in answer_to(query))
