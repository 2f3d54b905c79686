"""One visitor's decode: the form checked, the turn awaited, the lanes run pass by pass.

FairQueue every error into one line of text, here and nowhere else. Knows no Gradio and no tensors.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sbd_core
from sbd_core.config import SOLVERS, DecodeConfig, EntropyBound, make_solver, require_integer
from sbd_core.errors import ArgumentError, SetBlockDecodingError, shown
from sbd_core.models.protocol import SetBlockModel
from sbd_core.trace import Trace
from ui.decode.blanks import pins_of
from ui.decode.fair_queue import FairQueue
from ui.decode.lanes import Lane, passes
from ui.decode.update_throttle import UpdateThrottle
from ui.decode.visitor_runs import Traces, VisitorRuns
from ui.lazy_model import LazyModel
from ui.wire_format import RunWire

DEFAULT_GAMMA = EntropyBound().gamma
MAX_PROMPT_CHARACTERS = 2_000
MAX_PROMPT_TOKENS = 1_000
MAX_NEW_TOKENS = 256
MAX_ASK = 16
MAX_RUN_SECONDS = 60.0
MAX_WAIT_SECONDS = 90.0
SECONDS_BETWEEN_LOOKS = 0.2
STOPPED_TEXT = "Stopped."
LOADING_TEXT = "The model is being loaded; yours starts by itself."

LABELS = {
    "prompt": "Prompt",
    "puzzle": "The puzzle",
    "template": "Answer with blanks",
    "strategy": "Strategy",
    "solver": "Solver",
    "gamma": "γ",
    "tau": "τ",
    "factor": "Factor",
    "k": "Tokens per pass",
    "by": "Best by",
    "block_size": "Block size",
    "max_new_tokens": "Longest answer",
    "seed": "Seed",
    "pinned": "Pins",
    "pinned offset": "A pin’s position",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Form:
    """What the visitor sent, unchecked: a raw post can hold anything. Fields as on the page.

    ask: a short text that the run carries back, so that the player knows what it answers.
    """

    prompt: Any
    strategy: Any = "sbd"
    solver: Any = "entropy-bound"
    gamma: Any = DEFAULT_GAMMA
    tau: Any = 0.9
    factor: Any = 1.0
    k: Any = 2
    by: Any = "confidence"
    block_size: Any = 16
    max_new_tokens: Any = 128
    seed: Any = 0
    pinned: Any = ()
    template: Any = ""
    ask: Any = ""

    @classmethod
    def of(cls, data: Any) -> "Form":
        """The form of a decode that the player asks for; names it does not know are dropped."""
        known = data if isinstance(data, dict) else {}
        values = {name: known[name] for name in cls.__dataclass_fields__ if name in known}
        return cls(**{"prompt": None, **values})


@dataclass(frozen=True, slots=True)
class Update:
    """News for the page. wire: lines for the player. message: a line of text, "" clears it."""

    wire: str = ""
    message: str = ""
    is_error: bool = False
    is_running: bool = True


def checked(form: Form) -> tuple[str, DecodeConfig]:
    """Prompt and config of a form. Raises ArgumentError naming field, rule and value."""
    if not isinstance(form.prompt, str) or not form.prompt.strip():
        raise ArgumentError("prompt", "must not be empty", "")
    if len(form.prompt) > MAX_PROMPT_CHARACTERS:
        rule = f"must be at most {MAX_PROMPT_CHARACTERS:,} characters"
        raise ArgumentError("prompt", rule, len(form.prompt))
    if not isinstance(form.solver, str) or form.solver not in SOLVERS:
        raise ArgumentError("solver", f"must be one of {', '.join(SOLVERS)}", form.solver)
    fields = SOLVERS[form.solver].__dataclass_fields__
    config = DecodeConfig(
        strategy=form.strategy,
        solver=make_solver(form.solver, {name: _whole(getattr(form, name)) for name in fields}),
        block_size=_whole(form.block_size),
        max_new_tokens=_whole(form.max_new_tokens),
        seed=_whole(form.seed),
        pinned=_pairs(form.pinned),
    )
    if config.max_new_tokens > MAX_NEW_TOKENS:
        rule = f"must be at most {MAX_NEW_TOKENS} tokens on this page"
        raise ArgumentError("max_new_tokens", rule, config.max_new_tokens)
    return form.prompt, config


def _whole(value: Any) -> Any:
    """A float that is a whole number as an int: sliders send 8.0 for 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _pairs(value: Any) -> dict[int, int]:
    """[[offset, token id], ...] as a mapping, values unchecked."""
    is_list = isinstance(value, (list, tuple)) and len(value) <= MAX_NEW_TOKENS
    if not is_list or not all(isinstance(item, list) and len(item) == 2 for item in value):
        raise ArgumentError("pinned", "must be a list of offsets and token ids", value)
    pinned: dict[int, int] = {}
    for offset, token_id in value:
        require_integer("pinned offset", offset, 0)
        if offset in pinned:
            raise ArgumentError("pinned", "must name each position once", offset)
        pinned[offset] = token_id
    return pinned


