"""Runs visitors' decodes: waits for the model and in line, yields forward passes as JSON lines.

An error ends a run; ui.server tells the visitor. Only the visitor's browser keeps finished runs.
Knows no Gradio and no tensors; ui.server makes a Client of each request.
"""

import time
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
from sbd_core.errors import SetBlockDecodingError
from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import RunLines
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from ui.decode.fair_queue import FairQueue, Ticket
from ui.decode.form import (
    PUBLIC,
    USUAL,
    USUAL_ROWS,
    Form,
    checked,
    require_at_most,
    template_pins,
)
from ui.decode.verdict import verdicts_of
from ui.models import LazyModel, Models
from ui.zero_gpu import StreamFunction, lent, on_zero_gpu

MAX_ASK = 16
MAX_PATIENCE_SECONDS = 180.0
"""Time in line after which a visitor is turned away."""
SECONDS_BETWEEN_LOOKS = 1.0
"""Longest time between two updates for who waits, and between two looks whether somebody does."""
SECONDS_TO_FIRST = 0.1
"""Longest time that the first update of a decode waits for a revealed token."""
SECONDS_BETWEEN_UPDATES = 0.125
"""Shortest time between later updates; each costs engine time, whatever its size."""
LOADING_TEXT = "The model is loading; your decode starts by itself."


@dataclass(frozen=True, slots=True)
class Client:
    """A visitor's browser tab, or a program, that asks for runs.

    address: network address; all clients with the same address share their turns in line.
    is_listening: returns whether the client still reads updates; its run is stopped if not.
    """

    address: str = ""
    is_listening: Callable[[], bool] = lambda: True


LOCAL = Client()


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One of the decodes of a prompt that the page compares: its config and its progress.

    prompt: text or messages, as sbd_core.stream() takes them.
    """

    model: SetBlockModel
    prompt: Any
    prompt_token_ids: tuple[int, ...]
    config: DecodeConfig
    stream: StreamFunction
    name: str
    events: list[StepEvent] = field(default_factory=list)

    def decode(self) -> Iterator[StepEvent]:
        """Make the forward passes; yield their events. The iterator holds the KV cache."""
        for event in self.stream(self.prompt_token_ids, self.config):
            self.events.append(event)
            yield event

    @property
    def token_ids(self) -> list[int]:
        """The tokens that the forward passes so far committed."""
        return [token_id for event in self.events for token_id in event.committed]

    @property
    def trace(self) -> Trace:
        """A trace of what the lane has decoded so far."""
        trace: Trace = _engine().make_trace(
            self.model, self.prompt, self.prompt_token_ids, self.config, self.events
        )
        return trace

    @property
    def has_revealed(self) -> bool:
        """Whether a forward pass has revealed a token."""
        return any(event.reveals for event in self.events)


def passes(
    lanes: Sequence[Lane], *, in_turns: bool
) -> Generator[tuple[Lane, StepEvent | None], None, None]:
    """Decode lanes; yield (lane, event) per forward pass, and (lane, None) when a lane is complete.

    in_turns: whether to alternate between the lanes after each forward pass; a lane's first turn
        lasts until its first token. Otherwise, and on ZeroGPU, the lanes are decoded one by one.
    The KV caches are freed with the generator.
    """
    running = {lane: lane.decode() for lane in lanes}
    # A second GPU might not be lent while the first call waits for it.
    in_turns = in_turns and not on_zero_gpu()
    while running:
        for lane in [*running][: None if in_turns else 1]:
            event = next(running[lane], None)
            while event is not None and not lane.has_revealed:
                yield lane, event
                event = next(running[lane], None)
            yield lane, event
            if event is None:
                del running[lane]


@dataclass(frozen=True, slots=True)
class Update:
    """One message about a run.

    lines: JSON lines for the player, see sbd_core.run_lines.
    message: text for the status line; "" clears it.
    lanes: the lanes, the main one first, in updates during or after their decode; else ().
    """

    lines: str = ""
    message: str = ""
    is_running: bool = True
    num_ahead: int = 0
    lanes: Sequence[Lane] = ()

    def as_json(self, *, with_traces: bool) -> dict[str, Any]:
        """What the server's streams yield. with_traces: whether the results have traces."""
        main = self.lanes[0] if self.lanes else None
        ended = () if self.is_running else self.lanes
        return {
            "text": main.model.decode(main.token_ids) if main else "",
            "lines": self.lines,
            "message": self.message,
            "num_ahead": self.num_ahead,
            "is_running": self.is_running,
            "results": [result_of(lane, with_trace=with_traces) for lane in ended],
        }


