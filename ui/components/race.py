"""The race: lanes to choose, the lanes side by side, and the table. See ui.race."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.components.controls import SHARED_BY_VIEWS
from ui.components.status_line import Speaker
from ui.decode.client import Client
from ui.decode.session import Session
from ui.gallery import recorded
from ui.gradio_hooks import HIDDEN, data_of
from ui.race.board import board
from ui.race.entry import HIGH_GAMMA, LANES, LOW_GAMMA, ON_REQUEST, Entry
from ui.race.run import News, race
from ui.share.permalink import race_query

Fields = dict[str, gr.components.Component]
FROM_FORM = (*SHARED_BY_VIEWS, "seed", "model")


def race_view(*, can_draft: bool, prompt_id: str) -> gr.HTML:
    """The view beside Watch, open on the recorded run.

    can_draft: whether the model has a mask token; without one it runs one lane. Its event
    `start` carries the chosen lanes and gammas, `halt` asks to stop.
    """
    names = list(LANES) if can_draft else ["ntp"]
    lanes = recorded.race_traces()
    value = {
        "choice": [
            {"name": name, "label": LANES[name], "is_chosen": name not in ON_REQUEST}
            for name in names
        ],
        "gammas": {"sbd-low": LOW_GAMMA, "sbd-high": HIGH_GAMMA},
        "prompt_id": prompt_id,
        "board": board(lanes, is_recorded=True) if lanes else None,
    }
    return view("race", wire_json(value), "start", "halt")


def wire_race(
    session: Session,
    view: gr.HTML,
    fields: Fields,
    run: dict[str, Any],
    linked: Any,
    client_of: Callable[[gr.Request], Client],
) -> None:
    """Let the view `start` and `halt` races. run: how Gradio is to run a decode.

    linked: the event of the page's load, which races too if the address asks for it.
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
