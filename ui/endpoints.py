"""The endpoints that programs call through gradio_client: decode, race, trace_to_html.

The rules of the page's form check every value and give the same error messages.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.replay import replay_html
from sbd_core.trace import Trace
from ui.decode.form import DEFAULT_GAMMA, Form, lane_settings, message_of
from ui.decode.session import Client, Session, Update
from ui.share.trace_files import read_trace

MAX_RACE_LANES = 6
WAITING = {"text": "", "num_tokens": 0, "num_forwards": 0, "is_done": False, "trace": ""}
"""Value that `decode` yields, with num_ahead set, while it waits for other runs."""
RACE_WAITING = {
    "lane": "",
    "text": "",
    "num_tokens": 0,
    "num_forwards": 0,
    "tokens_per_forward": 0.0,
    "seconds": 0.0,
}
"""The only row that `race` yields, with num_ahead set, while it waits for other runs."""
SECONDS_BETWEEN_ROWS = 0.25
SECONDS_BETWEEN_WAITING_ROWS = 1.0


def add_endpoints(
    session: Session, client_of: Callable[[gr.Request], Client], run: dict[str, Any]
) -> None:
    """Add the endpoints to the page that is being built. run: queue settings for gr.api()."""
    of_page = Endpoints(session, client_of)
    for name, words in (("decode", DECODE), ("race", RACE), ("trace_to_html", TO_HTML)):
        gr.api(getattr(of_page, name), api_name=name, api_description=words, **run)


class Endpoints:
    """The functions behind the endpoints. DECODE, RACE and TO_HTML document them for callers."""

    def __init__(self, session: Session, client_of: Callable[[gr.Request], Client]) -> None:
        self._session, self._client_of = session, client_of

    def race(
        self,
        request: gr.Request,
        prompt: str,
        lanes: list[str],
        block_size: int = 16,
        max_new_tokens: int = 128,
        model: str = "",
    ) -> Iterator[list[dict[str, Any]]]:
        """Decode a prompt in several lanes and yield results; RACE documents the parameters."""
        sizes = {"block_size": block_size, "max_new_tokens": max_new_tokens, "model": model}
        yield from raced(self._session, prompt, lanes, sizes, self._client_of(request))

    def decode(
        self,
        request: gr.Request,
        prompt: str,
        strategy: str | None = None,
        solver: str = "entropy-bound",
        gamma: float = DEFAULT_GAMMA,
        block_size: int = 16,
        max_new_tokens: int = 128,
        seed: int = 0,
        pinned: list[list[int]] | None = None,
        template: str = "",
        tau: float = 0.9,
        factor: float = 1.0,
        k: int = 2,
        by: str = "confidence",
        repetition_penalty: float | None = None,
        max_rows: int = 0,
        model: str = "",
        system: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Decode a prompt and yield the answer so far; DECODE documents the parameters."""
        form = Form.of({**locals(), "pinned": pinned or []})
        yield from decoded(self._session, form, self._client_of(request))

    def trace_to_html(self, request: gr.Request, trace: str, ntp_trace: str = "") -> str:
        """Make an HTML page that replays a trace; TO_HTML documents the parameters."""
        try:
            texts = [trace, ntp_trace] if ntp_trace != "" else [trace]
            with self._session.turn(self._client_of(request)):
                return replay_html(*(read_trace(text) for text in texts))
        except SetBlockDecodingError as error:
            refuse(message_of(error))


