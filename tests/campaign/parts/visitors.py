"""More visitors than one model can serve: who cannot be served hears so at once, in our words."""

import threading
import time
from dataclasses import dataclass
from itertools import pairwise

from tests.campaign.figure import Figure
from tests.campaign.server import Served, Visitor, served
from tests.ui.doubles import story_model
from ui.decode.form import Form
from ui.decode.session import Session

SECONDS_TO_HEAR = 2.0
SECONDS_BETWEEN_ARRIVALS = 0.15
FULL = "full"


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one visitor. arrived, ended: seconds on the campaign's clock."""

    arrived: float
    ended: float
    ending: str

    @property
    def seconds(self) -> float:
        """How long they waited for what they got."""
        return self.ended - self.arrived


def slow_model(run_seconds: float):
    """A model whose run of the page's own settings takes so long, both lanes together."""
    model = story_model()
    num_passes = 0
    forward = model.forward_batch

    def counting(requests):
        nonlocal num_passes
        num_passes += 1
        return forward(requests)

    model.forward_batch = counting
    for _ in Session(model).decode(Form("p")):
        pass
    pause = run_seconds / num_passes

    def slow(requests):
        time.sleep(pause)
        return forward(requests)

    model.forward_batch = slow
    return model


def one_visit(page: Served, number: int, visits: list[Visit]) -> None:
    """Somebody who decodes and waits for the end."""
    visitor = Visitor(page, f"127.0.0.{2 + number % 200}")
    arrived = time.monotonic()
    try:
        visitor.ask_page() if number % 2 else visitor.ask_api()
        ending, _ = visitor.listen()
    except Exception as error:  # whatever a visitor meets that is not our sentence
        ending = repr(error)
    visits.append(Visit(arrived, time.monotonic(), ending))
    visitor.leave()


def crowd(count: int, run_seconds: float, seconds_to_hear: float = SECONDS_TO_HEAR) -> Figure:
    """`count` visitors within a few seconds, and how many of the unserved were not told at once.

    seconds_to_hear: what is still at once; more where other tests share the cores.
    """
    visits: list[Visit] = []
    with served(slow_model(run_seconds)) as page:
        one_visit(page, 0, [])  # so that the page knows how long a run takes
        threads = []
        for number in range(count):
            thread = threading.Thread(target=one_visit, args=(page, number, visits))
            thread.start()
            threads.append(thread)
            time.sleep(SECONDS_BETWEEN_ARRIVALS)
        for thread in threads:
            thread.join(200)
    served_ones = [visit for visit in visits if visit.ending == "done"]
    refused = [visit for visit in visits if visit.ending != "done"]
    late = [visit for visit in refused if visit.seconds > seconds_to_hear]
    other_words = sorted({visit.ending for visit in refused} - {FULL})
    return Figure(
        f"of {count} visitors at {run_seconds:g} s a run: neither served nor told within "
        f"{seconds_to_hear:g} s, or not in our words",
        len(late) + sum(visit.ending != FULL for visit in refused if visit not in late),
        0,
        {
            "num_served": len(served_ones),
            "num_refused": len(refused),
            "slowest_refusal_seconds": round(max((v.seconds for v in refused), default=0.0), 2),
            "longest_wait_seconds": round(max((v.seconds for v in served_ones), default=0.0), 1),
            "num_overtaken": num_overtaken(served_ones),
            "other_words": other_words,
            "num_unheard": count - len(visits),
        },
    )


def num_overtaken(visits: list[Visit]) -> int:
    """Pairs of neighbours in the line of whom the later was served first."""
    order = sorted(visits, key=lambda visit: visit.arrived)
    return sum(later.ended < earlier.ended - 0.5 for earlier, later in pairwise(order))
