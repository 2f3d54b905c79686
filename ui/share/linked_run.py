"""Runs the decode or comparison that the page's address asks for when it is opened."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from ui.decode.form import MAX_TYPED_CHARACTERS, Form, forms_of, message_of
from ui.decode.session import Client, Session, Update, Visit
from ui.messages import Speaker
from ui.share import permalink
from ui.views.compare import compared, told

Updates = Iterator[tuple[Any, ...]]
KEPT = "kept"
NUM_SHOWN = 4  # player, status line, Decode, Stop; the comparison and the form's fields come after


def linked_run(
    session: Session,
    shown: Callable[[Visit, Form, Client], Updates],
    client_of: Callable[[gr.Request], Client],
    fields: Sequence[str],
) -> Callable[[Visit, Any, gr.Request], Updates]:
    """Make the handler of the page's load.

    shown: yields the page's values while it decodes a form. fields: names of the form's fields.
    The handler's flag is KEPT after a reload of a tab that has saved its address's runs. If an
    address asks for the visitor's own browser, the handler leaves the decode to that.
    """

    def linked(visit: Visit, flag: Any, request: gr.Request) -> Updates:
        query, client = request.query_params, client_of(request)
        is_of_browser = "engine" in query
        if permalink.LANES in query and not is_of_browser:
            yield from _compare(session, query, fields, client)
        elif permalink.is_link(query) and (flag == KEPT or is_of_browser):
            try:
                form = session.with_known_model(permalink.form_of(query))
                values = {name: getattr(form, name) for name in fields}
            except SetBlockDecodingError:
                values = _prompt_of(query)
            yield _outputs(fields, values=values)
        elif permalink.is_link(query):
            yield from _decode(session, lambda form: shown(visit, form, client), query, fields)
        else:
            yield _outputs(fields)

    return linked


def _decode(
    session: Session,
    shown: Callable[[Form], Updates],
    query: Mapping[str, str],
    fields: Sequence[str],
) -> Updates:
    speaker = Speaker()
    try:
        form = session.with_known_model(permalink.form_of(query))
        for wait in session.while_loading(form.model):
            yield _outputs(fields, (gr.skip(), speaker.say(wait.message), gr.skip(), gr.skip()))
        session.open(form)  # raises what its decode would raise
    except SetBlockDecodingError as error:
        words = f"This link cannot be decoded: {message_of(error)}"
        news = (gr.skip(), speaker.say(words, is_error=True), gr.skip(), gr.skip())
        yield _outputs(fields, news, values=_prompt_of(query))
        return
    values = {name: getattr(form, name) for name in fields}
    for update in shown(form):
        yield _outputs(fields, update, values=values)
        values = {}


def _compare(
    session: Session, query: Mapping[str, str], fields: Sequence[str], client: Client
) -> Updates:
    lanes = query[permalink.LANES].split(",")
    try:
        form = session.with_known_model(permalink.form_of(query))
        for update in session.while_loading(form.model):
            yield _outputs(fields, lanes=told(Speaker(), update))
        for each in forms_of(lanes, form).values():
            session.open(each)
    except SetBlockDecodingError as error:
        words = f"This link cannot be compared: {message_of(error)}"
        refusal = Update(message=words, is_error=True, is_running=False)
        shown = told(Speaker(), refusal)
        yield _outputs(fields, lanes=shown, values=_prompt_of(query))
        return
    named = {field for name, field in permalink.FIELDS.items() if name in query}
    values = {name: getattr(form, name) for name in fields if name in named}
    for news in compared(session, lanes, form, client):
        yield _outputs(fields, lanes=news, values=values)
        values = {}


def _prompt_of(query: Mapping[str, str]) -> dict[str, Any]:
    """The prompt of a bad link, so that it is not lost."""
    prompt = query.get("prompt", "")[:MAX_TYPED_CHARACTERS]
    return {"prompt": prompt} if prompt else {}


def _outputs(
    fields: Sequence[str],
    shown: tuple[Any, ...] | None = None,
    lanes: Any = None,
    values: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """All outputs in order; those not given stay as they are.

    shown: player, status line, Decode, Stop. lanes: the comparison. values: of the form's fields.
    """
    known = values or {}
    return (
        *(shown or [gr.skip() for _ in range(NUM_SHOWN)]),
        gr.skip() if lanes is None else lanes,
        *(known.get(name, gr.skip()) for name in fields),
    )
