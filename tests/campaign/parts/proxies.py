"""Visitors behind one proxy, each of an address of their own, and some who forge theirs."""

import threading
import time
from collections.abc import Callable

from tests.campaign.figure import Figure
from tests.campaign.parts.visitors import slow_model
from tests.campaign.server import Visitor, served
from tests.ui.doubles import story_model
from ui.hosting.limits import PUBLIC

PROXY = "127.0.0.5"
SECONDS_BETWEEN_ARRIVALS = 0.05
SECONDS_TO_HEAR = 15.0


def behind_a_proxy(num_visitors: int, num_forgers: int, run_seconds: float) -> Figure:
    """Visitors of a public page neither served nor told, and forgers with more than their places.

    A forger has one address, and as many tabs and invented addresses as they like.
    """
    with served(slow_model(run_seconds), is_public=True, proxies=PROXY) as page:
        endings = all_asked(
            lambda number: Visitor(page, PROXY, f"192.0.2.1, 198.51.100.{number}"), num_visitors
        )
    others = [ending for ending in endings if ending not in ("done", "full")]
    model, go_on = held_model()
    passed = {}
    with served(model, is_public=True, proxies=PROXY) as page:
        forgers: dict[str, Callable[[int], Visitor]] = {
            "through the proxy": lambda n: Visitor(page, PROXY, f"10.0.0.{n}, 203.0.113.7"),
            "beside the proxy": lambda n: Visitor(page, "127.0.0.1", f"10.0.0.{n}"),
        }
        for name, forger in forgers.items():
            go_on.clear()
            most = num_forgers - PUBLIC.max_places
            found = all_asked(forger, num_forgers, go_on, most)
            passed[name] = found.count("done") - PUBLIC.max_places
    return Figure(
        f"of {num_visitors} visitors behind a proxy and 2 times {num_forgers} forged addresses: "
        "not served or told, or past the limit",
        len(others) + (num_visitors - len(endings)) + sum(map(abs, passed.values())),
        0,
        {
            "num_served": endings.count("done"),
            "num_told": endings.count("full"),
            "other_words": sorted(set(others)),
            "past_the_limit": passed,
        },
    )


def held_model() -> tuple[object, threading.Event]:
    """A model that makes no forward pass until the event is set."""
    model, go_on = story_model(), threading.Event()
    forward = model.forward_batch

    def held(requests: object) -> object:
        go_on.wait(SECONDS_TO_HEAR)
        return forward(requests)

    model.forward_batch = held
    return model, go_on


def all_asked(
    visitor_of: Callable[[int], Visitor],
    count: int,
    go_on: threading.Event | None = None,
    num_first: int = 0,
) -> list[str]:
    """How the runs of visitors who come one after the other end.

    go_on: set once `num_first` of them have ended, or too late.
    """
    endings: list[str] = []

    def visit(number: int) -> None:
        visitor = visitor_of(number)
        try:
            visitor.ask_page() if number % 2 else visitor.ask_api()
            endings.append(visitor.listen()[0])
        except Exception as error:  # whatever a visitor meets that is not our sentence
            endings.append(repr(error))
        visitor.leave()

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
        time.sleep(SECONDS_BETWEEN_ARRIVALS)
    until = time.monotonic() + SECONDS_TO_HEAR
    while go_on and len(endings) < num_first and time.monotonic() < until:
        time.sleep(0.05)
    if go_on:
        go_on.set()
    for thread in threads:
        thread.join(120)
    return endings
