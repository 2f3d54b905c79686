"""Opens a visitor's trace, or a recorded run."""

import uuid
from collections.abc import Mapping, Sequence
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
    """Let the player be `give`n a trace, and show a recorded run that a visitor chose.

    show: the player. choosers: views with the event `choose_run`.
    messages: the view that shows errors of traces. status: the status line.
    fields: of the form, which get the chosen run's settings.
    """

    def given(event: gr.EventData) -> tuple[Any, str]:
        try:
            trace = read_trace(data_of(event).get("text"))
        except SetBlockDecodingError as error:
            return gr.skip(), server_message(error=message_of(error))
        lines = replay(uuid.uuid4().hex[:8], {trace.strategy: trace}, is_ours=False)
        return lines, server_message(isShown=True)

    def chosen(event: gr.EventData) -> tuple[Any, ...]:
        choice, nothing = data_of(event), [gr.skip() for _ in fields]
        name = choice.get("name")
        try:
            traces = recordings.gallery_traces(name)
        except SetBlockDecodingError as error:
            return (gr.skip(), Speaker().say(message_of(error), is_error=True), *nothing)
        about = next(item.sentence for item in recordings.gallery() if item.name == name)
        lines = replay(uuid.uuid4().hex[:8], traces, about=about)
        settings = settings_of(next(iter(traces.values())))
        if choice.get("is_typed"):  # the visitor may be changing it by now
            del settings["prompt"]
        values = [settings.get(name, gr.skip()) for name in fields]
        return (lines, Speaker().say(RECORDED_TEXT, is_of_form=True), *values)

    show.give(given, None, [show, messages], **QUICK)
    for chooser in choosers:
        chooser.choose_run(chosen, None, [show, status, *fields.values()], **QUICK)
