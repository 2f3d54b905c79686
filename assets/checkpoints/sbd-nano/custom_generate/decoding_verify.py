# Written by sbd_core.hf.vendoring from sbd_core/decoding/verify.py; change that file instead.
"""Lossless drafting with the masked head (after TiDAR, arXiv 2511.08923).

One forward pass checks the current draft causally and drafts the next block. At temperature 0 the
answer is NTP's token for token; above 0 the acceptance rule of speculative sampling (Leviathan
et al., arXiv 2211.17192) keeps NTP's distribution. With config.num_predrafts the forward pass also
drafts for the case that one of its least sure tokens is rejected, so that a draft is there then. At
temperature 0 the other row policies also read alternatives to drafted tokens in the same forward
pass, a tree as in SpecInfer (Miao et al., arXiv 2305.09781).
"""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _AskedPredraft:
    """A predraft asked for. row: its first, of the logits."""

    span: Span
    alternative: int | None
    row: int

    @property
    def first_mask(self) -> int:
        """The row of its first mask."""
        return self.row + (self.alternative is not None)

    @property
    def stop(self) -> int:
        """One past its last row."""
        return self.first_mask + self.span.size


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
        self._asked: list[_AskedPredraft] = []
        self._planner = row_planner(state.config)
        num_alternatives = 0 if state.config.temperature else self._planner.num_alternatives
        self._num_top = num_alternatives and 1 + num_alternatives

    def next_request(self) -> ForwardRequest | None:
        """See Strategy."""
        state, draft, start = self._state, self._draft, len(self._state.answer)
        if state.is_finished:
            return None
        self._planner.plan_next(draft, state.num_left)
        plan = self._planner.plan
        *predrafts, last = [Span(start + i, size) for i, size in enumerate(plan.block_sizes)]
        ends = bool(draft.token_ids) and draft.token_ids[-1] in state.model.end_token_ids
        self._block = Span(last.start, 0) if ends else last
        spans: list[tuple[Span, int | None]] = [(span, None) for span in predrafts if span.size]
        spans += [
            (Span(start + place + 1, size), draft.alternatives[place][rank][0])
            for place, rank, size in plan.alternatives
        ]
        self._asked, row = [], len(draft.token_ids) + 1 + self._block.size
        for span, alternative in spans:
            self._asked.append(_AskedPredraft(span, alternative, row))
            row = self._asked[-1].stop
        num_before = len(self._exact_ids) - start
        return state.request(
            [*self._exact_ids, *draft.token_ids],
            self._masks(self._block),
            len(draft.token_ids) + 1,
            [self._predraft_block(asked, num_before) for asked in self._asked],
        )

    def _predraft_block(self, asked: _AskedPredraft, num_before: int) -> PredraftBlock:
        """num_before: causal tokens before position 0, less those cached."""
        masks, num_causal = self._masks(asked.span), num_before + asked.span.start
        if asked.alternative is None:
            return PredraftBlock(num_causal, masks)
        return PredraftBlock(num_causal - 1, [asked.alternative, *masks], is_alternative=True)

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
        used = self._used_predraft(exact)
        has_alternative = used is not None and used.alternative is not None
        self._planner.checked(
            self._draft, num_accepted, has_alternative=has_alternative, reads_prompt=not start
        )
        state.cache.truncate(state.cache.length - num_checked + len(exact))
        self._exact_ids = exact[-1:]
        tokens = cut_after_end(exact, state.model.end_token_ids)[: state.num_left]
        masked: tuple[MaskedPosition, ...] = ()
        self._draft = NOTHING
        stop = num_checked + block.size
        if num_accepted == num_checked - 1 and block.size:
            stats, chosen = state.draft(
                logits, num_checked, stop, exact, is_recorded=True, num_top=self._num_top
            )
            masked = masked_positions(
                stats, range(block.size), block.start, state.config.top_k_recorded
            )
            self._draft = self._drafted(stats, chosen)
        predrafts = self._predrafts(logits, used, exact)
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

    def _used_predraft(self, exact: Sequence[int]) -> _AskedPredraft | None:
        """The predraft behind what was accepted; rather one of an alternative that is right."""
        if len(exact) > len(self._draft.token_ids):
            return None
        position = len(self._state.answer) + len(exact)
        right = (position, exact[-1])
        behind = (position - 1, None)
        places = {(each.span.start, each.alternative): each for each in self._asked}
        return places.get(right) or places.get(behind)

    def _predrafts(
        self, logits: Tensor, used: _AskedPredraft | None, exact: Sequence[int]
    ) -> tuple[Predraft, ...]:
        """The predrafts; the used one is the draft now.

        The others are drafted only to be shown: not where a draft depends on the exact token
        before it, and not where the planner learns from every draft.
        """
        state, predrafts = self._state, []
        is_alike = state.rows_are_independent and self._planner.shows_unused
        first = self._asked[0].row if self._asked else 0
        every = state.draft_stats(logits, first) if is_alike and self._asked else None
        for asked in self._asked:
            draft, rows = NOTHING, (asked.first_mask, asked.stop)
            if every is not None:
                stats = every.rows(rows[0] - first, rows[1] - first)
                draft = self._drafted(stats, stats.sample(state.generator))
            elif asked is used:
                draft = self._draft_of_used(asked, logits, exact)
            if asked is used:
                self._draft = draft
            predrafts.append(
                Predraft(asked.span, tuple(draft.token_ids), asked is used, asked.alternative)
            )
        return tuple(predrafts)

    def _draft_of_used(self, used: _AskedPredraft, logits: Tensor, exact: Sequence[int]) -> Draft:
        """The next draft. Behind an alternative it begins with the token that its row gives."""
        state, before = self._state, list(exact)
        if used.alternative is not None:
            before += state.alternative_stats(logits, used.row, exact).best_ids
            if before[-1] in state.model.end_token_ids:
                return NOTHING.behind(before[-1])
        rows = used.first_mask, used.stop
        draft = self._drafted(
            *state.draft(logits, *rows, before, is_recorded=False, num_top=self._num_top)
        )
        return draft if used.alternative is None else draft.behind(before[-1])


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
