"""The trace of a finished or stopped decode: its events, counts derived from them, and its JSON.

Knows no tensors. No tokenizer is needed, as a trace holds the text of every token.
The JSON is one object with a version. Only the version that this module writes can be read, and
every field is checked. "tokens" holds the text of each token id once. Positions, token ids and
counts are integers, and all other numbers are finite.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from sbd_core.config import DecodeConfig, StrategyName
from sbd_core.cost import ForwardCost, ModelShape, event_cost
from sbd_core.errors import ArgumentError, TraceError, shown
from sbd_core.events import EventData, StepEvent
from sbd_core.json_node import Count, choice_of, read_json
from sbd_core.solvers import make_solver, solver_parameters

FORMAT = "sbd-trace"
VERSION = 4
MAX_CHARACTERS = 50_000_000

T = TypeVar("T")
Finish = Literal["end_of_sequence", "length", "stopped"]
TokenKey = Annotated[int, msgspec.Meta(ge=0, lt=10**15)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The complete record of one decode.

    model: name of the model. config: settings of the decode, with all defaults filled in.
    prompt: text of the prompt, or of the last message of a conversation; "" for token ids.
    prompt_token_ids: token ids that the model read as the prompt, chat template included.
    events: one per forward pass. tokens: {token id: text} for every token id in the trace.
    text: decoded answer.
    finish: why the decode ended; "stopped" if the caller read no further events.
    versions: {package: version}; for verify also "exactness", an Exactness of models.probes.
    shape: sizes of the model, None if unknown. end_token_ids: token ids that end an answer.
    weights: {name: digest} of the weights of the model and, if it is an adapter, of the base model;
    empty if unknown.
    messages: all messages of a conversation as (role, content); empty for any other prompt.
    """

    model: str
    config: DecodeConfig
    prompt: str
    prompt_token_ids: tuple[int, ...]
    events: tuple[StepEvent, ...]
    tokens: Mapping[int, str] = field(hash=False)
    text: str
    finish: Finish
    versions: Mapping[str, str] = field(hash=False)
    shape: ModelShape | None = None
    end_token_ids: tuple[int, ...] = ()
    weights: Mapping[str, str] = field(default_factory=dict, hash=False)
    messages: tuple[tuple[str, str], ...] = ()

    @property
    def strategy(self) -> StrategyName:
        """Strategy of the decode: ntp, sbd or verify."""
        assert self.config.strategy is not None  # make_trace() and from_json() name one
        return self.config.strategy

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Token ids of the answer, with the end-of-sequence token if it was reached."""
        return committed_token_ids(self.events)

    @property
    def num_tokens(self) -> int:
        """Number of tokens in the answer, counting an end-of-sequence token."""
        return len(self.token_ids)

    @property
    def num_forwards(self) -> int:
        """Number of forward passes (NFE), prefill included."""
        return len(self.events)

    @property
    def token_passes(self) -> tuple[int, ...]:
        """Index of the forward pass that first revealed or committed each token of the answer."""
        passes: dict[int, int] = {}
        num_committed = 0
        for index, event in enumerate(self.events):
            stop = num_committed + len(event.committed)
            fixed = [*(reveal.position for reveal in event.reveals), *range(num_committed, stop)]
            passes = dict.fromkeys(fixed, index) | passes
            num_committed = stop
        return tuple(passes[position] for position in range(num_committed))

    @property
    def tokens_per_forward(self) -> float:
        """num_tokens / num_forwards, the NFE speed-up over NTP; 0 if there was no forward pass."""
        return self.num_tokens / self.num_forwards if self.events else 0.0

    @property
    def seconds(self) -> float:
        """Engine time of all forward passes together, in seconds."""
        return sum(event.seconds for event in self.events)

    @property
    def costs(self) -> tuple[ForwardCost, ...] | None:
        """Input positions, floating-point operations and bytes read of each forward pass.

        None if the model's shape is unknown. See sbd_core.cost for what is counted.
        """
        if self.shape is None:
            return None
        strategy, num_prompt = self.strategy, len(self.prompt_token_ids)
        return tuple(event_cost(self.shape, event, strategy, num_prompt) for event in self.events)

    def to_json(self) -> str:
        """Write the trace as one line of compact JSON; from_json() reads an equal trace from it.

        Raises ValueError for NaN and infinity.
        """
        body = {
            "format": FORMAT,
            "version": VERSION,
            **{name: getattr(self, name) for name in TraceData.__struct_fields__},
            "config": config_json(self.config),
            "shape": self.shape and self.shape.as_json(),
            "tokens": dict(sorted(self.tokens.items())),
            "events": [event.as_json() for event in self.events],
        }
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Trace":
        """Read and validate a trace. Raises TraceError, which names the first fault."""
        if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
            raise TraceError(f"trace: must be text of at most {MAX_CHARACTERS} characters")
        head = read_json(text, HEAD, "trace")
        if head.format != FORMAT:
            raise TraceError(f'trace.format: must be "{FORMAT}"; got {shown(head.format)}')
        if head.version != VERSION:
            rule = f"must be {VERSION}, the one that this program reads"
            raise TraceError(f"trace.version: {rule}; got {shown(head.version)}")
        data = read_json(text, WHOLE, "trace")
        values = {name: getattr(data, name) for name in cls.__slots__}
        values["config"] = _checked("trace.config", _config, data.config)
        if data.shape is not None:
            values["shape"] = _checked("trace.shape", ModelShape.from_json, data.shape)
        values["events"] = tuple(step.event(index) for index, step in enumerate(data.events))
        trace = cls(**values)
        _check_whole(trace)
        return trace


def committed_token_ids(events: Iterable[StepEvent]) -> tuple[int, ...]:
    """Token ids of the answer that the events have committed, from left to right."""
    return tuple(token_id for event in events for token_id in event.committed)


TYPES: dict[str, Any] = {
    "strategy": Annotated[str, choice_of(StrategyName)],
    "solver": dict[str, Any],
    "pinned": tuple[tuple[Count, Count], ...],
    **{item.name: bool for item in fields(DecodeConfig) if item.type is bool},
}
ConfigData = msgspec.defstruct(
    "ConfigData", [(item.name, TYPES.get(item.name, Any)) for item in fields(DecodeConfig)]
)
"""The JSON of a config, whose class checks its numbers."""


class Head(msgspec.Struct):
    """The fields that tell whether the rest can be read."""

    format: Any
    version: Any


class TraceData(msgspec.Struct):
    """The JSON of a trace, after its format and version."""

    model: str
    config: ConfigData  # type: ignore[valid-type]
    prompt: str
    prompt_token_ids: tuple[Count, ...]
    text: str
    finish: Annotated[str, choice_of(Finish)]
    versions: dict[str, str]
    shape: dict[str, Any] | None
    end_token_ids: tuple[Count, ...]
    weights: dict[str, str]
    messages: tuple[tuple[str, str], ...]
    tokens: dict[TokenKey, str]
    events: tuple[EventData, ...]


HEAD, WHOLE = msgspec.json.Decoder(Head), msgspec.json.Decoder(TraceData)


def config_json(config: DecodeConfig) -> dict[str, Any]:
    """A config as json.dumps() writes it."""
    data = {item.name: getattr(config, item.name) for item in fields(config)}
    data["solver"] = {"name": config.solver.name, **solver_parameters(config.solver)}
    data["pinned"] = list(config.pinned.items())
    return data


def _config(data: Any) -> DecodeConfig:
    values, solver = msgspec.structs.asdict(data), dict(data.solver)
    name = solver.pop("name", None)
    if not isinstance(name, str):
        rule = "must be a string" if "name" in data.solver else "is missing"
        raise ArgumentError("solver.name", rule, name)
    values["solver"] = make_solver(name, solver)
    values["pinned"] = dict(data.pinned)
    return DecodeConfig(**values)


def _checked(path: str, make: Callable[[Any], T], data: Any) -> T:
    """Make a value of data. Raises TraceError for an ArgumentError, with the path in front."""
    try:
        return make(data)
    except ArgumentError as error:
        raise TraceError(f"{path}.{error}") from error


def _check_whole(trace: Trace) -> None:
    """Raise TraceError if the events, token texts and config of a trace contradict each other."""
    mentioned = {token_id for event in trace.events for token_id in event.mentioned_token_ids}
    missing = mentioned - set(trace.tokens)
    if missing:
        raise TraceError(f"trace.tokens: must hold every token id used; {min(missing)} is missing")
    seen: set[int] = set()
    for event in trace.events:
        for index, item in enumerate(event.masked):
            if len(item.top_token_ids) != len(item.top_probabilities):
                path = f"trace.events[{event.index}].masked[{index}]"
                raise TraceError(f"{path}: must have a probability for every token id")
        path = f"trace.events[{event.index}].reveals"
        for reveal in event.reveals:
            if reveal.position in seen:
                raise TraceError(f"{path}: position {reveal.position} is revealed twice")
            if trace.config.pinned.get(reveal.position, reveal.token_id) != reveal.token_id:
                raise TraceError(f"{path}: position {reveal.position} is pinned to another token")
            seen.add(reveal.position)
    if len(trace.token_ids) > trace.config.max_new_tokens:
        raise TraceError("trace.events: commit more tokens than config.max_new_tokens")
