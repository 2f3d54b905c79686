"""Junk posted to every door of the page, past its own script."""

import random
from dataclasses import fields
from typing import Any

import httpx

from tests.ui.doubles import story_model
from tests.ui.served import Served, Visitor, served
from ui.decode.form import Form

JUNK: list[Any] = [None, True, -1, 0.5, "", "x" * 10_000, [], [[]], {}, {"a": []}, "${1}"]
DOORS = ["run/decode", "run/race", "api/decode", "call/decode", "upload"]
MEMBERS = ("solver", "strategy", "gamma", "cells", "kind", "run", "lanes", "text", "name", "config")
"""Names in what the page's script sends with an event."""


def post_junk(page: Served, rng: random.Random) -> None:
    """One post to a door that runs are asked for at, and what comes of it."""
    visitor = Visitor(page)
    values = rng.choices(JUNK, k=rng.choice((12, 4, 2, 0)))
    if rng.random() < 0.4:
        values[1:] = [{field.name: rng.choice(JUNK) for field in fields(Form)}]
    if rng.random() < 0.3:
        visitor.post(rng.choice(DOORS), {"data": values, "fn_index": 0})
    else:
        event_data = rng.choice([None, {}, [], {"lanes": [1]}])
        try:
            visitor.ask(rng.choice(list(page.functions)), values, event_data)
        except httpx.HTTPStatusError:
            return
        for message in visitor.messages():
            if message["msg"] in ("process_completed", "process_generating"):
                break
    visitor.leave()


def post_events(page: Served, rng: random.Random) -> None:
    """Junk to everything that is answered beside the line."""
    visitor = Visitor(page)
    for function, num_values in page.quick.items():
        event = {rng.choice(MEMBERS): rng.choice(JUNK), "model": "own"}
        body = {"data": [None] * num_values, "fn_index": function, "event_data": event}
        answer = visitor.post("run/predict", {**body, "session_hash": visitor.session})
        assert answer.status_code < 500, (function, event)
    visitor.leave()


def test_junk_leaves_no_traceback_of_ours_and_the_page_goes_on(capfd):
    rng = random.Random(16)
    with served(story_model()) as page:
        for _ in range(20):
            post_junk(page, rng)
            post_events(page, rng)
        visitor = Visitor(page)
        visitor.ask_api()
        assert visitor.ending() == "done"
        visitor.leave()
    # Gradio logs one of its own for a post with too few values.
    tracebacks = capfd.readouterr().err.split("Traceback")[1:]
    assert [text for text in tracebacks if "/ui/" in text or "/sbd_core/" in text] == []