def message_of(error: SetBlockDecodingError) -> str:
    """One line for the visitor: which field, which rule, what it got."""
    if not isinstance(error, ArgumentError):
        return f"{error}"
    label = LABELS.get(error.argument, error.argument)
    if error.value in ("", None):
        return f"{label} {error.rule}."
    return f"{label} {error.rule}; got {shown(error.value)}."


class Session:
    """All visitors' way to one model. Only the model is shared, and nobody writes to it."""

    def __init__(self, model: SetBlockModel | LazyModel) -> None:
        self._lazy_model = LazyModel.of(model)
        self.turns = FairQueue(MAX_RUN_SECONDS + 10)

    @property
    def model(self) -> SetBlockModel:
        """The model, waiting until it is loaded; `arrival` waits with words."""
        return self._lazy_model.result()

    def arrival(self) -> Iterator[Update]:
        """News while the model is being loaded; none if it is there."""
        while not self._lazy_model.wait(SECONDS_BETWEEN_LOOKS):
            yield Update(message=LOADING_TEXT)

    def check(self, form: Form) -> None:
        """Raise the error that a decode of the form would be refused with; needs the model."""
        self.open(form)

    def decode(self, form: Form, visit: VisitorRuns | None = None) -> Iterator[Update]:
        """Everything the page shows of one decode, to the end. Closing it frees the model.

        visit: where the run is kept for its visitor, who may stop it there.
        """
        ticket = object()
        visit = visit or VisitorRuns()
        is_stopped = visit.watch()
        try:
            yield from self.arrival()
            ticket = self.turns.join()
            lanes = self.open(form)
            ask = form.ask if isinstance(form.ask, str) and len(form.ask) <= MAX_ASK else ""
            yield from self.wait(ticket)
            yield from self._run(lanes, visit, ask, is_stopped)
        except SetBlockDecodingError as error:
            yield Update(message=message_of(error), is_error=True, is_running=False)
        except Exception:  # the page must say something, whatever broke
            logger.exception("a decode failed")
            text = "The decode failed inside the program; its log says where."
            yield Update(message=text, is_error=True, is_running=False)
        finally:
            self.turns.leave(ticket)
        if is_stopped():
            yield Update(message=STOPPED_TEXT, is_running=False)

    def traces(self, forms: Sequence[Form]) -> Iterator[Trace]:
        """Decode each form alone, one after the other.

        Raises the error of the first bad one, or that all of them took too long.
        """
        ticket = self.turns.join()
        try:
            lanes = [self.open(form)[0] for form in forms]
            for _ in self.wait(ticket):
                pass
            deadline = time.monotonic() + MAX_RUN_SECONDS
            for lane in lanes:
                for event in lane.stream:
                    lane.events.append(event)
                    if time.monotonic() > deadline:
                        raise SetBlockDecodingError(
                            f"Stopped after {MAX_RUN_SECONDS:.0f} seconds, this page’s limit."
                        )
                yield self.trace(lane)
        finally:
            self.turns.leave(ticket)

    def open(self, form: Form) -> list[Lane]:
        """The lanes of a form, the main one first; checked and not started."""
        prompt, config = checked(form)
        blanks = pins_of(self.model, form.template, config)
        config = replace(config, pinned={**blanks, **config.pinned})
        num_tokens = len(self.model.encode(prompt, config.is_raw_prompt))
        if num_tokens > MAX_PROMPT_TOKENS:
            rule = f"must be at most {MAX_PROMPT_TOKENS:,} tokens"
            raise ArgumentError("prompt", rule, num_tokens)
        configs = [config]
        if config.strategy != "ntp":
            configs.append(replace(config, strategy="ntp", solver=EntropyBound(), pinned={}))
        return [Lane(prompt, each, sbd_core.stream(self.model, prompt, each)) for each in configs]

    def wait(self, ticket: object) -> Iterator[Update]:
        """News of the line until it is the ticket's turn. Raises if that takes too long."""
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while num_ahead := self.turns.num_ahead(ticket):
            if time.monotonic() > deadline:
                raise SetBlockDecodingError("The model is busy; try again in a minute.")
            yield Update(message=waiting_text(num_ahead))
            self.turns.rest(ticket, SECONDS_BETWEEN_LOOKS)

    def _run(
        self, lanes: list[Lane], visit: VisitorRuns, ask: str, is_stopped: Callable[[], bool]
    ) -> Iterator[Update]:
        lines: list[str] = []
        deadline = time.monotonic() + MAX_RUN_SECONDS
        pace = UpdateThrottle()
        is_awaited = True  # the first reveal of the main lane
        for line in self._lines(lanes, deadline, visit, ask):
            if is_stopped():
                return
            lines.append(line)
            is_there = is_awaited and lanes[0].has_revealed
            is_awaited = is_awaited and not is_there
            if pace.is_due(is_there):
                yield Update(wire="\n".join(lines), message="Decoding …")
                lines.clear()
        is_late = time.monotonic() > deadline
        text = f"Stopped after {MAX_RUN_SECONDS:.0f} seconds, this page’s limit." if is_late else ""
        yield Update(wire="\n".join(lines), message=text, is_running=False)

    def _lines(
        self, lanes: list[Lane], deadline: float, visit: VisitorRuns, ask: str
    ) -> Iterator[str]:
        """Wire lines of all lanes, in the order of `passes`."""
        run_id = uuid.uuid4().hex[:8]
        wire = RunWire(run_id, self.model.token_text)
        visit.keep(run_id, lambda: self._traces(lanes))
        main = lanes[0]
        yield wire.start(main.prompt, main.config, [lane.name for lane in lanes],
                         model=self.model.name, ask=ask)  # fmt: skip
        ended = []
        for lane, event in passes(lanes, deadline):
            if event is None:
                ended.append(lane)
                yield self._end(wire, lane)
            else:
                yield wire.step(lane.name, event)
        for lane in lanes:
            if lane not in ended:
                yield self._end(wire, lane)

    def _end(self, wire: RunWire, lane: Lane) -> str:
        trace = self.trace(lane)
        return wire.end(lane.name, trace.finish, trace.text)

    def trace(self, lane: Lane) -> Trace:
        """What the lane has decoded so far."""
        from sbd_core.decoding.api import (
            make_trace,  # here: the page opens before torch is imported
        )

        return make_trace(self.model, lane.prompt, lane.config, lane.events)

    def _traces(self, lanes: list[Lane]) -> Traces:
        return {lane.name: self.trace(lane) for lane in lanes}


def waiting_text(num_ahead: int) -> str:
    """Where in line, in words."""
    if num_ahead == 1:
        return "Another decode is running; yours is next."
    return f"{num_ahead} decodes are before yours; it starts by itself."
