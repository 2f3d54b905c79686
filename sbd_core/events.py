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
    """Positions start .. start + size - 1."""

    start: int
    size: int

    @property
    def stop(self) -> int:
        """One past the last position."""
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class MaskedPosition:
    """A position that held <m> when the forward pass began, and what the masked head said there.

    Of a block's first position under the solver causal-first it is what the causal head said.
    """

    position: int
    entropy: float
    top_token_ids: tuple[int, ...]
    top_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Reveal:
    """A token fixed. rank: 0 for the first in the solver's order within the forward pass.

    probability: of the token under the distribution it was taken from (the masked head for
    sbd, the causal head for ntp, verify and the first token under causal-first).
    """

    position: int
    token_id: int
    rank: int
    probability: float


@dataclass(frozen=True, slots=True)
class Hindsight:
    """The causal head's probability of an answer token, once a causal row has read it."""

    position: int
    token_id: int
    probability: float
    argmax_id: int
    argmax_probability: float


@dataclass(frozen=True, slots=True)
class Predraft:
    """(verify) A draft for the case that the drafted token at block.start is rejected.

    It hangs behind the token before block.start. block: the positions predicted. token_ids: the
    tokens guessed for the positions after block.start, which itself gets an exact token.
    Only the one used has tokens.
    is_used: True if that token was the one rejected, so that token_ids are the draft now.
    alternative: another token than the drafted one for the position before block.start, read
    causally; is_used then says that it was the right one, and token_ids begin at block.start with
    what its own row gives. None: the draft's own stands there.
    """

    block: Span
    token_ids: tuple[int, ...]
    is_used: bool
    alternative: int | None = None

    @property
    def num_rows(self) -> int:
        """Rows of the forward pass that it took."""
        return self.block.size + (self.alternative is not None)


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One forward pass.

    index: 0 for the first forward pass. kind: "prefill" reads the prompt, "decode" every other.
    num_cached: tokens in the KV cache before it. num_causal: tokens it fed causally (prompt,
    pending tokens, draft). block: the positions predicted.
    masked: every position of the block still masked when it began, left to right; none after an
    end-of-sequence already known, which the answer will not hold.
    committed: token ids that became the answer's next tokens, left to right.
    draft: (verify) the tokens now guessed for the positions after the committed ones.
    hindsight: the causal probability of answer tokens that it fed causally or predicted.
    seconds: engine time of the forward pass, the consumer's own time left out.
    predrafts: (verify) the drafts made behind tokens of the draft it checked.
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
    def used_alternative(self) -> bool:
        """(verify) Whether an alternative was right."""
        return any(each.is_used and each.alternative is not None for each in self.predrafts)