DECODE = """Decode a prompt and stream the answer so far every few forward passes.
prompt: what to answer. strategy: sbd, ntp or verify; null is the model's own.
solver: a name in sbd_core.solvers.SOLVERS.
gamma: the entropy bound of a forward pass, nats. block_size: positions decoded together.
max_new_tokens: longest answer. seed: of solvers that draw. pinned: [[offset, token id], ...].
template: an answer with blanks, ___ a token to fill in, ___3 three. tau: threshold of
confidence-threshold. factor: of the solver of that name. k: tokens a forward pass of the solvers
that reveal a number of them. by: order of top-k, one of confidence, entropy and margin.
repetition_penalty: above 1 makes tokens that came before less likely; null is the model's own.
max_rows: most rows of a forward pass of verify; 0 takes the server’s default.
model: the name of one that the page offers; empty is the one it opens with.
system: message to the model before the prompt.
Yields {text, num_tokens, num_forwards, is_done, trace, num_ahead}; trace is JSON text at the end,
else "". num_ahead: runs of others that are before this one."""
RACE = """Decode one prompt in several ways, one after the other, and compare.
prompt: what to answer.
lanes: of ntp, verify, verify:ROWS, sbd, and names in sbd_core.solvers.SOLVERS, with a value of
the first setting or without, as in ["ntp", "sbd:0.1", "top-k:4", "verify", "verify:41"].
block_size: positions decoded together. max_new_tokens: longest answer.
model: the name of one that the page offers; empty is the one it opens with.
Yields the list of finished lanes, and repeats it while another runs: {lane, text, num_tokens,
num_forwards, tokens_per_forward, seconds, num_ahead}; seconds are the engine's own, without
drawing and network. While runs of others are before this one, the list holds one row that is no
lane's: its num_ahead says how many."""
TO_HTML = """One HTML page that replays a trace with no server and no network.
trace: JSON text, as Trace.to_json() or the end of decode gives it. ntp_trace: the same prompt by
next-token prediction, shown beside it; may be empty."""


def decoded(session: Session, form: Form, client: Client) -> Iterator[dict[str, Any]]:
    """Decode a form; yield the values of the endpoint `decode`. Raises gr.Error if it fails."""
    told = time.monotonic()
    for update in session.decode(form, client=client, is_compared=False):
        if update.is_error:
            refuse(update.message)
        if update.lane is None:
            # Gradio tells us that a client left only when we yield, also in the line.
            if update.is_running and time.monotonic() - told > SECONDS_BETWEEN_WAITING_ROWS:
                told = time.monotonic()
                yield {**WAITING, "num_ahead": update.num_ahead}
            continue
        lane = update.lane
        yield {
            "text": lane.model.decode(lane.token_ids),
            "num_tokens": len(lane.token_ids),
            "num_forwards": len(lane.events),
            "is_done": not update.is_running,
            "trace": "" if update.is_running else session.trace(lane).to_json(),
            "num_ahead": 0,
        }


def raced(
    session: Session, prompt: str, lanes: list[str], sizes: dict[str, Any], client: Client
) -> Iterator[list[dict[str, Any]]]:
    """Decode lanes one after the other; yield lists as RACE tells. Raises gr.Error on failure.

    Lists are yielded during a decode, too: only at a yield does Gradio notice that a client left.
    sizes: block_size, max_new_tokens and model, the same for every lane.
    """
    try:
        if not isinstance(lanes, list) or not 1 <= len(lanes) <= MAX_RACE_LANES:
            raise ArgumentError("lanes", f"must be a list of 1 to {MAX_RACE_LANES}", lanes)
        forms = [Form(prompt, **lane_settings(lane), **sizes) for lane in lanes]
        rows: list[dict[str, Any]] = []
        told = time.monotonic()
        for news in session.traces(forms, client):
            is_due = time.monotonic() - told > SECONDS_BETWEEN_ROWS
            if isinstance(news, Trace):
                row = {name: getattr(news, name) for name in RACE_WAITING if name != "lane"}
                rows.append({"lane": lanes[len(rows)], **row, "num_ahead": 0})
            elif not is_due:
                continue
            told = time.monotonic()
            num_ahead = news.num_ahead if isinstance(news, Update) else 0
            yield [{**RACE_WAITING, "num_ahead": num_ahead}] if num_ahead else list(rows)
    except SetBlockDecodingError as error:
        refuse(message_of(error))


def refuse(message: str) -> NoReturn:
    """Raise gr.Error with a message for the program, without a traceback in the log."""
    raise gr.Error(message, print_exception=False)