def result_of(lane: Lane, *, with_trace: bool) -> dict[str, Any]:
    """The result of a lane, for programs."""
    trace = lane.trace
    names = ("text", "finish", "num_tokens", "num_forwards", "tokens_per_forward", "seconds")
    facts = {name: getattr(trace, name) for name in names}
    return {"lane": lane.name, **facts, "trace": trace.to_json() if with_trace else ""}


class Session:
    """Runs the decodes of all visitors of a page, one visitor at a time, with shared models.

    What decodes raises SetBlockDecodingError for a bad form, an unknown or missing model, a full
    line, a wait that is too long, and a client who stops listening.
    """

    def __init__(
        self, models: SetBlockModel | LazyModel | Models, *, is_public: bool = False
    ) -> None:
        self.models = Models.of(models)
        self.limits = PUBLIC if is_public else USUAL
        self._lent = {
            model.name: lent(partial(self.model, model.name), self.limits.max_run_seconds)
            for model in self.models
            if on_zero_gpu()
        }
        self.queue = FairQueue(self.limits.max_run_seconds + 10, self.limits.max_places)

    def model(self, name: object = "") -> SetBlockModel:
        """Wait until a model of the page is loaded, and return it. name: see Form.model."""
        return self.models.named(name).wanted().result()

    def decode(
        self, form: Form, client: Client = LOCAL, *, is_compared: bool = True
    ) -> Generator[Update, None, None]:
        """Decode a form's prompt and yield updates. Closing the generator ends the decode."""
        num_lanes = None if is_compared else 1
        return self._run(form, lambda: self.open(form)[:num_lanes], client, in_turns=False)

    def compare(
        self, forms: Mapping[str, Form], client: Client = LOCAL
    ) -> Generator[Update, None, None]:
        """Decode lanes in turns and yield updates.

        forms: the lanes' forms by their names, all of one model.
        """

        def open_lanes() -> list[Lane]:
            return [replace(self.open(form)[0], name=name) for name, form in forms.items()]

        return self._run(next(iter(forms.values())), open_lanes, client, in_turns=True)

    def _run(
        self, form: Form, open_lanes: Callable[[], list[Lane]], client: Client, *, in_turns: bool
    ) -> Generator[Update, None, None]:
        """Wait for the model of a form and in line, and decode lanes. in_turns: see passes()."""
        yield from self.while_loading(form.model, client)
        lanes = open_lanes()
        with self.queue.place(client.address) as ticket:
            yield from self.wait(ticket, client)
            now, limit = time.monotonic(), f"{self.limits.max_run_seconds:.0f} seconds"
            busy = f"Decoding, {limit} at most …" if self.limits.is_public else "Decoding …"
            deadline, due = now + self.limits.max_run_seconds, now + SECONDS_TO_FIRST
            is_shown = False
            wire = RunLines(uuid.uuid4().hex[:8], lanes[0].model.token_text)
            lines, unfinished = [start_line(wire, lanes, form.ask)], [*lanes]
            with closing(passes(lanes, in_turns=in_turns)) as steps:
                for lane, event in steps:
                    require_listener(client)
                    if event is None:
                        unfinished.remove(lane)
                        lines.append(end_line(wire, lane))
                    else:
                        lines.append(wire.step(lane.name, event))
                    now, has_revealed = time.monotonic(), lanes[0].has_revealed
                    if now > deadline:
                        break
                    if now >= due or (has_revealed and not is_shown):
                        yield Update("\n".join(lines), busy, lanes=lanes)
                        lines.clear()
                        due, is_shown = now + SECONDS_BETWEEN_UPDATES, has_revealed
            lines += [end_line(wire, lane) for lane in unfinished]
            text = f"Stopped after {limit}, this page’s limit." if unfinished else ""
            yield Update("\n".join(lines), text, is_running=False, lanes=lanes)

    @contextmanager
    def turn(self, client: Client) -> Iterator[None]:
        """Wait in line, and hold the turn in a `with` block."""
        with self.queue.place(client.address) as ticket:
            for _ in self.wait(ticket, client):
                pass
            yield

    def open(self, form: Form) -> list[Lane]:
        """Check a form and make its lanes without starting them: the main one, then one by NTP.

        If the main lane is by NTP, it is the only one. Raises SetBlockDecodingError for a bad form.
        """
        prompt, config = checked(form, self.limits)
        model = self.model(form.model)
        engine = _engine()
        if not form.settings.get("max_rows"):
            config = replace(config, max_rows=usual_rows(model))
        config = engine.resolve_defaults(model, config)
        blanks = template_pins(model, form.template, config)
        config = replace(config, pinned={**blanks, **config.pinned})
        prompt_ids = engine.prompt_token_ids(model, prompt, config)
        require_at_most("prompt", len(prompt_ids), self.limits.max_prompt_tokens, "tokens")
        configs = [config]
        if config.strategy != "ntp":
            configs.append(replace(config, strategy="ntp", solver=EntropyBound(), pinned={}))
        here = partial(sbd_core.stream, model)
        stream = self._lent.get(self.models.named(form.model).name, here)
        return [Lane(model, prompt, prompt_ids, e, stream, str(e.strategy)) for e in configs]

    def while_loading(self, name: object, client: Client = LOCAL) -> Iterator[Update]:
        """Begin to load a model, and yield updates until it is loaded. name: see Form.model."""
        lazy = self.models.named(name).wanted()
        while not lazy.is_done:
            require_listener(client)
            yield Update(message=LOADING_TEXT)
            lazy.wait(SECONDS_BETWEEN_LOOKS)

    def wait(self, ticket: Ticket, client: Client = LOCAL) -> Iterator[Update]:
        """Yield the visitor's place in line until the ticket has its turn."""
        deadline = time.monotonic() + MAX_PATIENCE_SECONDS
        while num_ahead := self.queue.num_ahead(ticket):
            if time.monotonic() > deadline:
                raise SetBlockDecodingError("The model is busy; try again in a minute.")
            require_listener(client)
            yield Update(message=waiting_text(num_ahead), num_ahead=num_ahead)
            self.queue.wait_for_move(ticket, SECONDS_BETWEEN_LOOKS)


def start_line(wire: RunLines, lanes: Sequence[Lane], ask: object) -> str:
    """The first line of a run. ask: see Form."""
    main = lanes[0]
    model, messages = main.model, _engine().messages_of(main.prompt)
    return wire.start(
        messages[-1][1] if messages else str(main.prompt),
        [lane.config for lane in lanes],
        names=[lane.name for lane in lanes],
        model=model.name,
        ask=ask if isinstance(ask, str) and len(ask) <= MAX_ASK else "",
        end_token_ids=model.end_token_ids,
        prompt_token_ids=main.prompt_token_ids,
        shape=model.shape,
        versions=_engine().made_by(model, main.config),
        weights=model.weights,
        messages=messages,
    )


def end_line(wire: RunLines, lane: Lane) -> str:
    """The line that ends a lane, with the verdict on its answer."""
    trace = lane.trace
    verdict = verdicts_of({lane.name: trace}).get(lane.name)
    return wire.end(lane.name, trace.finish, trace.text, verdict)


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


def waiting_text(num_ahead: int) -> str:
    """Tell a visitor their place in line."""
    others = "Another decode is" if num_ahead == 1 else f"{num_ahead} decodes are"
    return f"{others} before yours, which comes then by itself."
