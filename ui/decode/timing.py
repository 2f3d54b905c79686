"""One decode made a few times, alone with the engine, for its median and range. Knows no Gradio."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sbd_core.errors import SetBlockDecodingError
from ui.decode.client import LOCAL, Client
from ui.decode.form import Form, message_of
from ui.decode.session import FAILED_TEXT, Session, Update

NUM_TIMINGS = 5
"""As ui/web/watch/numbers.js."""

logger = logging.getLogger(__name__)


def timings(session: Session, form: Form, client: Client = LOCAL) -> Iterator[dict[str, Any]]:
    """Engine seconds of the form's decode and of next-token prediction, more with every item.

    {"run": the form's ask, "seconds": [...], "ntpSeconds": [...]}, with "error" if it went wrong.
    """
    news: dict[str, Any] = {"run": str(form.ask), "seconds": [], "ntpSeconds": []}
    plain = replace(form, strategy="ntp", pinned=(), template="")
    traces = session.traces([form, plain] * NUM_TIMINGS, client)
    names = ["seconds", "ntpSeconds"] * NUM_TIMINGS
    try:
        for trace in traces:
            if isinstance(trace, Update):
                continue
            news[names.pop(0)].append(trace.seconds)
            if len(names) % 2 == 0:
                yield news
    except SetBlockDecodingError as error:
        yield {**news, "error": message_of(error)}
    except Exception:  # the page must say something, whatever broke
        logger.exception("a timing failed")
        yield {**news, "error": FAILED_TEXT}
