"""Compares: up to four ways to decode one prompt take turns, and the page draws their lines."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.checkpoint_info import REAL_MODEL
from sbd_core.run_lines import wire_json
from ui import recordings
from ui.decode.client import Client
from ui.decode.form import Form, forms_of, message_of
from ui.decode.session import STOPPED_TEXT, Session, Update
from ui.examples import BUNDLED_MODEL
from ui.form.measured import best_for
from ui.gradio_hooks import HIDDEN, data_of
from ui.messages import Speaker
from ui.views import gallery

COMPARED_MODELS = (BUNDLED_MODEL, REAL_MODEL)
"""Models whose first preset is that of their recorded run."""
SOLVERS = (
    "sbd:0.1",
    "entropy-bound-from-left:0.35",
    "confidence-threshold:0.9",
    "left-to-right:2",
)
"""Lanes of the preset that compares the paper's solver with others."""


def compare_value(model: str = "", *, can_draft: bool, prompt_id: str) -> str:
    """The view's value: the presets, and the recorded run, which is the first of them.

    model: the name of the page's first. can_draft: whether it has a mask token; without one it has
    one lane.
    """
    lanes = recordings.compared_traces(model)
    strategies = list(lanes) or ["ntp", "sbd:0.1", "verify"]
    value = {
        "presets": {"Strategies": strategies, "Solvers": SOLVERS} if can_draft else {},
        "of_model": {name: list(recordings.compared_traces(name)) for name in COMPARED_MODELS},
        "warnings": {REAL_MODEL: best_for(REAL_MODEL, can_draft=True, has_adapter=True).paper},
        "prompt_id": prompt_id,
        "lines": gallery.replay("recorded", lanes) if lanes else "",
    }
    return wire_json(value)


def wire_compare(
    session: Session,
    view: gr.HTML,
    run: dict[str, Any],
    linked: Any,
    client_of: Callable[[gr.Request], Client],
) -> None:
    """Let the view `start` the lanes that it names with the settings beside them, and `halt` them.

    run: how Gradio is to run a decode. linked: the event of the page's load, which compares too if
    the address asks for it.
    """

    def started(request: gr.Request, event: gr.EventData) -> Iterator[str]:
        wish = data_of(event)
        form = session.with_known_model(Form.of(wish.get("form")))
        yield from compared(session, wish.get("lanes"), form, client_of(request))

    def halted() -> str:
        return told(Speaker(), Update(message=STOPPED_TEXT, is_running=False))

    running = view.start(started, None, view, **run)
    view.halt(halted, None, view, cancels=[running, linked], queue=False, **HIDDEN)


def compared(session: Session, lanes: object, form: Form, client: Client) -> Iterator[str]:
    """The view's values while lanes run."""
    speaker = Speaker()
    try:
        forms = forms_of(lanes, form)
    except SetBlockDecodingError as error:
        yield told(speaker, Update(message=message_of(error), is_error=True, is_running=False))
        return
    for update in session.compare(forms, client):
        yield told(speaker, update)


def told(speaker: Speaker, update: Update) -> str:
    """The value that shows the news, in the order in which it was said."""
    body = {
        "order": speaker.order(),
        "text": update.message,
        "is_error": update.is_error,
        "is_running": update.is_running,
        "wire": update.wire,
    }
    return wire_json(body)
