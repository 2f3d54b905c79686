"""What the page does when it is opened: the decode that its address asks for, if any."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from ui import permalink
from ui.components.notice import Speaker
from ui.session import MAX_PROMPT_CHARACTERS, Form, Session, message_of
from ui.visit import Visit

Updates = Iterator[tuple[Any, ...]]
NUM_OUTPUTS = 4  # player, notice, Decode, Stop; the fields of the form come after


def linked_decode(
    session: Session, shown: Callable[[Visit, Form], Updates], fields: Sequence[str]
) -> Callable[[Visit, gr.Request], Updates]:
    """A handler of the page's load. shown: decodes a form. fields: names of the form's fields."""
    still = [gr.skip() for _ in fields]

    def linked(kept: Visit, request: gr.Request) -> Updates:
        query = request.query_params
        if not permalink.is_link(query):
            yield (*[gr.skip()] * NUM_OUTPUTS, *still)
            return
        try:
            form = permalink.form_of(query)
            session.check(form)
        except SetBlockDecodingError as error:
            words = f"This link cannot be decoded: {message_of(error)}"
            prompt = query.get("prompt", "")[:MAX_PROMPT_CHARACTERS]
            news = (gr.skip(), Speaker().say(words, is_error=True), gr.skip(), gr.skip())
            yield (*news, prompt or gr.skip(), *still[1:])
            return
        restored = [getattr(form, name) for name in fields]
        for update in shown(kept, form):
            yield (*update, *restored)
            restored = still

    return linked
