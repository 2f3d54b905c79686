"""Lossless drafting with the masked head (after TiDAR, arXiv 2511.08923).

One forward pass checks the current draft causally and drafts the next block. At temperature 0 the
answer is NTP's token for token; above 0 the acceptance rule of speculative sampling (Leviathan
et al., arXiv 2211.17192) keeps NTP's distribution.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.decoding.state import (
    DecodingState,
    ForwardResult,
    cut_after_end,
    make_hindsight,
    masked_positions,
)
from sbd_core.events import MaskedPosition, Reveal, Span, StepEvent
from sbd_core.models.protocol import ForwardRequest
from sbd_core.sampling import LogitStats


@dataclass(frozen=True, slots=True)
class Draft:
    """Guesses for the positions after the exact tokens; distributions (tokens, vocab)."""

    token_ids: list[int]
    distributions: Tensor | None


NOTHING = Draft([], None)
SURE = 0.5
"""A draft ends where the chance that all of it is right, as the head sees it, falls below."""
GROWTH, SHORTEST = 2, 6
"""The next block holds GROWTH times as many masks as the last forward pass gave tokens, and at
least SHORTEST."""


class DraftAndVerify:
    """Each forward pass adds the accepted draft and one exact token, so at least one token.

    config.block_size bounds the draft; how far it goes follows what was accepted last and how
    sure the head is. Neither looks at the tokens drawn, which keeps the distribution exact.
    """

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._exact_ids = list(state.prompt_ids)
        """Final tokens that are not in the cache yet."""
        self._draft = NOTHING
        self._longest = state.config.block_size
        self._block = Span(0, 0)

    def next_request(self) -> ForwardRequest | None:
        """See Strategy."""
        state, drafted_ids = self._state, self._draft.token_ids
        if state.is_finished:
            return None
        assert state.model.mask_token_id is not None
        size = _block_size(state, self._draft, self._longest)
        self._block = Span(len(state.answer) + len(drafted_ids), size)
        block_ids = [state.model.mask_token_id] * size
        return state.request([*self._exact_ids, *drafted_ids], block_ids, len(drafted_ids) + 1)

    def finish(self, result: ForwardResult) -> StepEvent:
        """See Strategy."""
        state, block, start = self._state, self._block, len(self._state.answer)
        logits, num_checked = state.receive(result), len(self._draft.token_ids) + 1
        causal = state.causal_stats(logits, num_checked)
        tokens = _checked(state, self._draft, causal)
        is_all_accepted = len(tokens) == num_checked
        if start:
            self._longest = min(state.config.block_size, max(SHORTEST, GROWTH * len(tokens)))
        state.cache.truncate(state.cache.length - num_checked + len(tokens))
        tokens = cut_after_end(tokens, state.model.end_token_ids)[: state.num_left]
        masked: tuple[MaskedPosition, ...] = ()
        self._draft = NOTHING
        if is_all_accepted and block.size:
            stats = state.block_stats(logits, num_checked)
            masked = masked_positions(stats, range(block.size), block.start)
            self._draft = _drafted(state, stats)
        self._exact_ids = tokens[-1:]
        hindsight = make_hindsight(tokens, causal.rows(0, len(tokens)), start)
        return state.event(
            block=block,
            masked=masked,
            reveals=tuple(
                Reveal(h.position, h.token_id, rank, h.probability)
                for rank, h in enumerate(hindsight)
            ),
            committed=tokens,
            draft=self._draft.token_ids,
            hindsight=hindsight,
        )


def _block_size(state: DecodingState, draft: Draft, longest: int) -> int:
    """Masks worth feeding: the block's first position is known exactly, so 1 is no use."""
    if draft.token_ids and draft.token_ids[-1] in state.model.end_token_ids:
        return 0
    size = min(longest, state.num_left - len(draft.token_ids))
    return size if size > 1 else 0


def _drafted(state: DecodingState, stats: LogitStats) -> Draft:
    """The guesses of a block's stats; its first position is the exact token just found."""
    guesses, chance = [], 1.0
    token_ids = stats.sample(state.generator)
    for token_id, probability in zip(token_ids[1:], stats.probability[1:], strict=True):
        chance *= probability
        if chance < SURE:
            break
        guesses.append(token_id)
    guesses = cut_after_end(guesses, state.model.end_token_ids)
    drawn_from = stats.distribution
    return Draft(guesses, None if drawn_from is None else drawn_from[1 : len(guesses) + 1])


def _checked(state: DecodingState, draft: Draft, causal: LogitStats) -> list[int]:
    """Accepted draft tokens and one more from the causal head, which has a row for each."""
    if causal.distribution is None:
        best = causal.best_ids
        for index, token_id in enumerate(draft.token_ids):
            if token_id != best[index]:
                return best[: index + 1]
        return best
    accepted: list[int] = []
    for index, token_id in enumerate(draft.token_ids):
        assert draft.distributions is not None
        wanted, drafted = causal.distribution[index], draft.distributions[index]
        chance = torch.rand((), generator=state.generator)
        if chance * drafted[token_id] < wanted[token_id]:
            accepted.append(token_id)
            continue
        rest = (wanted - drafted).clamp(min=0)
        # Two distributions equal up to rounding leave nothing; either is then right.
        source = rest if rest.sum() > 0 else wanted
        return [*accepted, int(torch.multinomial(source, 1, generator=state.generator))]
    return [
        *accepted,
        int(torch.multinomial(causal.distribution[-1], 1, generator=state.generator)),
    ]
