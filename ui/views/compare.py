"""The Compare view, which decodes one prompt in up to four ways, side by side."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.run_lines import wire_json
from ui import examples
from ui.best_settings import best_for
from ui.components import PROMPT_ID, Speaker
from ui.decode.form import Form, lane_forms, message_of
from ui.decode.session import STOPPED_TEXT, Client, Session, Update
from ui.examples import BUNDLED_MODEL
from ui.gradio_hooks import HIDDEN, data_of
from ui.views.recorded import replay

COMPARED_MODELS = (BUNDLED_MODEL, REAL_MODEL)
"""Models whose first preset has the lanes of their recorded run."""
SOLVERS = (
    "sbd:0.1",
    "entropy-bound-from-left:0.35",
    "confidence-threshold:0.9",
    "left-to-right:2",
)
"""Lanes of the preset that compares the paper's solver with others."""


def compare_value(model: str = "", *, can_draft: bool) -> str:
    """The Compare view's JSON: presets of lanes, and the recorded run with which the view opens.

    model: name of the model with which the page opens.
    can_draft: whether a model of the page has a mask token; without one there are no presets.
    """
    lanes = examples.compared_traces(model)
    strategies = list(lanes) or ["ntp", "sbd:0.1", "verify"]
    value = {
        "presets": {"Strategies": strategies, "Solvers": SOLVERS} if can_draft else {},
        "of_model": {name: list(examples.compared_traces(name)) for name in COMPARED_MODELS},
        "warnings": {REAL_MODEL: best_for(REAL_MODEL, can_draft=True, has_adapter=True).paper},
        "prompt_id": PROMPT_ID,
        "lines": replay("recorded", lanes) if lanes else "",
    }
    return wire_json(value)


def wire_compare(
    session: Session,
    view: gr.HTML,
    run: dict[str, Any],
    linked: Any,
    client_of: Callable[[gr.Request], Client],
) -> None:
    """Connect the view's events: `start` decodes the lanes in its data, `halt` stops them.

    run: Gradio's settings for events that decode.
    linked: the page's load event; `halt` also stops the decodes that this event runs for a URL.
    """

    def started(request: gr.Request, event: gr.EventData) -> Iterator[str]:
        sent = data_of(event)
        form = session.with_known_model(Form.of(sent.get("form")))
        yield from compared(session, sent.get("lanes"), form, client_of(request))

    def halted() -> str:
        return compare_message(Speaker(), Update(message=STOPPED_TEXT, is_running=False))

    running = view.start(started, None, view, **run)
    view.halt(halted, None, view, cancels=[running, linked], queue=False, **HIDDEN)


def compared(session: Session, lanes: object, form: Form, client: Client) -> Iterator[str]:
    """Decode lanes and yield values of the Compare view. lanes, form: see lane_forms()."""
    speaker = Speaker()
    try:
        forms = lane_forms(lanes, form)
    except SetBlockDecodingError as error:
        yield compare_message(
            speaker, Update(message=message_of(error), is_error=True, is_running=False)
        )
        return
    for update in session.compare(forms, client):
        yield compare_message(speaker, update)


def compare_message(speaker: Speaker, update: Update) -> str:
    """Encode an update as a value of the Compare view, numbered by speaker.order()."""
    body = {
        "order": speaker.order(),
        "text": update.message,
        "is_error": update.is_error,
        "is_running": update.is_running,
        "wire": update.wire,
    }
    return wire_json(body)
