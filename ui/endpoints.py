"""What programs can ask of the page by name, through gradio_client: decode, race, trace_to_html.

Every value is checked as the page's own form is; a bad one is answered by the same sentence.
"""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.trace import Trace
from ui.decode.session import DEFAULT_GAMMA, Form, Session, message_of
from ui.decode.visitor_runs import VisitorRuns
from ui.share.export import trace_html
from ui.share.trace_files import read_trace

MAX_LANES = 6


def add_endpoints(session: Session, concurrency_limit: int) -> None:
    """Name the endpoints on the page that is being built."""

    def race(
        prompt: str, lanes: list[str], block_size: int = 16, max_new_tokens: int = 128
    ) -> Iterator[list[dict[str, Any]]]:
        yield from raced(session, prompt, lanes, block_size, max_new_tokens)

    def trace_to_html(trace: str, ntp_trace: str = "") -> str:
        try:
            return trace_html(*(read_trace(text) for text in (trace, ntp_trace) if text != ""))
        except SetBlockDecodingError as error:
            refuse(message_of(error))

    named = {"concurrency_limit": concurrency_limit, "api_visibility": "public"}
    gr.api(decode_endpoint(session), api_name="decode", api_description=DECODE, **named)
    gr.api(race, api_name="race", api_description=RACE, **named)
    gr.api(trace_to_html, api_name="trace_to_html", api_description=TO_HTML, **named)


def decode_endpoint(session: Session) -> Callable[..., Iterator[dict[str, Any]]]:
    """The function behind `decode`, its parameters those of the form."""

    def decode(
        prompt: str,
        strategy: str = "sbd",
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
    ) -> Iterator[dict[str, Any]]:
        form = Form(
            prompt=prompt,
            strategy=strategy,
            solver=solver,
            gamma=gamma,
            tau=tau,
            factor=factor,
            k=k,
            by=by,
            block_size=block_size,
            max_new_tokens=max_new_tokens,
            seed=seed,
            pinned=pinned or [],
            template=template,
        )
        yield from decoded(session, form)

    return decode


DECODE = """Decode a prompt and stream what is known after every few forward passes.
prompt: what to answer. strategy: sbd, ntp or verify.
solver: entropy-bound and nine others, see sbd_core.config.SOLVERS.
gamma: the entropy bound of a pass, nats. block_size: positions decoded together.
max_new_tokens: longest answer. seed: of solvers that draw. pinned: [[offset, token id], ...].
template: an answer with blanks, ___ a token to fill in, ___3 three. tau: threshold of
confidence-threshold. factor: of the solver of that name. k: tokens a pass of top-k, random and
left-to-right. by: order of top-k, one of confidence, entropy and margin.
Yields {text, num_tokens, num_forwards, is_done, trace}; trace is JSON text at the end, else ""."""
RACE = """Decode one prompt in several ways, one after the other, and compare.
prompt: what to answer.
lanes: of ntp, verify, sbd and sbd:GAMMA, as in ["ntp", "sbd:0.1", "sbd:2", "verify"].
block_size: positions decoded together. max_new_tokens: longest answer.
Yields the list of finished lanes: {lane, text, num_tokens, num_forwards, tokens_per_forward,
seconds}; seconds are the engine's own, drawing and the network are not in them."""
TO_HTML = """One HTML page that replays a trace with no server and no network.
trace: JSON text, as Trace.to_json() or the end of decode gives it. ntp_trace: the same prompt by
next-token prediction, shown beside it; may be empty."""


def decoded(session: Session, form: Form) -> Iterator[dict[str, Any]]:
    """What `decode` yields."""
    visit = VisitorRuns()
    for update in session.decode(form, visit):
        if update.is_error:
            refuse(update.message)
        if not update.wire:
            continue
        trace = next(iter(visit.newest().values()))
        yield {
            "text": trace.text,
            "num_tokens": trace.num_tokens,
            "num_forwards": trace.num_forwards,
            "is_done": not update.is_running,
            "trace": "" if update.is_running else trace.to_json(),
        }


def raced(
    session: Session, prompt: str, lanes: list[str], block_size: int, max_new_tokens: int
) -> Iterator[list[dict[str, Any]]]:
    """What `race` yields."""
    try:
        if not isinstance(lanes, list) or not 1 <= len(lanes) <= MAX_LANES:
            raise ArgumentError("lanes", f"must be a list of 1 to {MAX_LANES}", lanes)
        sizes = {"block_size": block_size, "max_new_tokens": max_new_tokens}
        forms = [Form(prompt, **settings_of(lane), **sizes) for lane in lanes]
        rows: list[dict[str, Any]] = []
        for lane, trace in zip(lanes, session.traces(forms), strict=True):
            rows.append(race_row(lane, trace))
            yield list(rows)
    except SetBlockDecodingError as error:
        refuse(message_of(error))


def settings_of(lane: object) -> dict[str, Any]:
    """The form's fields for a lane called "ntp", "verify", "sbd" or "sbd:GAMMA"."""
    strategy, colon, gamma = str(lane).partition(":")
    if strategy not in ("ntp", "verify", "sbd") or (colon and strategy != "sbd"):
        raise ArgumentError("lanes", "must each be ntp, verify, sbd or sbd:GAMMA", lane)
    try:
        return {"strategy": strategy, **({"gamma": float(gamma)} if colon else {})}
    except ValueError as error:
        raise ArgumentError("gamma", "must be a finite number >= 0", gamma) from error


def race_row(lane: str, trace: Trace) -> dict[str, Any]:
    """One lane's line in the table of a race."""
    return {
        "lane": lane,
        "text": trace.text,
        "num_tokens": trace.num_tokens,
        "num_forwards": trace.num_forwards,
        "tokens_per_forward": trace.tokens_per_forward,
        "seconds": trace.seconds,
    }


def refuse(message: str) -> NoReturn:
    """Answer a program with a sentence, and keep it out of the log."""
    raise gr.Error(message, print_exception=False)
