"""Events of decoding, one for each forward pass, and their JSON data. Standard library only.

A position is an offset into the answer: 0 is the first token after the prompt. Entropies are in
nats. Probabilities are those of the softmax at the decode's temperature; at temperature 0, of the
plain softmax. Recorded floats have six significant digits.
In JSON, an event is an object of short arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sbd_core.json_node import JsonNode

Kind = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True)
class Span:
    """The positions `start` to `start` + `size` - 1."""

    start: int
    size: int

    @property
    def stop(self) -> int:
        """One past the last position."""
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class MaskedPosition:
    """A position that was masked before the forward pass, and the masked head's prediction for it.

    Under ntp, and for the first position of a block under the solver causal-first, the causal head
    makes the prediction.
    entropy: entropy of the prediction, in nats.
    top_token_ids, top_probabilities: the likeliest tokens, in order, and their probabilities.
    """

    position: int
    entropy: float
    top_token_ids: tuple[int, ...]
    top_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Reveal:
    """A position that the forward pass revealed, with its token.

    rank: index of the reveal in the pass, from 0: the solver's best first; left to right in verify.
    probability: probability of the token by the head that predicted it. This is the causal head for
        ntp, verify and the first token under causal-first, and the masked head otherwise.
    """

    position: int
    token_id: int
    rank: int
    probability: float


@dataclass(frozen=True, slots=True)
class Hindsight:
    """The causal head's judgement of one token of the answer.

    position, token_id: the token and where it stands in the answer.
    probability: the causal head's probability of this token.
    argmax_id, argmax_probability: the causal head's likeliest token there, and its probability.
    """

    position: int
    token_id: int
    probability: float
    argmax_id: int
    argmax_probability: float


@dataclass(frozen=True, slots=True)
class Predraft:
    """(verify) A draft made ahead, in case the check rejects a token of the current draft.

    A predraft without an alternative is for the case that the drafted token at block.start is
    rejected. With an alternative, it is for the case that the drafted token just before
    block.start is rejected and the alternative is accepted in place of that token.

    block: the positions of the predraft's masks.
    token_ids: the next draft, empty unless is_used. The next draft starts at block.start if there
        is an alternative, else at block.start + 1.
    is_used: whether this predraft became the next draft.
    alternative: the token read in place of the drafted token before block.start, or None.
    """

    block: Span
    token_ids: tuple[int, ...]
    is_used: bool
    alternative: int | None = None

    @property
    def num_rows(self) -> int:
        """Number of rows (input positions) that the predraft took in the forward pass."""
        return self.block.size + (self.alternative is not None)


@dataclass(frozen=True, slots=True)
class StepEvent:
    """The record of one forward pass.

    index: number of the pass, from 0.
    kind: "prefill" for the pass that reads the prompt, "decode" for every other.
    num_cached: number of tokens in the KV cache before the pass.
    num_causal: number of tokens read causally: prompt, uncached final tokens, draft to check.
    block: the positions that the pass predicted.
    masked: the positions of the block that were masked before the pass, left to right. Positions
        after a known end-of-sequence are left out, as they are no part of the answer.
    committed: ids of the tokens that the pass added to the end of the answer, left to right.
    draft: (verify) token ids of the next draft, which follows the committed tokens.
    hindsight: the causal head's judgements of answer tokens that the pass read or predicted.
    seconds: time that the engine took, without the time that the caller spends between events.
    predrafts: (verify) drafts made ahead in case the pass rejects a token that it checks.
    """

    index: int
    kind: Kind
    num_cached: int
    num_causal: int
    block: Span
    masked: tuple[MaskedPosition, ...]
    reveals: tuple[Reveal, ...]
    committed: tuple[int, ...]
    draft: tuple[int, ...]
    hindsight: tuple[Hindsight, ...]
    seconds: float
    predrafts: tuple[Predraft, ...] = ()

    @property
    def mentioned_token_ids(self) -> set[int]:
        """Every token id that appears anywhere in the event."""
        ids = {*self.committed, *self.draft}
        ids.update(reveal.token_id for reveal in self.reveals)
        for predraft in self.predrafts:
            ids.update(predraft.token_ids)
            if predraft.alternative is not None:
                ids.add(predraft.alternative)
        for masked in self.masked:
            ids.update(masked.top_token_ids)
        for hindsight in self.hindsight:
            ids.update((hindsight.token_id, hindsight.argmax_id))
        return ids

    def to_data(self) -> dict[str, Any]:
        """Return the event as JSON data, without its index."""
        return {
            "kind": self.kind,
            "context": [self.num_cached, self.num_causal],
            "block": [self.block.start, self.block.size],
            "masked": [
                [item.position, item.entropy, item.top_token_ids, item.top_probabilities]
                for item in self.masked
            ],
            "reveals": [
                [item.position, item.token_id, item.rank, item.probability] for item in self.reveals
            ],
            "committed": self.committed,
            "draft": self.draft,
            "hindsight": [
                [h.position, h.token_id, h.probability, h.argmax_id, h.argmax_probability]
                for h in self.hindsight
            ],
            "seconds": self.seconds,
            "predrafts": [
                [each.block.start, each.block.size, each.token_ids, each.is_used]
                + ([] if each.alternative is None else [each.alternative])
                for each in self.predrafts
            ],
        }

    @classmethod
    def from_data(cls, index: int, node: JsonNode) -> "StepEvent":
        """Make the event with number `index` from the JSON data of to_data(). Raises TraceError."""
        context = node.at("context").items(2)
        start, size = node.at("block").items(2)
        return cls(
            index=index,
            kind=node.at("kind").one_of(get_args(Kind)),
            num_cached=context[0].integer(),
            num_causal=context[1].integer(),
            block=Span(start.integer(), size.integer()),
            masked=tuple(_masked(item) for item in node.at("masked").items()),
            reveals=tuple(
                Reveal(*_values(item, *[JsonNode.integer] * 3, _share))
                for item in node.at("reveals").items()
            ),
            committed=node.at("committed").integers(),
            draft=node.at("draft").integers(),
            hindsight=tuple(
                Hindsight(*_values(item, *[JsonNode.integer] * 2, _share, JsonNode.integer, _share))
                for item in node.at("hindsight").items()
            ),
            seconds=node.at("seconds").number(),
            predrafts=tuple(_predraft(item) for item in node.at("predrafts").items()),
        )


def _predraft(node: JsonNode) -> Predraft:
    """Read a predraft from an array of four values, or of five if it has an alternative."""
    has_alternative = len(node.items()) == 5
    start, size, token_ids, is_used, *last = node.items(5 if has_alternative else 4)
    return Predraft(
        Span(start.integer(), size.integer()),
        token_ids.integers(),
        is_used.boolean(),
        last[0].integer() if last else None,
    )


def _masked(node: JsonNode) -> MaskedPosition:
    position, entropy, ids, probabilities = node.items(4)
    top_ids = ids.integers()
    top_probabilities = tuple(item.number(1) for item in probabilities.items(len(top_ids)))
    return MaskedPosition(position.integer(), entropy.number(), top_ids, top_probabilities)


def _values(node: JsonNode, *kinds: Callable[[JsonNode], Any]) -> list[Any]:
    """Read a list of len(kinds) entries, each with the reader in `kinds` at the same index."""
    return [kind(item) for kind, item in zip(kinds, node.items(len(kinds)), strict=True)]


def _share(node: JsonNode) -> float:
    return node.number(1)
