"""Runs that the page plays without decoding: recorded runs, and traces that visitors bring."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError, TraceError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import examples
from ui.components import PROMPT_ID, Speaker, server_message
from ui.decode.form import message_of, settings_of
from ui.decode.verdict import verdicts_of
from ui.gradio_hooks import QUICK, data_of
from ui.models import BUNDLED
from ui.share.trace_files import read_trace

RECORDED_TEXT = "This run is recorded, and the form has its settings. Press Decode to run it here."


def replay(
    run_id: str, lanes: Mapping[str, Trace], *, about: str = "", is_decoded_here: bool = True
) -> str:
    """Encode recorded lanes, with verdicts on their answers, as lines that the player plays.

    lanes: traces by lane. about: a sentence on the run. is_decoded_here: see verdict_of().
    """
    verdicts = verdicts_of(lanes, is_decoded_here=is_decoded_here)
    return replay_lines(run_id, lanes, verdicts=verdicts, about=about)


def opening(model: str = "") -> str:
    """Encode a model's opening run as lines for the player; "" if the recording is missing."""
    lanes = examples.opening_traces(model)
    return replay("opening", lanes) if lanes else ""


def home() -> str:
    """Encode nano's run on the home view as lines for the player; "" if it is missing."""
    try:
        return replay("home", examples.gallery_traces(examples.HOME_RUN))
    except ArgumentError:
        return ""


def home_value() -> str:
    """The home view's JSON: a run of nano by Set Block Decoding, and one of SmolLM2 by verify."""
    lines = {DEFAULT_CHECKPOINT.name: home(), REAL_MODEL: opening(REAL_MODEL)}
    runs = [{"model": BUNDLED[name][0], "lines": text} for name, text in lines.items()]
    try:
        processor = examples.learn_runs().choices.processor
    except TraceError:
        processor = ""
    return wire_json({"runs": runs, "processor": processor, "prompt_id": PROMPT_ID})


def gallery_value() -> str:
    """The gallery's JSON: all its entries, and a text on how they were chosen."""
    names = ("name", "group", "title", "sentence", "passes")
    runs = [{name: getattr(item, name) for name in names} for item in examples.gallery()]
    return wire_json({"how": examples.HOW_CHOSEN, "runs": runs})


def wire_sharing(
    show: gr.HTML,
    choosers: Sequence[gr.HTML],
    messages: gr.HTML,
    status: gr.HTML,
    fields: Mapping[str, gr.components.Component],
) -> None:
    """Let the player show a trace that a visitor opens, or a recorded run that a visitor chooses.

    show: the player, whose event `give` carries a trace.
    choosers: views whose event `choose_run` carries the name of a recorded run.
    messages: the view that shows what is wrong with a trace. status: the status line.
    fields: the form's fields by name; they get the settings of the chosen run.
    """

    def given(event: gr.EventData) -> tuple[Any, str]:
        try:
            trace = read_trace(data_of(event).get("text"))
        except SetBlockDecodingError as error:
            return gr.skip(), server_message(error=message_of(error))
        lines = replay(uuid.uuid4().hex[:8], {trace.strategy: trace}, is_decoded_here=False)
        return lines, server_message(isShown=True)

    def chosen(event: gr.EventData) -> tuple[Any, ...]:
        choice, nothing = data_of(event), [gr.skip() for _ in fields]
        name = choice.get("name")
        try:
            traces = examples.gallery_traces(name)
        except SetBlockDecodingError as error:
            return (gr.skip(), Speaker().say(message_of(error), is_error=True), *nothing)
        about = next(item.sentence for item in examples.gallery() if item.name == name)
        lines = replay(uuid.uuid4().hex[:8], traces, about=about)
        settings = settings_of(next(iter(traces.values())))
        if choice.get("is_typed"):  # the visitor may be changing it by now
            del settings["prompt"]
        values = [settings.get(name, gr.skip()) for name in fields]
        return (lines, Speaker().say(RECORDED_TEXT, is_of_form=True), *values)

    show.give(given, None, [show, messages], **QUICK)
    for chooser in choosers:
        chooser.choose_run(chosen, None, [show, status, *fields.values()], **QUICK)
