"""What a visitor takes home from the page and brings to it: wiring of the player's share sheet."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.replay import wire_format
from sbd_core.replay.page import page_of
from sbd_core.trace import Trace
from ui.components.server_messages import server_message
from ui.components.status_line import Speaker
from ui.decode.form import message_of, settings_of
from ui.decode.verdict import verdicts_of
from ui.decode.visitor_runs import GoneError, Traces, VisitorRuns
from ui.gallery import recorded
from ui.gradio_hooks import QUICK, data_of
from ui.share.saved_runs import saved, traces_of
from ui.share.trace_files import read_trace

MAX_NAME = 40
RECORDED_TEXT = "A recorded run, its settings in the form. Press Decode to run it here."


def wire_sharing(
    show: gr.HTML,
    choosers: Sequence[gr.HTML],
    messages: gr.HTML,
    visit: gr.State,
    status: gr.HTML,
    fields: Mapping[str, gr.components.Component],
) -> None:
    """Let the player `ask` for files of a run, be `give`n a trace, or a recorded one.

    choosers: what lets a visitor `choose_run`; its settings go into the `fields` of the form.
    """

    def asked(runs: VisitorRuns, event: gr.EventData) -> str:
        return answer(runs, data_of(event))

    def given(runs: VisitorRuns, event: gr.EventData) -> tuple[Any, str]:
        return opened(lambda: open_trace(runs, data_of(event)))

    def chosen(runs: VisitorRuns, event: gr.EventData) -> tuple[Any, ...]:
        nothing = [gr.skip() for _ in fields]
        try:
            lines, settings = open_recorded(runs, data_of(event))
        except SetBlockDecodingError as error:
            return (gr.skip(), Speaker().say(message_of(error), is_error=True), *nothing)
        if data_of(event).get("is_typed"):  # the visitor may be changing it by now
            del settings["prompt"]
        values = [settings.get(name, gr.skip()) for name in fields]
        return (lines, Speaker().say(RECORDED_TEXT, is_of_form=True), *values)

    show.ask(asked, visit, messages, **QUICK)
    show.give(given, visit, [show, messages], **QUICK)
    for chooser in choosers:
        chooser.choose_run(
            chosen,
            visit,
            [show, status, *fields.values()],
            **QUICK,
        )


def opened(wire_of: Callable[[], str]) -> tuple[Any, str]:
    """(what the player shows now, what the share sheet hears)."""
    try:
        return wire_of(), server_message(isShown=True)
    except SetBlockDecodingError as error:
        return gr.skip(), server_message(error=message_of(error))


def answer(visit: VisitorRuns, wish: dict[str, Any]) -> str:
    """What the share sheet hears of a wish: a file, traces for the browser to save, or why not."""
    try:
        if wish.get("kind") == "traces":
            return server_message(traces=saved(visit, wish.get("run")))
        return server_message(**file_of(visit, wish))
    except GoneError as error:
        return server_message(error=message_of(error), gone=error.run_id)
    except SetBlockDecodingError as error:
        return server_message(error=message_of(error))


def file_of(visit: VisitorRuns, wish: dict[str, Any]) -> dict[str, str]:
    """{"file": name, "text": content} of a kept run, as the player asked for it."""
    traces = traces_of(visit, wish)
    main = next(iter(traces.values()))
    if wish.get("kind") == "html":
        run_id = wish.get("run")
        verdicts = visit.verdicts(run_id)
        if verdicts is None:  # a file runs no function
            verdicts = verdicts_of(traces, is_ours=False)
        timing = visit.timing(run_id)
        page = page_of(wire_format.replay("export", traces, verdicts=verdicts, timing=timing))
        return {"file": f"{file_stem(main)}.html", "text": page}
    if wish.get("kind") == "json":
        return {"file": f"{file_stem(main)}.json", "text": main.to_json()}
    raise ArgumentError("The file", "must be json or html", wish.get("kind"))


def open_trace(visit: VisitorRuns, gift: dict[str, Any]) -> str:
    """Wire lines of a trace file that the visitor gave; it is kept as a decoded run is."""
    trace = read_trace(gift.get("text"))
    return shown_run(visit, {trace.config.strategy: trace}, is_ours=False)


def open_recorded(visit: VisitorRuns, choice: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Wire lines of a run of the gallery, and the settings of its main lane."""
    name = choice.get("name")
    traces = recorded.gallery_traces(name)
    about = next(item.sentence for item in recorded.gallery() if item.name == name)
    main = next(iter(traces.values()))
    return shown_run(visit, traces, about=about), settings_of(main)


def shown_run(visit: VisitorRuns, lanes: Traces, *, about: str = "", is_ours: bool = True) -> str:
    """Wire lines of recorded lanes as a new run, kept for the visitor; is_ours: see verdict_of."""
    verdicts = verdicts_of(lanes, is_ours=is_ours)
    run_id = visit.add(lanes, verdicts=verdicts)
    return wire_format.replay(run_id, lanes, verdicts=verdicts, about=about)


def file_stem(trace: Trace) -> str:
    """A file name that tells what was decoded: sbd-tara-has-49-pencils."""
    words = re.sub(r"[^a-z0-9]+", "-", trace.prompt.lower()).strip("-")[:MAX_NAME].strip("-")
    return "-".join(part for part in (trace.config.strategy, words) if part)
