"""A race: what is asked of it, its lanes run one after the other, the board, and the view of it."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import gradio as gr

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.replay import wire_json
from sbd_core.rules import EntropyBound
from sbd_core.trace import Trace
from ui import recordings
from ui.decode.client import LOCAL, Client
from ui.decode.form import Form, message_of
from ui.decode.lanes import Lane
from ui.decode.session import SECONDS_BETWEEN_LOOKS, Session, require_listener
from ui.decode.verdict import verdict_of
from ui.form.controls import SHARED_BY_VIEWS
from ui.gradio_hooks import HIDDEN, data_of
from ui.hosting.limits import Limits
from ui.messages import Speaker
from ui.share.permalink import value_of

logger = logging.getLogger(__name__)

LANES = {
    "ntp": "Next-token prediction",
    "sbd-low": "SBD, γ",
    "sbd-high": "SBD, another γ",
    "verify": "Verify",
    "verify-predraft": "Verify, predrafting",
}
ON_REQUEST = ("verify-predraft",)
"""Lanes that race only when their box is checked."""
PREDRAFTING = {"num_predrafts": 4, "draft_threshold": 0.3}
"""How the lane of that name drafts: on while the draft is this probable, for so many rejections."""
FROM_ENTRY = ("block_size", "max_new_tokens", "seed", "model")
"""What every lane has from the entry; verify has its rows too."""
LOW_GAMMA, HIGH_GAMMA = 0.1, 0.35


RACE_FIELDS = {
    "race": "lanes",
    "prompt": "prompt",
    "low": "low",
    "high": "high",
    "block": "block_size",
    "tokens": "max_new_tokens",
    "seed": "seed",
    "rows": "row_policy",
    "with": "model",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the visitor sent, unchecked. lanes: names in LANES, in any order."""

    prompt: Any
    lanes: Any
    low: Any = LOW_GAMMA
    high: Any = HIGH_GAMMA
    block_size: Any = 16
    max_new_tokens: Any = 128
    seed: Any = 0
    row_policy: Any = "fixed"
    model: Any = ""


def is_race(query: Mapping[str, str]) -> bool:
    """Whether an address asks for a race."""
    return "race" in query


def linked_entry(query: Mapping[str, str]) -> Entry:
    """The race that an address describes; what it does not name has its default."""
    given = {name: field for name, field in RACE_FIELDS.items() if name in query}
    values = {field: value_of(name, query[name]) for name, field in given.items()}
    return Entry(**{"prompt": None, **values})


def race_query(entry: Entry) -> dict[str, str]:
    """What the address of a race says, by name."""
    values = {name: getattr(entry, field) for name, field in RACE_FIELDS.items()}
    texts = {name: str(value) for name, value in values.items() if value != ""}
    return texts | {"race": ",".join(entry.lanes)}


def forms_of(entry: Entry) -> dict[str, Form]:
    """The form of each lane, next-token prediction first. Raises ArgumentError."""
    if not isinstance(entry.lanes, list) or not entry.lanes:
        raise ArgumentError("The race", "must have one lane or more; check its box", None)
    for lane in entry.lanes:
        if not isinstance(lane, str) or lane not in LANES:
            raise ArgumentError("lanes", f"must each be one of {', '.join(LANES)}", lane)
    gammas = {"sbd-low": entry.low, "sbd-high": entry.high}
    if set(gammas) <= set(entry.lanes) and entry.low == entry.high:
        raise ArgumentError(
            "another γ", "must differ from the first, or both run the same", entry.high
        )
    shared = {name: getattr(entry, name) for name in FROM_ENTRY}
    own = {"verify-predraft": PREDRAFTING, "verify": {"row_policy": entry.row_policy}}
    return {
        lane: Form(
            entry.prompt,
            strategy=lane.partition("-")[0],
            gamma=gammas.get(lane, LOW_GAMMA),
            **own.get(lane, {}),
            **shared,
        )
        for lane in LANES
        if lane in entry.lanes
    }


MICROSECONDS = 1e6


def board(traces: Mapping[str, Trace], *, is_recorded: bool = False) -> dict[str, Any]:
    """A finished race as the page shows it; the page compares the lanes' token ids itself.

    Times are whole microseconds. A token is [token id, text, forward pass that fixed it].
    """
    first = next(iter(traces.values()))
    rows = [
        {"name": name, "label": label_of(trace.config), **lane_row(trace)}
        for name, trace in traces.items()
    ]
    return {
        "prompt": first.prompt,
        "model": first.model,
        "block_size": max(trace.config.block_size for trace in traces.values()),
        "max_new_tokens": first.config.max_new_tokens,
        "is_recorded": is_recorded,
        "lanes": rows,
    }


