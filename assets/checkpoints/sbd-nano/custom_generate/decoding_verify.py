# Written by sbd_core.hf.vendoring from sbd_core/decoding/verify.py; change that file instead.
"""Lossless drafting with the masked head (after TiDAR, arXiv 2511.08923).

One forward pass checks the current draft causally and drafts the next block. At temperature 0 the
answer is NTP's token for token; above 0 the acceptance rule of speculative sampling (Leviathan
et al., arXiv 2211.17192) keeps NTP's distribution. With config.num_predrafts the forward pass also
drafts for the case that one of its least sure tokens is rejected, so that a draft is there then.
"""

import torch
from torch import Tensor

from .decoding_drafts import (
    NOTHING,
    Draft,
    draft_of,
    next_block_size,
    predraft_offsets,
)
from .decoding_state import (
    DecodingState,
    ForwardResult,
    cut_after_end,
    make_hindsight,
    masked_positions,
)
from .events import MaskedPosition, Predraft, Reveal, Span, StepEvent
from .models_protocol import EarlyBlock, ForwardRequest
from .sampling import LogitStats


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
        self._early_blocks: list[Span] = []

    def next_request(self) -> ForwardRequest | None:
        """See Strategy."""
        state, draft, start = self._state, self._draft, len(self._state.answer)
        if state.is_finished:
            return None
        num_drafted = len(draft.token_ids)
        ends = bool(draft.token_ids) and draft.token_ids[-1] in state.model.end_token_ids
        self._block = Span(start + num_drafted, 0 if ends else self._size_behind(num_drafted))
        return state.request(
            [*self._exact_ids, *draft.token_ids],
            self._masks(self._block),
            num_drafted + 1,
            self._choose_early_blocks(start) if state.config.num_predrafts else (),
        )

    def _choose_early_blocks(self, start: int) -> list[EarlyBlock]:
        """Those of the next forward pass, in which the draft begins at position `start`."""
        state, num_exact = self._state, len(self._exact_ids)
        fitting = self._draft.probabilities[: state.num_left - 1]
        offsets = predraft_offsets(fitting, state.config.num_predrafts)
        self._early_blocks = [Span(start + i, self._size_behind(i)) for i in offsets]
        return [
            EarlyBlock(num_exact + span.start - start, self._masks(span))
            for span in self._early_blocks
        ]

    def _size_behind(self, num_drafted: int) -> int:
        """Masks worth feeding behind so many drafted tokens.

        The first of them stands where the causal head gives an exact token, so 1 is no use.
        """
        size = min(self._longest, self._state.num_left - num_drafted)
        return size if size > 1 else 0

    def _masks(self, span: Span) -> list[int]:
        assert self._state.model.mask_token_id is not None
        return [self._state.model.mask_token_id] * span.size

    def finish(self, result: ForwardResult) -> StepEvent:
        """See Strategy."""
        state, block, start = self._state, self._block, len(self._state.answer)
        logits, num_checked = state.receive(result), len(self._draft.token_ids) + 1
        causal = state.causal_stats(logits, num_checked)
        tokens = _checked(state, self._draft, causal)
        num_accepted = len(tokens) - 1
        if start:
            self._longest = next_block_size(len(tokens), state.config.block_size)
        state.cache.truncate(state.cache.length - num_checked + len(tokens))
        tokens = cut_after_end(tokens, state.model.end_token_ids)[: state.num_left]
        masked: tuple[MaskedPosition, ...] = ()
        self._draft, self._exact_ids = NOTHING, tokens[-1:]
        stop = num_checked + block.size
        if num_accepted == num_checked - 1 and block.size:
            stats = state.block_stats(logits, num_checked, stop)
            masked = masked_positions(stats, range(block.size), block.start)
            self._draft = self._drafted(stats)
        predrafts: tuple[Predraft, ...] = ()
        if self._early_blocks:
            predrafts = self._predrafts(logits, stop, start + num_accepted)
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
            predrafts=predrafts,
        )

    def _drafted(self, stats: LogitStats) -> Draft:
        state = self._state
        threshold, end_ids = state.config.draft_threshold, state.model.end_token_ids
        return draft_of(stats, state.generator, threshold, end_ids)

    def _predrafts(self, logits: Tensor, first: int, exact: int) -> tuple[Predraft, ...]:
        """What was drafted ahead, logits from row `first` on; that for position `exact` is used.

        `exact` is the position of the exact token: of the drafted token it replaced, if any.
        """
        stats, row, predrafts = self._state.draft_stats(logits, first), 0, []
        for span in self._early_blocks:
            draft = self._drafted(stats.rows(row, row + span.size))
            row += span.size
            is_used = span.start == exact
            if is_used:
                self._draft = draft
            predrafts.append(Predraft(span, tuple(draft.token_ids), is_used))
        return tuple(predrafts)


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
