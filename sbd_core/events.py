"""Events of decoding: one forward pass each, as immutable values. Standard library only.

A position is an offset into the answer: 0 is the first token after the prompt. Entropies
are in nats; probabilities are of the softmax at the decode's temperature (at 0: of the
plain softmax). Recorded floats carry six significant digits.
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
    """A position that was masked when the forward pass began, and the masked head's prediction.

    Under the solver causal-first, the prediction for a block's first position is the causal head's.
    """

    position: int
    entropy: float
    top_token_ids: tuple[int, ...]
    top_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Reveal:
    """A position whose token was revealed. rank: place in the pass's order of reveals, from 0.

    probability: the token's, by the head that gave it: the masked head for sbd, the causal head
    for ntp, verify and the first token under causal-first.
    """

    position: int
    token_id: int
    rank: int
    probability: float


@dataclass(frozen=True, slots=True)
class Hindsight:
    """The causal head's probability of an answer token, and the causal head's likeliest token."""

    position: int
    token_id: int
    probability: float
    argmax_id: int
    argmax_probability: float


@dataclass(frozen=True, slots=True)
class Predraft:
    """(verify) A draft made ahead, for the case that the drafted token at block.start is rejected.

    A predraft with an alternative is for the case that the drafted token before block.start is
    rejected and the alternative is right.

    block: the positions of the masks, which see the tokens before block.start.
    token_ids: the tokens drafted, empty unless is_used. Without an alternative they begin after
        block.start, where the check gives an exact token; with one they begin at block.start, with
        the token that the alternative's own row gives.
    is_used: whether the case came true, so that token_ids are the next draft.
    alternative: the token read causally in place of the drafted one before block.start, or None.
    """

    block: Span
    token_ids: tuple[int, ...]
    is_used: bool
    alternative: int | None = None

    @property
    def num_rows(self) -> int:
        """Number of rows that the predraft took in the forward pass."""
        return self.block.size + (self.alternative is not None)


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One forward pass.

    index: 0 for the first forward pass.
    kind: "prefill" reads the prompt, "decode" is every other.
    num_cached: tokens in the KV cache before it.
    num_causal: tokens it read causally (prompt, pending tokens, draft).
    block: the positions predicted.
    masked: positions of the block still masked when it began, left to right, without those after
        a known end-of-sequence, which are no part of the answer.
    committed: token ids that became the answer's next tokens, left to right.
    draft: (verify) the tokens drafted for the positions after the committed ones.
    hindsight: causal probabilities of answer tokens that it read causally or predicted.
    seconds: engine time of the forward pass, without the consumer's own time.
    predrafts: (verify) the drafts made ahead for the case that the checked draft is rejected.
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
