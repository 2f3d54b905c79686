"""Set Block Decoding, Algorithms 2-3 of arXiv 2509.04185.

A block starts as masks. Each forward pass reveals the positions that the solver picks. The first
forward pass of a block also reads the previous block causally, which puts that block in the KV
cache. In CausalFirstDecoding, the causal row before a block gives the block's first token.
"""

from collections.abc import Sequence

from torch import Tensor

from sbd_core.decoding.state import (
    DecodingState,
    ForwardResult,
    Strategy,
    cut_after_end,
    make_hindsight,
    masked_positions,
    round_to_6_digits,
)
from sbd_core.events import Hindsight, MaskedPosition, Reveal, Span, StepEvent
from sbd_core.models.protocol import ForwardRequest
from sbd_core.sampling import LogitStats, forbid
from sbd_core.solvers import reveal_order_from_scores


class PendingTokens:
    """Final tokens that are not in the KV cache yet. The next forward pass reads them causally.

    That pass also gives hindsight: the causal row before each token tells the token's probability.
    """

    def __init__(self, before: LogitStats) -> None:
        """Start empty. before: statistics of the prompt's last row, which predicts token 0."""
        self.token_ids: list[int] = []
        self._start = 0
        self._before = before

    def add(self, token_ids: list[int]) -> None:
        """Append tokens for the next forward pass to read."""
        self.token_ids += token_ids

    def pop_hindsight(self, stats: LogitStats) -> tuple[Hindsight, ...]:
        """Return the hindsight on the tokens and remove them. stats: one causal row per token."""
        first, *others = self.token_ids
        last = len(others)
        hindsight = make_hindsight([first], self._before, self._start)
        hindsight += make_hindsight(others, stats.rows(0, last), self._start + 1)
        self._start += len(self.token_ids)
        self._before = stats.rows(last, last + 1)
        self.token_ids = []
        return hindsight


class Block:
    """The k positions that are decoded together. `mask_id` stands where no token is known yet."""

    def __init__(self, state: DecodingState, start: int, size: int, mask_id: int) -> None:
        pinned = state.config.pinned
        self.span = Span(start, size)
        self.token_ids = [pinned.get(start + offset, mask_id) for offset in range(size)]
        self._mask_id = mask_id
        self._end_ids = state.model.end_token_ids
        texts = [offset for offset, token_id in pinned.items() if token_id not in self._end_ids]
        self._num_before_pins = min(max([0, *(offset - start for offset in texts)]), size)

    def forbid_ends(self, logits: Tensor, first: int) -> None:
        """Forbid end-of-sequence tokens before a pinned token, which they would cut off.

        logits: (rows, vocab), changed in place. first: index of the block's first row.
        """
        if self._num_before_pins:
            forbid(logits[first : first + self._num_before_pins], sorted(self._end_ids))

    @property
    def final_token_ids(self) -> list[int] | None:
        """The block's tokens, cut after the first end-of-sequence; None if any is still masked."""
        known = cut_after_end(self.token_ids, self._end_ids)
        return None if self._mask_id in known else known

    def masked(self) -> list[int]:
        """Offsets of masked positions before the first known end-of-sequence."""
        before_end = cut_after_end(self.token_ids, self._end_ids)
        return [offset for offset, known in enumerate(before_end) if known == self._mask_id]

    def reveal(
        self, order: Sequence[int], token_ids: list[int], stats: LogitStats
    ) -> tuple[Reveal, ...]:
        """Reveal tokens. order: offsets, in the block, of the positions to reveal, best first.

        token_ids, stats: one token and its statistics for every position of the block.
        """
        reveals = []
        probabilities = stats.token_probabilities(token_ids)
        for rank, offset in enumerate(order):
            token_id = self.token_ids[offset] = token_ids[offset]
            probability = round_to_6_digits(probabilities[offset])
            reveals.append(Reveal(self.span.start + offset, token_id, rank, probability))
        return tuple(reveals)


