"""A finished (or stopped) decode: the fold of its events, and every count made from them.

Standard library only. Knows nothing of the model; token texts come in with the header.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sbd_core.config import DecodeConfig
from sbd_core.cost.forward_cost import ForwardCost, event_cost
from sbd_core.cost.model_shape import ModelShape
from sbd_core.events import StepEvent

Finish = Literal["end_of_sequence", "length", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One decode, complete: equal traces are equal runs.

    model: name of the model. prompt: the text as given, of a conversation its last message ("" if
    ids were given). messages: the whole conversation, as (role, content); empty for a text.
    prompt_token_ids: what the model read, chat template included.
    tokens: {token id: text} for every id the trace mentions. text: the decoded answer.
    finish: why it ended; "stopped" is a run its consumer left early.
    versions: {package: version} of what made it. shape: the model's sizes, from its config; None
    where they are not known, as in traces of versions before 3. end_token_ids: those that end an
    answer; empty where they are not known. weights: {name: digest} of the model's own weights
    and, where they are an adapter, of its base's; empty in traces made before they were recorded.
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
    def token_ids(self) -> tuple[int, ...]:
        """The answer, end-of-sequence included when it was reached."""
        return committed_token_ids(self.events)

    @property
    def num_tokens(self) -> int:
        """Tokens of the answer, end-of-sequence included."""
        return len(self.token_ids)

    @property
    def num_forwards(self) -> int:
        """NFE: model calls, prefill included."""
        return len(self.events)

    @property
    def token_passes(self) -> tuple[int, ...]:
        """For each token of the answer the forward pass, from 0, that revealed or committed it."""
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
        """num_tokens / num_forwards: the NFE speed-up over one token a call; 0 without calls."""
        return self.num_tokens / self.num_forwards if self.events else 0.0

    @property
    def seconds(self) -> float:
        """Engine time of all forward passes, seconds."""
        return sum(event.seconds for event in self.events)

    @property
    def costs(self) -> tuple[ForwardCost, ...] | None:
        """Rows, floating-point operations and bytes read of each forward pass; None without shape.

        Worked out from the shape: see sbd_core.cost.forward_cost for what is counted.
        """
        if self.shape is None:
            return None
        strategy, num_prompt = self.config.strategy, len(self.prompt_token_ids)
        return tuple(event_cost(self.shape, event, strategy, num_prompt) for event in self.events)

    def to_json(self) -> str:
        """Compact JSON; from_json gives back an equal trace."""
        from sbd_core.trace_json import dump

        return dump(self)

    def _repr_html_(self) -> str | None:
        """The replay in a notebook; None, and with it the plain text, without its assets."""
        from sbd_core.replay import notebook_html

        try:
            return notebook_html(self)
        except FileNotFoundError:
            return None

    @classmethod
    def from_json(cls, text: str) -> "Trace":
        """Read and validate. Raises TraceError naming the first thing wrong."""
        from sbd_core.trace_json import load

        return load(text)


def committed_token_ids(events: Iterable[StepEvent]) -> tuple[int, ...]:
    """The answer that these events have committed, left to right."""
    return tuple(token_id for event in events for token_id in event.committed)


def mentioned_token_ids(events: Iterable[StepEvent]) -> set[int]:
    """Every token id that appears anywhere in the events."""
    ids: set[int] = set()
    for event in events:
        ids.update(event.committed, event.draft)
        ids.update(reveal.token_id for reveal in event.reveals)
        for predraft in event.predrafts:
            ids.update(predraft.token_ids)
            if predraft.alternative is not None:
                ids.add(predraft.alternative)
        for masked in event.masked:
            ids.update(masked.top_token_ids)
        for hindsight in event.hindsight:
            ids.update((hindsight.token_id, hindsight.argmax_id))
    return ids
