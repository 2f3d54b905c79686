"""The trace of a finished or stopped decode: its events, counts derived from them, and its JSON.

Uses the standard library alone. No tokenizer is needed, as a trace holds the text of every token.
The JSON is one object with a version. Only the version that this module writes can be read, and
every field is checked. "tokens" holds the text of each token id once. Positions, token ids and
counts are integers, and all other numbers are finite.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sbd_core.config import MAX_ROWS, DecodeConfig, StrategyName
from sbd_core.cost import ForwardCost, ModelShape, event_cost
from sbd_core.errors import ArgumentError, TraceError, shown
from sbd_core.events import StepEvent
from sbd_core.json_node import JsonNode, json_of
from sbd_core.solvers import make_solver, solver_parameters

FORMAT = "sbd-trace"
VERSION = 4
MAX_CHARACTERS = 50_000_000

Finish = Literal["end_of_sequence", "length", "stopped"]


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
        """Write the trace as one line of compact JSON; from_json() reads an equal trace from it."""
        body = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "config": config_to_data(self.config),
            "prompt": self.prompt,
            "prompt_token_ids": self.prompt_token_ids,
            "text": self.text,
            "finish": self.finish,
            "versions": dict(self.versions),
            "shape": self.shape.to_data() if self.shape else None,
            "end_token_ids": self.end_token_ids,
            "weights": dict(self.weights),
            "messages": self.messages,
            "tokens": {str(token_id): text for token_id, text in sorted(self.tokens.items())},
            "events": [event.to_data() for event in self.events],
        }
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Trace":
        """Read and validate a trace. Raises TraceError, which names the first fault."""
        if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
            raise TraceError(f"trace: must be text of at most {MAX_CHARACTERS} characters")
        try:
            data = json_of(text, _reject_constant)
        except ValueError as error:
            raise TraceError(f"trace: must be JSON; {error}") from error
        root = JsonNode(data, "trace")
        if root.value_of("format") != FORMAT:
            raise root.at("format").wrong(f'must be "{FORMAT}"')
        if root.at("version").integer() != VERSION:
            raise root.at("version").wrong(f"must be {VERSION}, the one that this program reads")
        events = tuple(
            StepEvent.from_data(index, node) for index, node in enumerate(root.at("events").items())
        )
        trace = cls(
            model=root.at("model").string(),
            config=_config(root.at("config")),
            prompt=root.at("prompt").string(),
            prompt_token_ids=root.at("prompt_token_ids").integers(),
            events=events,
            tokens=_tokens(root.at("tokens")),
            text=root.at("text").string(),
            finish=root.at("finish").one_of(get_args(Finish)),
            versions={key: node.string() for key, node in root.at("versions").members()},
            shape=_shape(root.at("shape")),
            end_token_ids=root.at("end_token_ids").integers(),
            weights={key: node.string() for key, node in root.at("weights").members()},
            messages=tuple(_message(node) for node in root.at("messages").items()),
        )
        _check_whole(trace)
        return trace


def committed_token_ids(events: Iterable[StepEvent]) -> tuple[int, ...]:
    """Token ids of the answer that the events have committed, from left to right."""
    return tuple(token_id for event in events for token_id in event.committed)


def config_to_data(config: DecodeConfig) -> dict[str, Any]:
    """Convert a config to plain JSON data."""
    solver = {"name": config.solver.name, **solver_parameters(config.solver)}
    return {
        "strategy": config.strategy,
        "solver": solver,
        "block_size": config.block_size,
        "max_new_tokens": config.max_new_tokens,
        "temperature": config.temperature,
        "seed": config.seed,
        "top_k_recorded": config.top_k_recorded,
        "pinned": [[offset, token_id] for offset, token_id in config.pinned.items()],
        "is_raw_prompt": config.is_raw_prompt,
        "allows_untrained_block_size": config.allows_untrained_block_size,
        "repetition_penalty": config.repetition_penalty,
        "max_rows": config.max_rows,
    }


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not a finite number")


def _config(node: JsonNode) -> DecodeConfig:
    solver = dict(node.at("solver").members())
    name = node.at("solver").at("name").string()
    try:
        return DecodeConfig(
            strategy=node.at("strategy").one_of(get_args(StrategyName)),
            solver=make_solver(name, {k: v.value for k, v in solver.items() if k != "name"}),
            block_size=node.value_of("block_size"),
            max_new_tokens=node.value_of("max_new_tokens"),
            temperature=node.value_of("temperature"),
            seed=node.value_of("seed"),
            top_k_recorded=node.value_of("top_k_recorded"),
            pinned={
                pair.items(2)[0].integer(): pair.items(2)[1].integer()
                for pair in node.at("pinned").items()
            },
            is_raw_prompt=node.at("is_raw_prompt").boolean(),
            allows_untrained_block_size=node.at("allows_untrained_block_size").boolean(),
            repetition_penalty=node.value_of("repetition_penalty"),
            # An earlier version wrote null, for as many rows as seemed to pay.
            max_rows=MAX_ROWS if node.value_of("max_rows") is None else node.value_of("max_rows"),
        )
    except ArgumentError as error:
        raise TraceError(f"{node.path}.{error}") from error


def _shape(node: JsonNode) -> ModelShape | None:
    if node.value is None:
        return None
    try:
        return ModelShape.from_data({key: item.value for key, item in node.members()})
    except ArgumentError as error:
        raise TraceError(f"{node.path}.{error}") from error


def _message(node: JsonNode) -> tuple[str, str]:
    role, content = node.items(2)
    return role.string(), content.string()


def _tokens(node: JsonNode) -> dict[int, str]:
    tokens = {}
    for key, text in node.members():
        if not key.isascii() or not key.isdigit() or len(key) > 15:
            raise TraceError(f"{node.path}: keys must be token ids; got {shown(key)}")
        tokens[int(key)] = text.string()
    return tokens


def _check_whole(trace: Trace) -> None:
    """Raise TraceError if the events, token texts and config of a trace contradict each other."""
    mentioned = {token_id for event in trace.events for token_id in event.mentioned_token_ids}
    missing = mentioned - set(trace.tokens)
    if missing:
        raise TraceError(f"trace.tokens: must hold every token id used; {min(missing)} is missing")
    seen: set[int] = set()
    for event in trace.events:
        for reveal in event.reveals:
            path = f"trace.events[{event.index}].reveals"
            if reveal.position in seen:
                raise TraceError(f"{path}: position {reveal.position} is revealed twice")
            if trace.config.pinned.get(reveal.position, reveal.token_id) != reveal.token_id:
                raise TraceError(f"{path}: position {reveal.position} is pinned to another token")
            seen.add(reveal.position)
    if len(trace.token_ids) > trace.config.max_new_tokens:
        raise TraceError("trace.events: commit more tokens than config.max_new_tokens")
