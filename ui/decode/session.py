"""Runs visitors' decodes: checks the form, waits in line, yields forward passes as JSON lines.

Turns every error of a run into one line of text. Only the visitor's browser keeps finished runs.
Knows no Gradio and no tensors; ui.server makes a Client of each request.
"""

import logging
import time
import traceback
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, SetBlockDecodingError, is_out_of_memory
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import MAX_SHOWN_BLOCK, RunLines
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from ui.decode.fair_queue import FairQueue
from ui.decode.form import (
    PUBLIC,
    USUAL,
    USUAL_ROWS,
    Form,
    Limits,
    checked,
    message_of,
    prompt_of_form,
    template_pins,
)
from ui.decode.verdict import verdicts_of
from ui.models import LazyModel, Models
from ui.zero_gpu import StreamFunction, lent, on_zero_gpu

MAX_ASK = 16
MAX_WAIT_SECONDS = 90.0
"""Longest expected wait, estimated from earlier turns, with which a visitor may join the line."""
MAX_PATIENCE_SECONDS = 180.0
"""Time in line after which a visitor is turned away."""
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_WAITING_UPDATES = 1.0
LOADING_TEXT = "The model is loading; your decode starts by itself."
FAILED_TEXT = "The decode failed inside the program; the log says where."

FULL_TEXT = (
    "The model ran out of memory; try a shorter answer, a shorter prompt or a smaller block."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Client:
    """A visitor's browser tab, or a program, that asks for runs.

    address: network address; all clients with the same address share their turns in line.
    is_listening: returns whether the client still reads updates; its run is stopped if not.
    """

    address: str = ""
    is_listening: Callable[[], bool] = lambda: True


LOCAL = Client()


@dataclass(slots=True, eq=False)
class Lane:
    """One of the decodes of a prompt that the page compares: its config and its progress.

    prompt: text or messages, as sbd_core.stream() takes them.
    lent: function that decodes on a GPU lent per call (ZeroGPU); None uses sbd_core.stream().
    events: events of the forward passes so far. token_ids: tokens that these passes committed.
    has_revealed: whether a forward pass has revealed a token.
    name: name of the lane; "" takes the name of the strategy.
    The lane holds a KV cache from its first step() until the decode ends or close() is called.
    """

    model: SetBlockModel
    prompt: Any
    prompt_token_ids: tuple[int, ...]
    config: DecodeConfig
    lent: StreamFunction | None = None
    events: list[StepEvent] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)
    has_revealed: bool = False
    name: str = ""
    _stream: Iterator[StepEvent] | None = None
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self.name = self.name or str(self.config.strategy)

    def step(self) -> StepEvent | None:
        """Run the next forward pass; return its event, or None if the lane is over or closed."""
        if self._is_closed:
            return None
        if self._stream is None:
            stream = self.lent or partial(sbd_core.stream, self.model)
            self._stream = stream(self.prompt_token_ids, self.config)
        event = next(self._stream, None)
        if event is None:
            self.close()
        else:
            self.events.append(event)
            self.token_ids += event.committed
            self.has_revealed = self.has_revealed or bool(event.reveals)
        return event

    def close(self) -> None:
        """Free the KV cache and end the decode; the events stay."""
        self._is_closed = True
        self._stream = None


def passes(
    lanes: Sequence[Lane], deadline: float, *, is_race: bool
) -> Iterator[tuple[Lane, StepEvent | None]]:
    """Decode lanes; yield (lane, event) per forward pass, and (lane, None) when a lane is complete.

    deadline: value of time.monotonic() at which to stop.
    is_race: whether to alternate between the lanes after each forward pass; a lane's first turn
        lasts until its first token. Otherwise, and on ZeroGPU, the lanes are decoded one by one.
    """
    running = list(lanes)
    # A second GPU might not be lent while the first call waits for it.
    if not is_race or on_zero_gpu():
        for lane in lanes:
            yield from _alone(lane, deadline)
        return
    while running and time.monotonic() <= deadline:
        for lane in list(running):
            event = lane.step()
            while event is not None and not lane.has_revealed:
                yield lane, event
                event = lane.step()
            yield lane, event
            if event is None:
                running.remove(lane)


def _alone(lane: Lane, deadline: float) -> Iterator[tuple[Lane, StepEvent | None]]:
    event = None
    while time.monotonic() <= deadline:
        event = lane.step()
        yield lane, event
        if event is None:
            return
    lane.close()


