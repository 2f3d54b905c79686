# Written by sbd_core.hf.vendoring from sbd_core/decoding/verify.py; change that file instead.
"""Lossless drafting with the masked head (after TiDAR, arXiv 2511.08923).

One forward pass checks the current draft causally and drafts the next block. At temperature 0 the
answer is NTP's token for token; above 0 the acceptance rule of speculative sampling (Leviathan
et al., arXiv 2211.17192) keeps NTP's distribution. With config.num_predrafts the forward pass also
drafts for the case that one of its least sure tokens is rejected, so that a draft is there then.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .decoding_drafts import NOTHING, Draft, confident_length, draft_of
from .decoding_row_planners import row_planner
from .decoding_state import (
    DecodingState,
    ForwardResult,
    cut_after_end,
    make_hindsight,
    masked_positions,
)
from .events import MaskedPosition, Predraft, Reveal, Span, StepEvent
from .models_protocol import ForwardRequest, PredraftBlock
from .sampling import LogitStats


class DraftAndVerify:
    """Each forward pass adds the accepted draft and one exact token, so at least one token.

    config.block_size bounds the draft; how far it goes follows what was accepted last and how
    sure the head is, or config.row_policy. None of it looks at the tokens drawn, which keeps the
    distribution exact.
    """

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._exact_ids = list(state.prompt_ids)
        """Final tokens that are not in the cache yet."""
        self._draft = NOTHING
        self._block = Span(0, 0)
        self._predraft_spans: list[Span] = []
        self._planner = row_planner(state.config)

    def next_request(self) -> ForwardRequest | None:
        """See Strategy."""
        state, draft, start = self._state, self._draft, len(self._state.answer)
        if state.is_finished:
            return None
        self._planner.plan_next(draft, state.num_left)
        sizes = self._planner.plan.block_sizes
        *predrafts, last = [Span(start + i, size) for i, size in enumerate(sizes)]
        ends = bool(draft.token_ids) and draft.token_ids[-1] in state.model.end_token_ids
        self._block = Span(last.start, 0) if ends else last
        self._predraft_spans = [span for span in predrafts if span.size]
        num_exact = len(self._exact_ids)
        return state.request(
            [*self._exact_ids, *draft.token_ids],
            self._masks(self._block),
            len(draft.token_ids) + 1,
            [
                PredraftBlock(num_exact + span.start - start, self._masks(span))
                for span in self._predraft_spans
            ],
        )

    def _masks(self, span: Span) -> list[int]:
        assert self._state.model.mask_token_id is not None
        return [self._state.model.mask_token_id] * span.size

    def update(self, result: ForwardResult) -> StepEvent:
        """See Strategy."""
        state, block, start = self._state, self._block, len(self._state.answer)
        logits, num_checked = state.receive(result), len(self._draft.token_ids) + 1
        causal = state.causal_stats(logits, num_checked)
        exact = _checked(state, self._draft, causal)
        num_accepted = len(exact) - 1
        self._planner.checked(self._draft, num_accepted, reads_prompt=not start)
        state.cache.truncate(state.cache.length - num_checked + len(exact))
        tokens = cut_after_end(exact, state.model.end_token_ids)[: state.num_left]
        masked: tuple[MaskedPosition, ...] = ()
        self._draft, self._exact_ids = NOTHING, tokens[-1:]
        stop = num_checked + block.size
        if num_accepted == num_checked - 1 and block.size:
            stats, chosen = state.draft(logits, num_checked, stop, exact, is_recorded=True)
            masked = masked_positions(stats, range(block.size), block.start)
            self._draft = self._drafted(stats, chosen)
        predrafts: tuple[Predraft, ...] = ()
        if self._predraft_spans:
            predrafts = self._predrafts(logits, stop, exact)
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

    def _drafted(self, stats: LogitStats, chosen: Sequence[int]) -> Draft:
        chances, plan = self._planner.chances(stats.probability[1:]), self._planner.plan
        length = min(confident_length(chances, plan.threshold), plan.draft_length)
        return draft_of(stats, chosen, length, self._state.model.end_token_ids)

    def _predrafts(self, logits: Tensor, first: int, exact: Sequence[int]) -> tuple[Predraft, ...]:
        """The predrafts, logits from row `first` on; that behind `exact` is used.

        The others are drafted only to be shown: not where a draft depends on the exact token
        before it, and not where the planner learns from every draft.
        """
        state, row, predrafts = self._state, first, []
        used_at = len(state.answer) + len(exact) - 1
        is_alike = state.rows_are_independent and self._planner.shows_unused
        every = state.draft_stats(logits, first) if is_alike else None
        for span in self._predraft_spans:
            stop, is_used, draft = row + span.size, span.start == used_at, NOTHING
            if every is not None:
                stats = every.rows(row - first, stop - first)
                draft = self._drafted(stats, stats.sample(state.generator))
            elif is_used:
                draft = self._drafted(*state.draft(logits, row, stop, exact, is_recorded=False))
            if is_used:
                self._draft = draft
            predrafts.append(Predraft(span, tuple(draft.token_ids), is_used))
            row = stop
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
