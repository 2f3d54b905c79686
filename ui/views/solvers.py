"""Solvers compared on the form's prompt: each decodes it, then their staircases stand together."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields as fields_of
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.replay import wire_json
from sbd_core.rules import SOLVER_PARAMETERS, SOLVER_TITLES, SOLVERS, solver_words
from sbd_core.trace import Trace
from ui.assets import view
from ui.decode.client import Client
from ui.decode.form import Form, message_of
from ui.decode.session import FAILED_TEXT, Session
from ui.form import controls
from ui.gradio_hooks import data_of
from ui.messages import server_message
from ui.views.race import lane_row

MOST = 4
START = ("entropy-bound", "entropy-bound-from-left", "confidence-threshold", "left-to-right")
FROM_FORM = (*controls.SHARED_BY_VIEWS, *SOLVER_PARAMETERS, "seed", "model")

logger = logging.getLogger(__name__)


def solver_comparison_section(
    session: Session,
    fields: Mapping[str, Any],
    run: dict[str, Any],
    client_of: Callable[[gr.Request], Client],
) -> None:
    """A closed section below the charts. run: how Gradio is to run a decode."""
    choices = [
        {"key": name, "name": title, "parameters": [item.name for item in fields_of(SOLVERS[name])]}
        for name, title in SOLVER_TITLES.items()
    ]
    setting = {"solvers": choices, "start": START, "prompt_id": controls.PROMPT_ID}
    section = view("solver-comparison", wire_json(setting), "compare")

    def compared(request: gr.Request, event: gr.EventData, *values: Any) -> Iterator[str]:
        names = data_of(event).get("solvers")
        form = dict(zip(FROM_FORM, values, strict=True))
        for news in comparison(session, names, form, client_of(request)):
            yield server_message(**news)

    section.compare(compared, [fields[name] for name in FROM_FORM], section, **run)


def comparison(
    session: Session, names: object, form: dict[str, Any], client: Client
) -> Iterator[dict[str, Any]]:
    """News of a comparison: {text, is_error, is_running, lanes, asked}, the last two at the end."""
    try:
        wanted = chosen(names)
        forms = [Form(strategy="sbd", solver=name, **form) for name in wanted]
        rows: list[dict[str, Any]] = []
        asked: dict[str, Any] | None = None
        told = ""
        for news in session.traces(forms, client):
            if isinstance(news, Trace):
                rows.append(_row(wanted[len(rows)], news))
                asked = _asked(news)
            waiting = "" if isinstance(news, Trace) else news.message
            text = waiting or f"{len(rows)} of {len(forms)} decoded …"
            if text != told:
                told = text
                yield _news(text, is_running=True)
        yield {**_news(""), "lanes": rows, "asked": asked}
    except SetBlockDecodingError as error:
        yield _news(message_of(error), is_error=True)
    except Exception:  # the page must say something, whatever broke
        logger.exception("a comparison of solvers failed")
        yield _news(FAILED_TEXT, is_error=True)


def _row(name: str, trace: Trace) -> dict[str, Any]:
    """One solver's run as the page shows it."""
    return {"name": name, "label": solver_words(trace.config.solver), **lane_row(trace)}


def chosen(names: object) -> list[str]:
    """The solvers asked for, none twice. Raises ArgumentError."""
    rule = f"must be 1 to {MOST} of {', '.join(SOLVERS)}"
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ArgumentError("solvers", rule, names)
    wanted = list(dict.fromkeys(names))
    if not wanted:
        raise ArgumentError("Solvers", f"must be 1 to {MOST}; choose one in a list", None)
    if not 1 <= len(wanted) <= MOST or not set(wanted) <= set(SOLVERS):
        raise ArgumentError("solvers", rule, wanted)
    return wanted


def _asked(trace: Trace) -> dict[str, Any]:
    """What the runs were decoded from, as far as the form may ask for something else by now."""
    return {
        "prompt": trace.prompt,
        "block_size": trace.config.block_size,
        "max_new_tokens": trace.config.max_new_tokens,
    }


def _news(text: str, *, is_error: bool = False, is_running: bool = False) -> dict[str, Any]:
    return {"text": text, "is_error": is_error, "is_running": is_running}