@dataclass(frozen=True, slots=True)
class Update:
    """One message about a run.

    lines: JSON lines for the player, see sbd_core.run_lines.
    message: text for the status line; "" clears it.
    num_ahead: number of runs that come before this one in line.
    lanes: the lanes, the main one first, in updates during or after their decode; else ().
    """

    lines: str = ""
    message: str = ""
    is_error: bool = False
    is_running: bool = True
    num_ahead: int = 0
    lanes: Sequence[Lane] = ()


class Session:
    """Runs the decodes of all visitors of a page, one visitor at a time, with shared models.

    limits: the limits of a decode on this page.
    """

    def __init__(
        self, models: SetBlockModel | LazyModel | Models, *, is_public: bool = False
    ) -> None:
        self.models = Models.of(models)
        self.limits = PUBLIC if is_public else USUAL
        self._lent = {
            offer.name: lent(partial(self.model, offer.name), self.limits.max_run_seconds)
            for offer in self.models
            if on_zero_gpu()
        }
        self.queue = FairQueue(
            self.limits.max_run_seconds + 10,
            MAX_WAIT_SECONDS,
            max_places_each=self.limits.max_places,
        )

    @property
    def busy_text(self) -> str:
        """The text of the status line during a decode."""
        most = (
            f", {self.limits.max_run_seconds:.0f} seconds at most" if self.limits.is_public else ""
        )
        return f"Decoding{most} …"

    def model(self, name: object = "") -> SetBlockModel:
        """Wait until a model of the page is loaded, and return it. name: see Form.model."""
        return self.models.wanted(name).result()

    def while_loading(self, name: object, client: Client = LOCAL) -> Iterator[Update]:
        """Begin to load a model, and yield updates until it is loaded. name: see Form.model.

        Raises ArgumentError for an unknown model, ModelError for a model that is not here, and
        SetBlockDecodingError if the client stops listening.
        """
        lazy = self.models.wanted(name)
        told = 0.0
        while not lazy.wait(SECONDS_BETWEEN_LOOKS):
            require_listener(client)
            if time.monotonic() - told > SECONDS_BETWEEN_WAITING_UPDATES:
                told = time.monotonic()
                yield Update(message=LOADING_TEXT)

    def decode(
        self, form: Form, client: Client = LOCAL, *, is_compared: bool = True
    ) -> Generator[Update, None, None]:
        """Decode a form's prompt and yield updates. Closing the generator ends the decode.

        client: who asked.
        is_compared: whether to decode the prompt by next-token prediction, too.
        """
        num_lanes = None if is_compared else 1

        def make_lanes() -> list[Lane]:
            return self.open(form)[:num_lanes]

        yield from self._updates([form.model], make_lanes, form.ask, client, is_race=False)

    def compare(
        self, forms: Mapping[str, Form], client: Client = LOCAL
    ) -> Generator[Update, None, None]:
        """Decode lanes in turns and yield updates. forms: the lanes' forms by their names."""

        def make_lanes() -> list[Lane]:
            return [replace(self.open(form)[0], name=name) for name, form in forms.items()]

        names = [form.model for form in forms.values()]
        yield from self._updates(names, make_lanes, "", client, is_race=True)

    def _updates(
        self,
        names: Sequence[object],
        make_lanes: Callable[[], list[Lane]],
        ask: object,
        client: Client,
        *,
        is_race: bool,
    ) -> Iterator[Update]:
        """Wait in line and decode lanes; yield updates, errors included.

        names: names of the models to load. make_lanes: makes the lanes after the loading.
        ask: see Form. client: see decode(). is_race: see passes().
        """
        ticket = None
        run_id = uuid.uuid4().hex[:8]
        lanes: list[Lane] = []
        try:
            for name in names:
                yield from self.while_loading(name, client)
            lanes = make_lanes()
            ticket = self.queue.join(client.address)
            yield from self.wait(ticket, client)
            known = ask if isinstance(ask, str) and len(ask) <= MAX_ASK else ""
            rows = partial(self._lines, run_id, lanes, ask=known, is_race=is_race)
            yield from self._run(rows, lanes, client)
        except SetBlockDecodingError as error:
            yield Update(message=message_of(error), is_error=True, is_running=False)
        except Exception as error:  # whatever broke, the page must say so
            logger.error("a decode failed:\n%s", where(error))
            text = FULL_TEXT if is_out_of_memory(error) else FAILED_TEXT
            yield Update(message=text, is_error=True, is_running=False)
        finally:
            for lane in lanes:
                lane.close()
            self.queue.leave(ticket)

    def traces(
        self, forms: Sequence[Form], client: Client = LOCAL
    ) -> Generator[Trace | Update, None, None]:
        """Decode forms one after the other; yield each form's trace, and updates during its decode.

        Raises SetBlockDecodingError for a bad form, or if all forms together take too long.
        """
        ticket = None
        lanes: list[Lane] = []
        try:
            for form in forms:
                yield from self.while_loading(form.model, client)
            lanes = [self.open(form)[0] for form in forms]
            ticket = self.queue.join(client.address)
            yield from self.wait(ticket, client)
            deadline = time.monotonic() + self.limits.max_run_seconds
            for lane in lanes:
                while lane.step() is not None:
                    if time.monotonic() > deadline:
                        raise SetBlockDecodingError(late_text(self.limits))
                    require_listener(client)
                    yield Update()
                yield self.trace(lane)
        finally:
            for lane in lanes:
                lane.close()
            self.queue.leave(ticket)

    @contextmanager
    def turn(self, client: Client) -> Iterator[None]:
        """Wait in line; hold the turn in a `with` block. Raises QueueFull, and errors of wait()."""
        ticket = self.queue.join(client.address)
        try:
            for _ in self.wait(ticket, client):
                pass
            yield
        finally:
            self.queue.leave(ticket)

    def open(self, form: Form) -> list[Lane]:
        """Check a form and make its lanes without starting them: the main one, then one by NTP.

        If the main lane is by NTP, it is the only one. Raises SetBlockDecodingError for a bad form.
        """
        text, config = checked(form)
        self.limits.check_config(text, config)
        prompt = prompt_of_form(form, text)
        model = self.model(form.model)
        engine = _engine()
        if not form.settings.get("max_rows"):
            config = replace(config, max_rows=usual_rows(model))
        config = engine.resolve_defaults(model, config)
        blanks = template_pins(model, form.template, config)
        config = replace(config, pinned={**blanks, **config.pinned})
        prompt_ids = engine.prompt_token_ids(model, prompt, config)
        self.limits.check_prompt_tokens(len(prompt_ids))
        if config.block_size > MAX_SHOWN_BLOCK:
            rule = f"must be at most {MAX_SHOWN_BLOCK} positions on this page"
            raise ArgumentError("block_size", rule, config.block_size)
        configs = [config]
        if config.strategy != "ntp":
            configs.append(replace(config, strategy="ntp", solver=EntropyBound(), pinned={}))
        on_gpu = self._lent.get(self.models.offer(form.model).name)
        return [Lane(model, prompt, prompt_ids, each, on_gpu) for each in configs]

    def wait(self, ticket: object, client: Client = LOCAL) -> Iterator[Update]:
        """Yield the visitor's place in line until the ticket has its turn.

        Raises SetBlockDecodingError after MAX_PATIENCE_SECONDS, or if the client stops listening.
        """
        deadline = time.monotonic() + MAX_PATIENCE_SECONDS
        told, last = 0.0, 0
        while num_ahead := self.queue.num_ahead(ticket):
            if time.monotonic() > deadline:
                raise SetBlockDecodingError("The model is busy; try again in a minute.")
            require_listener(client)
            # Gradio notices only at an update that a client has left.
            is_due = time.monotonic() - told > SECONDS_BETWEEN_WAITING_UPDATES
            if num_ahead != last or is_due:
                told, last = time.monotonic(), num_ahead
                yield Update(message=waiting_text(num_ahead), num_ahead=num_ahead)
            self.queue.wait_for_move(ticket, SECONDS_BETWEEN_LOOKS)

    def _run(
        self, rows: Callable[[float], Iterator[str]], lanes: Sequence[Lane], client: Client
    ) -> Iterator[Update]:
        """Yield updates with a run's JSON lines. rows: takes a deadline and makes the lines."""
        lines: list[str] = []
        deadline = time.monotonic() + self.limits.max_run_seconds
        throttle = UpdateThrottle()
        is_awaited = True  # the first reveal of the main lane
        for line in rows(deadline):
            require_listener(client)
            lines.append(line)
            is_there = is_awaited and lanes[0].has_revealed
            is_awaited = is_awaited and not is_there
            if throttle.is_due(is_awaited=is_there):
                yield Update("\n".join(lines), message=self.busy_text, lanes=lanes)
                lines.clear()
        text = late_text(self.limits) if time.monotonic() > deadline else ""
        yield Update("\n".join(lines), message=text, is_running=False, lanes=lanes)

    def _lines(
        self, run_id: str, lanes: list[Lane], deadline: float, *, ask: str, is_race: bool
    ) -> Iterator[str]:
        """Decode lanes and yield lines for the player, in the order of passes(). ask: see Form."""
        main = lanes[0]
        model, messages = main.model, _engine().messages_of(main.prompt)
        wire = RunLines(run_id, model.token_text)
        yield wire.start(
            messages[-1][1] if messages else str(main.prompt),
            [lane.config for lane in lanes],
            names=[lane.name for lane in lanes],
            model=model.name,
            ask=ask,
            end_token_ids=model.end_token_ids,
            prompt_token_ids=main.prompt_token_ids,
            shape=model.shape,
            versions=_engine().made_by(model, main.config),
            weights=model.weights,
            messages=messages,
        )
        ended = []
        for lane, event in passes(lanes, deadline, is_race=is_race):
            if event is None:
                ended.append(lane)
                yield self._end(wire, lane)
            else:
                yield wire.step(lane.name, event)
        for lane in lanes:
            if lane not in ended:
                yield self._end(wire, lane)

    def _end(self, wire: RunLines, lane: Lane) -> str:
        trace = self.trace(lane)
        verdict = verdicts_of({lane.name: trace}).get(lane.name)
        return wire.end(lane.name, trace.finish, trace.text, verdict)

    def trace(self, lane: Lane) -> Trace:
        """Make a trace of what the lane has decoded so far."""
        trace: Trace = _engine().make_trace(
            lane.model, lane.prompt, lane.prompt_token_ids, lane.config, lane.events
        )
        return trace


