"""What a visitor takes home from the page and brings to it: wiring of the player's share sheet."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.trace import Trace
from ui import view_model
from ui.components.outbox import parcel
from ui.export import trace_html
from ui.session import message_of
from ui.trace_files import read_trace
from ui.visit import Traces, Visit

MAX_NAME = 40
QUICK: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def wire_sharing(show: gr.HTML, carrier: gr.HTML, visit: gr.State) -> None:
    """Let the player `ask` for files of a run, and be `give`n a trace to show."""

    def asked(kept: Visit, event: gr.EventData) -> str:
        return answer(lambda: parcel(**file_of(kept, event._data)))

    def given(kept: Visit, event: gr.EventData) -> tuple[Any, str]:
        wire: list[str] = []

        def opened() -> str:
            wire.append(open_trace(kept, event._data))
            return parcel(isShown=True)

        news = answer(opened)
        return (wire[0] if wire else gr.skip()), news

    show.ask(asked, visit, carrier, **QUICK)
    show.give(given, visit, [show, carrier], **QUICK)


def answer(make: Callable[[], str]) -> str:
    """What `make` gives, or the sentence of its error."""
    try:
        return make()
    except SetBlockDecodingError as error:
        return parcel(error=message_of(error))


def file_of(visit: Visit, wish: Any) -> dict[str, str]:
    """{"file": name, "text": content} of a kept run, as the player asked for it."""
    wish = wish if isinstance(wish, dict) else {}
    traces = visit.traces(wish.get("run"))
    main = next(iter(traces.values()))
    if wish.get("kind") == "html":
        return {"file": f"{file_stem(main)}.html", "text": trace_html(*traces.values())}
    if wish.get("kind") == "json":
        return {"file": f"{file_stem(main)}.json", "text": main.to_json()}
    raise ArgumentError("The file", "must be json or html", wish.get("kind"))


def open_trace(visit: Visit, gift: Any) -> str:
    """Wire lines of a trace file that the visitor gave; it is kept as a decoded run is."""
    trace = read_trace(gift.get("text") if isinstance(gift, dict) else None)
    return shown_run(visit, {trace.config.strategy: trace})


def shown_run(visit: Visit, lanes: Traces) -> str:
    """Wire lines of recorded lanes as a new run, kept for the visitor."""
    run_id = uuid.uuid4().hex[:8]
    visit.keep(run_id, lambda: lanes)
    return view_model.replay(run_id, lanes)


def file_stem(trace: Trace) -> str:
    """A file name that tells what was decoded: sbd-tara-has-49-pencils."""
    words = re.sub(r"[^a-z0-9]+", "-", trace.prompt.lower()).strip("-")[:MAX_NAME].strip("-")
    return "-".join(part for part in (trace.config.strategy, words) if part)
