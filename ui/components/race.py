"""The race: lanes to choose, the lanes side by side, and the table. See ui.race for its board."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError
from ui import recorded
from ui.components.assets import RACE_SCRIPTS, markup, scripts
from ui.components.controls import SHARED_BY_VIEWS
from ui.components.notice import Speaker
from ui.race import HIGH_GAMMA, LANES, LOW_GAMMA, Entry, News, board, race
from ui.session import Session, message_of
from ui.view_model import wire_json

Fields = dict[str, gr.components.Component]


def race_view(*, can_draft: bool, prompt_id: str) -> gr.HTML:
    """The view beside Watch, open on the recorded run.

    can_draft: whether the model has a mask token; without one it runs one lane. Its event
    `start` carries the chosen lanes and gammas, `halt` asks to stop.
    """
    names = list(LANES) if can_draft else ["ntp"]
    opening = recorded.opening_traces()
    value = {
        "choice": [{"name": name, "label": LANES[name]} for name in names],
        "gammas": {"sbd-low": LOW_GAMMA, "sbd-high": HIGH_GAMMA},
        "prompt_id": prompt_id,
        "board": board(dict(reversed(opening.items())), is_recorded=True) if opening else None,
    }
    return gr.HTML(
        wire_json(value),
        html_template=markup("race"),
        js_on_load=scripts(*RACE_SCRIPTS),
        apply_default_css=False,
        elem_id="sbd-race",
    )


def wire_race(session: Session, view: gr.HTML, fields: Fields, run: dict[str, Any]) -> None:
    """Let the view `start` and `halt` races. run: how Gradio is to run a decode."""

    def started(event: gr.EventData, *values: Any) -> Iterator[str]:
        speaker = Speaker()
        try:
            entry = entry_of(event._data, values)
        except ArgumentError as error:
            yield told(speaker, News(message_of(error), is_error=True, is_running=False))
            return
        for news in race(session, entry):
            yield told(speaker, news)

    def halted() -> str:
        return told(Speaker(), News("Stopped.", is_running=False))

    running = view.start(started, [fields[name] for name in SHARED_BY_VIEWS], view, **run)
    hidden: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    view.halt(halted, None, view, cancels=[running], queue=False, **hidden)


def entry_of(data: Any, sizes: Sequence[Any]) -> Entry:
    """What the view and the form sent together, unchecked but for its shape."""
    if not isinstance(data, dict):
        raise ArgumentError("lanes", "must be chosen", data)
    known = {name: data[name] for name in ("low", "high") if name in data}
    return Entry(lanes=data.get("lanes"), **known, **dict(zip(SHARED_BY_VIEWS, sizes, strict=True)))


def told(speaker: Speaker, news: News) -> str:
    """The value that shows the news, in the order in which it was said."""
    body = {
        "order": speaker.order(),
        "text": news.message,
        "is_error": news.is_error,
        "is_running": news.is_running,
        "board": news.board,
    }
    return wire_json(body)
