"""Events of decoding, one for each forward pass, and their JSON data. Knows no tensors.

A position is an offset into the answer: 0 is the first token after the prompt. Entropies are in
nats. Probabilities are those of the softmax at the decode's temperature; at temperature 0, of the
plain softmax. Recorded floats have six significant digits.
In JSON, an event is an object of short arrays. Limits hold when JSON is read, not in a constructor.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from sbd_core.json_node import Amount, Count, Probability, choice_of

Kind = Literal["prefill", "decode"]


class Span(NamedTuple):
    """The positions `start` to `start` + `size` - 1."""

    start: Count
    size: Count

    @property
    def stop(self) -> int:
        """One past the last position."""
        return self.start + self.size


class MaskedPosition(NamedTuple):
    """A position that was masked before the forward pass, and the masked head's prediction for it.

    Under ntp, and for the first position of a block under the solver causal-first, the causal head
    makes the prediction.
    entropy: entropy of the prediction, in nats.
    top_token_ids, top_probabilities: the likeliest tokens, in order, and their probabilities.
    """

    position: Count
    entropy: Amount
    top_token_ids: tuple[Count, ...]
    top_probabilities: tuple[Probability, ...]


class Reveal(NamedTuple):
    """A position that the forward pass revealed, with its token.

    rank: index of the reveal in the pass, from 0: the solver's best first; left to right in verify.
    probability: probability of the token by the head that predicted it. This is the causal head for
        ntp, verify and the first token under causal-first, and the masked head otherwise.
    """

    position: Count
    token_id: Count
    rank: Count
    probability: Probability


class Hindsight(NamedTuple):
    """The causal head's judgement of one token of the answer.

    position, token_id: the token and where it stands in the answer.
    probability: the causal head's probability of this token.
    argmax_id, argmax_probability: the causal head's likeliest token there, and its probability.
    """

    position: Count
    token_id: Count
    probability: Probability
    argmax_id: Count
    argmax_probability: Probability


class Predraft(NamedTuple):
    """(verify) A draft made ahead, in case the check rejects a token of the current draft.

    A predraft without an alternative is for the case that the drafted token at start is
    rejected. With an alternative, it is for the case that the drafted token just before
    start is rejected and the alternative is accepted in place of that token.

    start, size: the positions of the predraft's masks, also as block.
    token_ids: the next draft, empty unless is_used. The next draft starts at start if there
        is an alternative, else at start + 1.
    is_used: whether this predraft became the next draft.
    alternative: the token read in place of the drafted token before start, or None.
    """

    start: Count
    size: Count
    token_ids: tuple[Count, ...]
    is_used: bool
    alternative: Count | None = None

    @property
    def block(self) -> Span:
        """The positions of the predraft's masks."""
        return Span(self.start, self.size)

    @property
    def num_rows(self) -> int:
        """Number of rows (input positions) that the predraft took in the forward pass."""
        return self.size + (self.alternative is not None)


@dataclass(frozen=True, slots=True)
class StepEvent:
    """The record of one forward pass.

    index: number of the pass, from 0.
    kind: "prefill" for the pass that reads the prompt, "decode" for every other.
    num_cached: number of tokens in the KV cache before the pass.
    num_causal: number of tokens read causally: prompt, uncached final tokens, draft to check.
    block: the positions that the pass predicted.
    masked: the positions of the block that were masked before the pass, left to right; none if
        verify rejected a token, so that no draft follows from them. Positions after a known
        end-of-sequence are left out, as they are no part of the answer.
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
    masked: tuple[MaskedPosition, ...] = ()
    reveals: tuple[Reveal, ...] = ()
    committed: tuple[int, ...] = ()
    draft: tuple[int, ...] = ()
    hindsight: tuple[Hindsight, ...] = ()
    seconds: float = 0.0
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

    @property
    def context(self) -> tuple[int, int]:
        """num_cached and num_causal, as in JSON."""
        return self.num_cached, self.num_causal

    def as_json(self) -> dict[str, Any]:
        """The event as json.dumps() writes it, without its index. EventData reads it back."""
        data = {name: getattr(self, name) for name in EventData.__struct_fields__}
        # A predraft ends where it has no alternative.
        short = [each[: 4 + (each.alternative is not None)] for each in self.predrafts]
        return {**data, "predrafts": short}


class EventData(msgspec.Struct, frozen=True):
    """The JSON of an event; its number is its place among the events."""

    kind: Annotated[str, choice_of(Kind)]
    context: tuple[Count, Count]
    block: Span
    masked: tuple[MaskedPosition, ...]
    reveals: tuple[Reveal, ...]
    committed: tuple[Count, ...]
    draft: tuple[Count, ...]
    hindsight: tuple[Hindsight, ...]
    seconds: Amount
    predrafts: tuple[Predraft, ...]

    def event(self, index: int) -> StepEvent:
        """The event, with number `index`."""
        kind, context, *rest = (getattr(self, name) for name in self.__struct_fields__)
        return StepEvent(index, kind, *context, *rest)
