"""Events of decoding: immutable values, one for each forward pass. Standard library only.

A position is an offset into the answer: 0 is the first token after the prompt. Entropies are in
nats. Probabilities are those of the softmax at the decode's temperature; at temperature 0, of the
plain softmax. Recorded floats have six significant digits.
"""

from dataclasses import dataclass
from typing import Literal

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

    rank: number of the reveal in the order of this pass's reveals, from 0.
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

    A predraft without an alternative is made in case the drafted token at block.start is rejected.
    A predraft with an alternative is made in case the drafted token before block.start is rejected
    and the alternative is right.

    block: the positions of the masks, which see the tokens before block.start.
    token_ids: the next draft if is_used, else empty. Without an alternative, the draft starts at
        block.start + 1, as the check gives the token at block.start; with one, at block.start.
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
    num_causal: number of tokens read causally: the prompt, final tokens not yet cached, the draft.
    block: the positions that the pass predicted.
    masked: the positions of the block that were masked before the pass, left to right. Positions
        after a known end-of-sequence are left out, as they are no part of the answer.
    committed: ids of the tokens that the pass added to the end of the answer, left to right.
    draft: (verify) ids of the tokens drafted for the positions after the committed ones.
    hindsight: the causal head's judgement of the answer tokens that it read or predicted.
    seconds: time that the engine took, without the time that the caller spends between events.
    predrafts: (verify) the drafts made ahead in case the checked draft is rejected.
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
