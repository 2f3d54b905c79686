"""Starts the decode or the comparison that the page's URL asks for, once the page opens.

ui/web/share/permalink.ts writes these URLs. Their values may be wrong, as people may edit them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from ui.components import Speaker
from ui.decode.form import MAX_TYPED_CHARACTERS, Form, lane_forms, message_of
from ui.decode.session import Client, Session, Update, Visit
from ui.views.compare import compare_message, compared

# Name in the address: field of the form.
FIELDS = {
    "prompt": "prompt",
    "system": "system",
    "strategy": "strategy",
    "solver": "solver",
    "gamma": "gamma",
    "tau": "tau",
    "factor": "factor",
    "k": "k",
    "by": "by",
    "block": "block_size",
    "tokens": "max_new_tokens",
    "seed": "seed",
    "penalty": "repetition_penalty",
    "max_rows": "max_rows",
    "pins": "pinned",
    "with": "model",
}
TEXTS = {"prompt", "system", "strategy", "solver", "by", "with"}
WHOLE = re.compile(r"-?[0-9]{1,20}")
DECIMAL = re.compile(r"-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?")
LANES = "lanes"
"""Name of the URL's parameter that lists the lanes to compare."""
PINS = re.compile(r"[0-9]{1,9}:[0-9]{1,9}(,[0-9]{1,9}:[0-9]{1,9})*")


def is_link(query: Mapping[str, str]) -> bool:
    """Whether a URL asks for a decode; a URL that only names a model does not."""
    return any(name in query for name in FIELDS if name != "with")


def form_of(query: Mapping[str, str]) -> Form:
    """Make the form that a URL's parameters describe; all other fields have their defaults."""
    values = {field: value_of(name, query[name]) for name, field in FIELDS.items() if name in query}
    return Form.of(values)


def value_of(name: str, text: str) -> Any:
    """Parse a parameter of a URL: a text, a number or pins. Raises ArgumentError for bad pins.

    Pins are [offset, token id] pairs. A text in place of a number stays a text, which the check of
    the form refuses.
    """
    if name in TEXTS:
        return text
    if name == "pins":
        if not PINS.fullmatch(text):
            raise ArgumentError("pins", "must be offsets and token ids like 3:17,5:99", text)
        return [[int(number) for number in pair.split(":")] for pair in text.split(",")]
    if WHOLE.fullmatch(text):
        # A number of more than 64 bits cannot be sent back to the page.
        return int(text) if abs(int(text)) < 2**63 else float(text)
    return float(text) if DECIMAL.fullmatch(text) else text


Updates = Iterator[tuple[Any, ...]]
KEPT = "kept"
NUM_SHOWN = 4  # player, status line, Decode, Stop; the comparison and the form's fields come after


def linked_run(
    session: Session,
    shown: Callable[[Visit, Form, Client], Updates],
    client_of: Callable[[gr.Request], Client],
    fields: Sequence[str],
) -> Callable[[Visit, Any, gr.Request], Updates]:
    """Make the function that Gradio calls when the page loads; it runs what the URL asks for.

    shown: decodes a form and yields the page's values. fields: names of the form's fields.
    The function only fills in the form if the URL leaves decoding to the browser, or asks for a
    single decode that the tab has saved; the function's argument `flag` is then KEPT.
    """

    def linked(visit: Visit, flag: Any, request: gr.Request) -> Updates:
        query, client = request.query_params, client_of(request)
        is_of_browser = "engine" in query
        if LANES in query and not is_of_browser:
            yield from _compare(session, query, fields, client)
        elif is_link(query) and (flag == KEPT or is_of_browser):
            try:
                form = session.with_known_model(form_of(query))
                values = {name: getattr(form, name) for name in fields}
            except SetBlockDecodingError:
                values = _prompt_of(query)
            yield _outputs(fields, values=values)
        elif is_link(query):
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
        form = session.with_known_model(form_of(query))
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
    lanes = query[LANES].split(",")
    try:
        form = session.with_known_model(form_of(query))
        for update in session.while_loading(form.model):
            yield _outputs(fields, lanes=compare_message(Speaker(), update))
        for each in lane_forms(lanes, form).values():
            session.open(each)
    except SetBlockDecodingError as error:
        words = f"This link cannot be compared: {message_of(error)}"
        refusal = Update(message=words, is_error=True, is_running=False)
        shown = compare_message(Speaker(), refusal)
        yield _outputs(fields, lanes=shown, values=_prompt_of(query))
        return
    named = {field for name, field in FIELDS.items() if name in query}
    values = {name: getattr(form, name) for name in fields if name in named}
    for news in compared(session, lanes, form, client):
        yield _outputs(fields, lanes=news, values=values)
        values = {}


def _prompt_of(query: Mapping[str, str]) -> dict[str, Any]:
    """The prompt from a faulty link, for the form: {"prompt": text}, or {} if there is none."""
    prompt = query.get("prompt", "")[:MAX_TYPED_CHARACTERS]
    return {"prompt": prompt} if prompt else {}


def _outputs(
    fields: Sequence[str],
    shown: tuple[Any, ...] | None = None,
    lanes: Any = None,
    values: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """The values of all outputs of the page's load event, in order; None leaves an output as it is.

    fields: names of the form's fields. shown: values of the player, status line, Decode and Stop.
    lanes: value of the Compare view. values: values of the form's fields by name.
    """
    known = values or {}
    return (
        *(shown or [gr.skip() for _ in range(NUM_SHOWN)]),
        gr.skip() if lanes is None else lanes,
        *(known.get(name, gr.skip()) for name in fields),
    )
