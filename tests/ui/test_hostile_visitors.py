"""Visitors come all at once, leave in every way, forge addresses, or post junk to every door."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import httpx
import pytest

import sbd_core
from sbd_core import DecodeConfig
from tests.ui.doubles import counted_caches, held, slowed, story_model, wait_for
from tests.ui.served import Served, Visitor, served
from ui.decode.form import PUBLIC, Form

PROXY = "127.0.0.5"


def endings_of(visitors: list[Visitor], go_on: threading.Event) -> tuple[list[str], list[str]]:
    """Ends of their runs: of those told before the held model goes on, and of the others.

    It goes on once all but the first in line have heard of their run.
    """
    heard: set[Visitor] = set()
    endings: list[str] = []

    def visit(number: int, visitor: Visitor) -> None:
        visitor.ask_page() if number % 2 else visitor.ask_api()
        endings.append(visitor.ending(told=lambda: heard.add(visitor)))
        heard.add(visitor)

    threads = [threading.Thread(target=visit, args=each) for each in enumerate(visitors)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(heard) >= len(visitors) - 1)
    early = [*endings]
    go_on.set()
    for thread in threads:
        thread.join(60)
    for visitor in visitors:
        visitor.leave()
    return early, endings[len(early) :]


def test_who_cannot_be_served_hears_so_at_once_and_all_others_are_served():
    model, go_on = held(story_model())
    with served(model) as page:
        visitors = [Visitor(page, f"127.0.0.{number}") for number in range(2, 20)]
        early, late = endings_of(visitors, go_on)
    assert set(early) == {"full"}
    assert set(late) == {"done"}
    assert len(early) + len(late) == len(visitors)


def test_who_asks_for_pages_of_traces_waits_in_the_line_of_runs_within_its_places():
    model, go_on = held(story_model())
    trace = sbd_core.generate(story_model(), "p", DecodeConfig(max_new_tokens=4)).to_json()
    with served(model, is_public=True) as page:
        visitors = [Visitor(page) for _ in range(PUBLIC.max_places + 2)]
        endings: list[str] = []

        def visit(number: int, visitor: Visitor) -> None:
            visitor.ask_api() if number == 0 else visitor.ask("html", [trace, ""])
            endings.append(visitor.ending())
            visitor.leave()

        threads = [threading.Thread(target=visit, args=each) for each in enumerate(visitors)]
        for thread in threads:
            thread.start()
            time.sleep(0.2)  # the run is first in line
        wait_for(lambda: len(endings) >= 2)
        assert endings == ["full"] * 2
        go_on.set()
        for thread in threads:
            thread.join(60)
    assert endings[2:] == ["done"] * PUBLIC.max_places


FORGERS: dict[str, tuple[str, Callable[[int], str], int]] = {
    "nobody": (PROXY, lambda number: f"192.0.2.1, 198.51.100.{number}", 8),
    "through the proxy": (PROXY, lambda number: f"10.0.0.{number}, 203.0.113.7", PUBLIC.max_places),
    "beside the proxy": ("127.0.0.1", lambda number: f"10.0.0.{number}", PUBLIC.max_places),
}


@pytest.mark.parametrize("who", FORGERS)
def test_behind_a_proxy_everyone_has_places_of_their_own_and_nobody_forges_more(who):
    address, forwarded, num_served = FORGERS[who]
    model, go_on = held(story_model())
    with served(model, is_public=True, proxies=PROXY) as page:
        visitors = [Visitor(page, address, forwarded(number)) for number in range(8)]
        early, late = endings_of(visitors, go_on)
    assert early == ["full"] * (8 - num_served)
    assert late == ["done"] * num_served


def leave(visitor: Visitor, way: str) -> None:
    """Begin a run, see that it is under way, leave it."""
    if way == "an api run":
        event = visitor.ask_api()
    elif way == "an api race":
        event = visitor.ask("api-race", ["p", ["ntp", "sbd:0.1"], 16, 128])
    elif way == "lanes":
        data = {"lanes": ["ntp", "sbd:0.1"], "form": {"prompt": "p"}}
        event = visitor.ask("compare", [], data)
    else:
        event = visitor.ask_page()
    if way != "never listened to":
        for count, message in enumerate(visitor.messages()):
            if count > 3 or message["msg"] == "process_completed":
                break
    if way == "cancelled":
        body = {"session_hash": visitor.session, "fn_index": visitor.page.functions["page"]}
        visitor.post("cancel", {**body, "event_id": event})
    visitor.leave()


def test_runs_that_are_left_in_any_way_leave_no_cache_and_the_page_goes_on():
    ways = ["a run", "cancelled", "an api run", "an api race", "lanes", "never listened to"]
    model, num_alive = counted_caches(slowed(story_model(), 0.01))
    with served(model) as page:
        visitors = [Visitor(page, f"127.0.0.{number}") for number in range(2, 8)]
        leaving = [
            threading.Thread(target=leave, args=each) for each in zip(visitors, ways, strict=True)
        ]
        for thread in leaving:
            thread.start()
        for thread in leaving:
            thread.join(60)
        staying = Visitor(page)
        staying.ask_api()
        assert staying.ending() == "done"
        staying.leave()
        wait_for(lambda: num_alive() == 0)


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