def usual_rows(model: SetBlockModel) -> int:
    """Most rows of a forward pass of verify on this page, unless the form says otherwise."""
    return USUAL_ROWS["GPU" if on_zero_gpu() or "cuda" in model.device else "CPU"]


def _engine() -> ModuleType:
    """Import sbd_core.decoding.api. Call this only after a model has been loaded.

    The thread that loads a model imports the module: transformers fails if two threads import it.
    """
    return import_module("sbd_core.decoding.api")


def require_listener(client: Client) -> None:
    """Raise SetBlockDecodingError if the client no longer reads updates, so that its run ends."""
    if not client.is_listening():
        raise SetBlockDecodingError("Stopped: nobody listens to this run any more.")


def late_text(limits: Limits) -> str:
    """Message for a run that was stopped by the time limit."""
    return f"Stopped after {limits.max_run_seconds:.0f} seconds, this page’s limit."


def waiting_text(num_ahead: int) -> str:
    """Tell a visitor their place in line."""
    if num_ahead == 1:
        return "Another decode is before yours, which comes then by itself."
    return f"{num_ahead} decodes are before yours, which comes then by itself."


def where(error: BaseException) -> str:
    """The lines of code that raised an error, and its kind; no words, which may be a visitor's."""
    return "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__


SECONDS_BETWEEN_YIELDS = 0.125
SECONDS_TO_FIRST = 0.1
"""Longest time that the first update waits for a revealed token."""


