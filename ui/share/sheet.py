"""Opens a visitor's trace, or a choice among the recorded runs."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from ui import recordings
from ui.decode.form import message_of, settings_of
from ui.gradio_hooks import QUICK, data_of
from ui.messages import Speaker, server_message
from ui.share.trace_files import read_trace
from ui.views.gallery import replay

RECORDED_TEXT = "This run is recorded, and the form has its settings. Press Decode to run it here."


def wire_sharing(
    show: gr.HTML,
    choosers: Sequence[gr.HTML],
    messages: gr.HTML,
    status: gr.HTML,
    fields: Mapping[str, gr.components.Component],
) -> None:
    """Let the player be `give`n a trace, or a recorded one.

    choosers: what lets a visitor `choose_run`; its settings go into the `fields` of the form.
    """

    def given(event: gr.EventData) -> tuple[Any, str]:
        return opened(lambda: open_trace(data_of(event)))

    def chosen(event: gr.EventData) -> tuple[Any, ...]:
        nothing = [gr.skip() for _ in fields]
        try:
            lines, settings = open_recorded(data_of(event))
        except SetBlockDecodingError as error:
            return (gr.skip(), Speaker().say(message_of(error), is_error=True), *nothing)
        if data_of(event).get("is_typed"):  # the visitor may be changing it by now
            del settings["prompt"]
        values = [settings.get(name, gr.skip()) for name in fields]
        return (lines, Speaker().say(RECORDED_TEXT, is_of_form=True), *values)

    show.give(given, None, [show, messages], **QUICK)
    for chooser in choosers:
        chooser.choose_run(
            chosen,
            None,
            [show, status, *fields.values()],
            **QUICK,
        )


def opened(wire_of: Callable[[], str]) -> tuple[Any, str]:
    """(what the player shows now, what the share sheet hears)."""
    try:
        return wire_of(), server_message(isShown=True)
    except SetBlockDecodingError as error:
        return gr.skip(), server_message(error=message_of(error))


def open_trace(gift: dict[str, Any]) -> str:
    """Wire lines of a trace file that the visitor gave."""
    trace = read_trace(gift.get("text"))
    return replay(new_id(), {trace.strategy: trace}, is_ours=False)


def open_recorded(choice: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Wire lines of a run of the gallery, and the settings of its main lane."""
    name = choice.get("name")
    traces = recordings.gallery_traces(name)
    about = next(item.sentence for item in recordings.gallery() if item.name == name)
    main = next(iter(traces.values()))
    return replay(new_id(), traces, about=about), settings_of(main)


def new_id() -> str:
    """The name of a new run."""
    return uuid.uuid4().hex[:8]