class SetBlockDecoding:
    """Decodes one block after another, until an end-of-sequence token or max_new_tokens."""

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._pending: PendingTokens | None = None
        """None before the prompt has been read."""
        self._block: Block | None = None
        self._waiting: list[int] = []
        """Tokens of wholly pinned blocks: already final; the next event commits them."""

    def next_request(self) -> ForwardRequest | None:
        state, pending = self._state, self._pending
        if pending is None:
            return state.request(state.prompt_ids, (), 1)
        if self._block is None:
            if state.is_finished:
                return None
            self._block = self._next_block(pending)
        return state.request(pending.token_ids, self._block.token_ids, len(pending.token_ids))

    def _next_block(self, pending: PendingTokens) -> Block:
        """Make the next block that has masks, or one of size 0 if only pinned tokens are left."""
        state, waiting, mask_id = self._state, self._waiting, self._state.model.mask_token_id
        assert mask_id is not None
        while True:
            start = len(state.answer) + len(waiting)
            size = min(state.config.block_size, state.config.max_new_tokens - start)
            if waiting and (not size or waiting[-1] in state.model.end_token_ids):
                return Block(state, len(state.answer), 0, mask_id)
            block = Block(state, start, size, mask_id)
            if block.final_token_ids is None:
                return block
            waiting += block.final_token_ids
            pending.add(block.final_token_ids)

    def update(self, result: ForwardResult) -> StepEvent:
        state, pending, block = self._state, self._pending, self._block
        logits = state.receive(result)
        if pending is None:
            self._pending = PendingTokens(state.causal_stats(logits, 1))
            return state.event(Span(0, 0))
        assert block is not None
        num_pending = len(pending.token_ids)
        hindsight: tuple[Hindsight, ...] = ()
        if num_pending:
            hindsight = pending.pop_hindsight(state.causal_stats(logits, num_pending))
        masked: tuple[MaskedPosition, ...] = ()
        reveals: tuple[Reveal, ...] = ()
        if block.span.size:
            block.forbid_ends(logits, num_pending)
            stats = state.block_stats(logits, num_pending, block.token_ids)
            token_ids, offsets = stats.sample(state.generator), block.masked()
            masked = masked_positions(stats, offsets, block.span.start)
            order = reveal_order_from_scores(state.config.solver, stats, offsets, state.generator)
            reveals = block.reveal(order, token_ids, stats)
        committed, self._waiting = self._waiting, []
        final = block.final_token_ids
        if final is not None:
            pending.add(final)
            committed = [*committed, *final]
            self._block = None
        return state.event(
            block.span, masked=masked, reveals=reveals, committed=committed, hindsight=hindsight
        )


class CausalFirstDecoding:
    """A variant of sbd: every forward pass reads a new block, and all revealed tokens are final.

    The causal row before the block gives the block's first token, as next-token prediction would.
    The solver decides how many guesses from masks follow. With a repetition penalty or a sampler
    head, each guess depends on the tokens before it.
    """

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._pending: PendingTokens | None = None
        """None before the prompt has been read."""
        self._block = Span(0, 0)

    def next_request(self) -> ForwardRequest | None:
        state, pending = self._state, self._pending
        if state.is_finished:
            return None
        assert state.model.mask_token_id is not None
        size = min(state.config.block_size, state.num_left)
        self._block = Span(len(state.answer), size)
        masks = [state.model.mask_token_id] * size
        if pending is None:
            return state.request(state.prompt_ids, masks, 1)
        return state.request(pending.token_ids, masks, len(pending.token_ids))

    def update(self, result: ForwardResult) -> StepEvent:
        state, pending, block = self._state, self._pending, self._block
        logits = state.receive(result)
        read = [] if pending is None else pending.token_ids
        num_causal = len(read) or 1
        causal = state.causal_stats(logits, num_causal, is_recorded=True)
        first = causal.rows(num_causal - 1, num_causal)
        hindsight: tuple[Hindsight, ...] = ()
        if pending is None:
            pending = self._pending = PendingTokens(first)
        else:
            hindsight = pending.pop_hindsight(causal)
        exact = [*read[1:], *first.sample(state.generator)]
        stop = num_causal + block.size
        guesses, chosen = state.draft(logits, num_causal, stop, exact, is_recorded=True)
        guesses = guesses.rows(1, block.size)
        token_ids = [exact[-1], *chosen[1:]]
        stats = LogitStats.concatenate([first, guesses])
        offsets = range(block.size)
        order = reveal_order_from_scores(state.config.solver, stats, offsets, state.generator)
        committed = cut_after_end([token_ids[i] for i in order], state.model.end_token_ids)
        pending.add(committed)
        probabilities = first.token_probabilities(token_ids[:1])
        probabilities = [*probabilities, *guesses.token_probabilities(token_ids[1:])]
        return state.event(
            block,
            masked=masked_positions(stats, offsets, block.start),
            reveals=tuple(
                Reveal(block.start + i, token_id, i, round_to_6_digits(probabilities[i]))
                for i, token_id in enumerate(committed)
            ),
            committed=committed,
            hindsight=hindsight,
        )


def set_block_decoding(state: DecodingState) -> Strategy:
    """Make the strategy `sbd`, in the variant that the config's solver needs."""
    if state.config.solver.reads_causal_row:
        return CausalFirstDecoding(state)
    return SetBlockDecoding(state)
