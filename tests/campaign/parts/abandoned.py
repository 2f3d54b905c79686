"""Runs that are left in every way there is, and the KV caches that are alive afterwards."""

import threading
import time
import weakref
from typing import Any

from tests.campaign.figure import Figure
from tests.campaign.server import Served, Visitor, served
from tests.ui.doubles import story_model

SECONDS_TO_CLEAR = 5.0
SECONDS_A_PASS = 0.01


def watched(model: Any) -> tuple[Any, Any, Any]:
    """The model, slower; how many of the KV caches it made are alive; when it made the last one."""
    made: list[weakref.ref[Any]] = []
    times = [time.monotonic()]
    new_caches, forward = model.new_caches, model.forward_batch

    def several(count: int) -> Any:
        caches = new_caches(count)
        made.extend(map(weakref.ref, caches))
        times.append(time.monotonic())
        return caches

    def slow(requests: Any) -> Any:
        time.sleep(SECONDS_A_PASS)
        return forward(requests)

    model.new_caches, model.forward_batch = several, slow
    return model, lambda: sum(ref() is not None for ref in made), lambda: times[-1]


def leave_a_run(page: Served, number: int) -> str:
    """Begin a run, see that it is under way, leave it; how."""
    ways = ["close", "cancel", "api", "api-race", "race", "deaf"]
    way = ways[number % len(ways)]  # deaf: nobody ever fetches what it says
    visitor = Visitor(page, f"127.0.0.{2 + number % 200}")
    if way == "api":
        event = visitor.ask_api()
    elif way == "api-race":
        event = visitor.ask("api-race", ["p", ["ntp", "sbd:0.1"], 16, 128])
    elif way == "race":
        data = {"lanes": ["ntp", "sbd-low"], "low": 0.1, "high": 0.35}
        event = visitor.ask("race", ["p", 16, 128, 0], data)
    else:
        event = visitor.ask_page()
    if way != "deaf":
        for count, message in enumerate(visitor.messages()):
            if count > 3 or message["msg"] == "process_completed":
                break
    if way == "cancel":
        body = {"session_hash": visitor.session, "fn_index": page.functions["page"]}
        visitor.post("cancel", {**body, "event_id": event})
    visitor.leave()
    return way


def caches_after(count: int) -> Figure:
    """The caches alive some seconds after the last of `count` runs was left."""
    model, num_alive, last_made = watched(story_model())
    ways: list[str] = []
    with served(model) as page:
        for start in range(0, count, 8):
            numbers = range(start, min(start + 8, count))
            threads = [
                threading.Thread(target=lambda n=n: ways.append(leave_a_run(page, n)))
                for n in numbers
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
        most = num_alive()
        # A run that was left while it waited in line begins when its turn comes.
        while (left := last_made() + SECONDS_TO_CLEAR - time.monotonic()) > 0:
            time.sleep(left)
        alive = num_alive()
        ending, _ = run_now(page)
    return Figure(
        f"caches alive {SECONDS_TO_CLEAR:g} s after the last of {count} abandoned runs",
        alive + (ending != "done"),
        0,
        {"alive_at_once": most, "num_left": len(ways), "next_run": ending},
    )


def run_now(page: Served) -> tuple[str, float]:
    """A run of somebody who stays: the page still works."""
    visitor = Visitor(page)
    visitor.ask_api()
    try:
        return visitor.listen()
    finally:
        visitor.leave()
