"""One prompt decoded in several ways, one after the other, and compared once all are done.

Knows no Gradio and no tensors.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sbd_core.errors import SetBlockDecodingError
from ui.decode.client import LOCAL, Client
from ui.decode.form import message_of
from ui.decode.lanes import Lane
from ui.decode.session import SECONDS_BETWEEN_LOOKS, Session, require_listener
from ui.hosting.limits import Limits
from ui.race.board import board, label_of
from ui.race.entry import Entry, forms_of

WARM_PASSES = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class News:
    """A line of text for the page, and the finished race's board if there is one."""

    message: str
    is_error: bool = False
    is_running: bool = True
    board: Mapping[str, Any] | None = None


def race(session: Session, entry: Entry, client: Client = LOCAL) -> Iterator[News]:
    """Everything the page is told of one race, the board last. Closing it frees the model."""
    ticket = None
    lanes: dict[str, Lane] = {}
    try:
        forms = forms_of(entry)
        for update in session.while_loading(entry.model):
            yield News(update.message)
        lanes = {name: session.open(form)[0] for name, form in forms.items()}
        ticket = session.queue.join(client.address, client.session)
        for update in session.wait(ticket, client):
            yield News(update.message)
        yield from _run(lanes, session.limits, client)
        traces = {name: session.trace(lane) for name, lane in lanes.items()}
        yield News("", is_running=False, board=board(traces))
    except SetBlockDecodingError as error:
        yield News(message_of(error), is_error=True, is_running=False)
    except Exception:  # the page must say something, whatever broke
        logger.exception("a race failed")
        text = "The race failed inside the program; its log says where."
        yield News(text, is_error=True, is_running=False)
    finally:
        for lane in lanes.values():
            lane.close()
        session.queue.leave(ticket)


def _run(lanes: Mapping[str, Lane], limits: Limits, client: Client) -> Iterator[News]:
    """Every lane to its end, after a few forward passes of each that are thrown away."""
    deadline = time.monotonic() + limits.max_run_seconds
    yield News("Warming up …")
    for lane in lanes.values():
        _warm_up(lane)
    for number, lane in enumerate(lanes.values(), 1):
        told, words = 0.0, f"Running lane {number} of {len(lanes)}: {label_of(lane.config)}"
        while lane.step() is not None:
            now = time.monotonic()
            if now > deadline:
                raise SetBlockDecodingError(
                    f"The race took longer than {limits.max_run_seconds:.0f} seconds, this page’s "
                    "limit; choose fewer lanes or a shorter answer."
                )
            require_listener(client)
            if now - told > SECONDS_BETWEEN_LOOKS:
                told = now
                yield News(f"{words}, forward pass {len(lane.events)} …")


def _warm_up(lane: Lane) -> None:
    """A few forward passes that are thrown away."""
    for _ in zip(range(WARM_PASSES), lane.new_stream(), strict=False):
        pass