def lane_row(trace: Trace) -> dict[str, Any]:
    """A lane's figures, whatever it is called: its times, tokens, counts and verdict."""
    times = [round(event.seconds * MICROSECONDS) for event in trace.events]
    return {
        "times": times,
        "tokens": [
            [token_id, trace.tokens[token_id], index]
            for token_id, index in zip(trace.token_ids, trace.token_passes, strict=True)
        ],
        "has_end": trace.finish == "end_of_sequence",
        "limit": trace.config.max_new_tokens if trace.finish == "length" else None,
        "num_passes": trace.num_forwards,
        "num_tokens": trace.num_tokens,
        "seconds": sum(times) / MICROSECONDS,
        "verdict": asdict(verdict) if (verdict := verdict_of(trace)) else None,
    }


def label_of(config: DecodeConfig) -> str:
    """The lane's title, with its gamma, or its predrafts, where it makes some."""
    if config.strategy == "sbd" and isinstance(config.solver, EntropyBound):
        return f"SBD, γ {config.solver.gamma:g}"
    if config.num_predrafts:
        count, threshold = config.num_predrafts, config.draft_threshold
        return f"Verify, {count} predrafts, threshold {threshold:g}"
    return LANES[str(config.strategy)]


WARM_PASSES = 3


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


Fields = dict[str, gr.components.Component]
FROM_FORM = (*SHARED_BY_VIEWS, "seed", "row_policy", "model")


def race_value(model: str = "", *, can_draft: bool, prompt_id: str) -> str:
    """The view's value: what to choose from, and the recorded run.

    model: the name of the page's first. can_draft: whether it has a mask token; without one it runs
    one lane.
    """
    names = list(LANES) if can_draft else ["ntp"]
    lanes = recordings.race_traces(model)
    value: dict[str, Any] = {
        "choice": [
            {"name": name, "label": LANES[name], "is_chosen": name not in ON_REQUEST}
            for name in names
        ],
        "gammas": {"sbd-low": LOW_GAMMA, "sbd-high": HIGH_GAMMA},
        "prompt_id": prompt_id,
        "board": board(lanes, is_recorded=True) if lanes else None,
    }
    return wire_json(value)


def wire_race(
    session: Session,
    view: gr.HTML,
    fields: Fields,
    run: dict[str, Any],
    linked: Any,
    client_of: Callable[[gr.Request], Client],
) -> None:
    """Let the view `start` races with the lanes and gammas chosen, and `halt` them.

    run: how Gradio is to run a decode. linked: the event of the page's load, which races too if the
    address asks for it.
    """

    def started(request: gr.Request, event: gr.EventData, *values: Any) -> Iterator[str]:
        entry = entry_of(data_of(event), values)
        yield from raced(session, entry, client_of(request))

    def halted() -> str:
        return told(Speaker(), News("Stopped.", is_running=False))

    running = view.start(started, [fields[name] for name in FROM_FORM], view, **run)
    view.halt(halted, None, view, cancels=[running, linked], queue=False, **HIDDEN)


def raced(
    session: Session, entry: Entry, client: Client, *, is_linked: bool = False
) -> Iterator[str]:
    """The view's values during a race. is_linked: turn to it, and choose its lanes there."""
    speaker = Speaker()
    choice = choice_of(entry) if is_linked else None
    for news in race(session, entry, client):
        yield told(speaker, news, link=race_query(entry) if news.board else None, choice=choice)


def refused(words: str, entry: Entry) -> str:
    """The view's value for a link that asks for no race."""
    news = News(words, is_error=True, is_running=False)
    return told(Speaker(), news, choice=choice_of(entry))


def waiting(words: str, entry: Entry) -> str:
    """The view's value for a link whose race cannot begin yet."""
    return told(Speaker(), News(words), choice=choice_of(entry))


def choice_of(entry: Entry) -> dict[str, Any]:
    """What an entry chooses in the view; unchecked."""
    return {"lanes": entry.lanes, "low": str(entry.low), "high": str(entry.high)}


def entry_of(data: dict[str, Any], values: Sequence[Any]) -> Entry:
    """What the view and the form sent together, unchecked."""
    known = {name: data[name] for name in ("low", "high") if name in data}
    return Entry(lanes=data.get("lanes"), **known, **dict(zip(FROM_FORM, values, strict=True)))


def told(
    speaker: Speaker,
    news: News,
    *,
    link: dict[str, str] | None = None,
    choice: dict[str, Any] | None = None,
) -> str:
    """The value that shows the news, in the order in which it was said.

    link: names and values of the address of the race. choice: what to turn to and choose first.
    """
    body = {
        "order": speaker.order(),
        "text": news.message,
        "is_error": news.is_error,
        "is_running": news.is_running,
        "board": news.board,
        "link": link,
        "choice": choice,
    }
    return wire_json(body)