class UpdateThrottle:
    """Limits how often updates are sent: at intervals, or at once if a visitor waits for one.

    Every update costs engine time, whatever its size.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = clock() + SECONDS_TO_FIRST

    def is_due(self, *, is_awaited: bool) -> bool:
        """Whether to send an update now. is_awaited: whether a visitor waits for this update."""
        now = self._clock()
        if now >= self._due:
            self._due = now + SECONDS_BETWEEN_YIELDS
            return True
        return is_awaited


NUM_TIMINGS = 5
"""Number of timings, the same as in ui/web/core/times.ts."""


def timings(session: Session, form: Form, client: Client = LOCAL) -> Iterator[dict[str, Any]]:
    """Time a form's decode and next-token prediction alternately, NUM_TIMINGS times each.

    Yields {"run": Form.ask, "seconds": [...], "ntpSeconds": [...]} after each pair of decodes; the
    lists hold the seconds of every decode so far. If a decode fails, the last item adds "error".
    """
    news: dict[str, Any] = {"run": str(form.ask), "seconds": [], "ntpSeconds": []}
    plain = form.with_settings({"strategy": "ntp", "pinned": (), "template": ""})
    names = ["seconds", "ntpSeconds"] * NUM_TIMINGS
    try:
        with closing(session.traces([form, plain] * NUM_TIMINGS, client)) as traces:
            for trace in traces:
                if isinstance(trace, Update):
                    continue
                news[names.pop(0)].append(trace.seconds)
                if len(names) % 2 == 0:
                    yield news
    except SetBlockDecodingError as error:
        yield {**news, "error": message_of(error)}
    except Exception as error:  # whatever broke, the page must say so
        logger.error("a timing failed:\n%s", where(error))
        yield {**news, "error": FAILED_TEXT}
