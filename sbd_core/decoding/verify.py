"""Lossless drafting from mask tokens (after TiDAR, arXiv 2511.08923).

One forward pass checks the current draft causally and drafts the block after it. At temperature 0
the answer has the same tokens as with next-token prediction (NTP); above 0 the acceptance rule of
speculative sampling (Leviathan et al., arXiv 2211.17192) keeps NTP's distribution.

The pass also reads predrafts, in case a token is rejected: masks that follow only the first tokens
of the draft. The predraft after the accepted tokens becomes the next draft. At temperature 0 the
pass also reads alternatives to drafted tokens, a tree as in SpecInfer (Miao et al., arXiv
2305.09781). verify_rows.py decides which rows (input positions) a forward pass reads.

Above temperature 0, whether to draft a token depends neither on the token that is drawn nor on any
after it; else the draft would be no sample of the predicted distribution, and verification would
not be exact. A draft does end with a token that ends the answer, as nothing after it counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.config import NUM_ALTERNATIVES
from sbd_core.decoding.state import (
    DecodingState,
    ForwardResult,
    cut_after_end,
    make_hindsight,
    masked_positions,
)
from sbd_core.decoding.verify_rows import draft_length, plan_rows
from sbd_core.events import MaskedPosition, Predraft, Reveal, Span, StepEvent
from sbd_core.models.protocol import ForwardRequest, PredraftBlock
from sbd_core.sampling import LogitStats, sample


@dataclass(frozen=True, slots=True)
class Draft:
    """Guesses for the positions after the final tokens.

    probabilities: for each token, the probability of the likeliest token at the mask; 1 for the
        first num_sure tokens.
    distributions: (tokens, vocab), from which the tokens were drawn; None at temperature 0.
    alternatives: for each token, pairs (other token, its probability), likeliest first; empty above
        temperature 0.
    num_sure: number of leading tokens that come from an alternative's causal row. They are checked
        too, as attention over an alternative's keys may round differently.
    """

    token_ids: list[int]
    probabilities: list[float]
    distributions: Tensor | None
    alternatives: Sequence[Sequence[tuple[int, float]]] = ()
    num_sure: int = 0

    def preceded_by(self, token_id: int) -> "Draft":
        """Return this draft with `token_id` before it, as a sure token. Only for temperature 0."""
        return Draft(
            [token_id, *self.token_ids],
            [1.0, *self.probabilities],
            None,
            [(), *self.alternatives],
            self.num_sure + 1,
        )


EMPTY_DRAFT = Draft([], [], None)


def _draft_of(
    stats: LogitStats, chosen: Sequence[int], length: int, end_ids: frozenset[int]
) -> Draft:
    """Make a draft from all rows of a block but the first, whose position has its final token.

    stats, chosen: of each row of the block. length: largest number of tokens in the draft.
    end_ids: tokens that end an answer. The draft ends with the first one that it holds.
    """
    token_ids = cut_after_end(chosen[1 : length + 1], end_ids)
    own = slice(1, len(token_ids) + 1)
    if stats.distribution is not None:
        return Draft(token_ids, stats.probability[own], stats.distribution[own])
    listed = zip(stats.top_ids[own], stats.top_probabilities[own], strict=True)
    # End tokens are left out, as the check itself finds where the answer ends.
    alternatives = [
        [pair for pair in zip(ids[1:], chances[1:], strict=True) if pair[0] not in end_ids]
        for ids, chances in listed
    ]
    return Draft(token_ids, stats.probability[own], None, alternatives)


@dataclass(frozen=True, slots=True)
class _AskedPredraft:
    """A predraft that a forward pass is asked to read.

    span: positions of the predraft's masks.
    alternative: token read in place of a drafted token; None reads masks alone.
    row: index of the predraft's first row within the logits.
    """

    span: Span
    alternative: int | None
    row: int

    @property
    def masks(self) -> tuple[int, int]:
        """Index of the first mask's row within the logits, and of the row after the last."""
        first = self.row + (self.alternative is not None)
        return first, first + self.span.size


class DraftAndVerify:
    """Strategy `verify`: each forward pass adds the accepted draft tokens and one exact token.

    The exact token is what next-token prediction gives after the accepted tokens. The length of a
    draft depends on the probability of the likeliest token at each mask, config.block_size and
    config.max_rows.
    """

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._exact_ids = list(state.prompt_ids)
        """Final tokens that are not in the cache yet."""
        self._draft = EMPTY_DRAFT
        self._block = Span(0, 0)
        self._asked: list[_AskedPredraft] = []
        self._num_top = 0 if state.config.temperature else 1 + NUM_ALTERNATIVES

    def next_request(self) -> ForwardRequest | None:
        state, draft, start = self._state, self._draft, len(self._state.answer)
        if state.is_finished:
            return None
        config, end_ids = state.config, state.model.end_token_ids
        plan = plan_rows(
            draft.probabilities,
            state.model.calibration,
            block_size=config.block_size,
            num_left=state.num_left,
            max_rows=config.max_rows,
            alternatives=[[chance for _, chance in own] for own in draft.alternatives],
            num_sure=draft.num_sure,
            is_end=not end_ids.isdisjoint(draft.token_ids[-1:]),
        )
        *predrafts, self._block = [Span(start + i, size) for i, size in enumerate(plan.block_sizes)]
        spans: list[tuple[Span, int | None]] = [(span, None) for span in predrafts if span.size]
        spans += [
            (Span(start + place + 1, size), draft.alternatives[place][rank][0])
            for place, rank, size in plan.alternatives
        ]
        self._asked, row = [], len(draft.token_ids) + 1 + self._block.size
        predraft_blocks, num_before = list[PredraftBlock](), len(self._exact_ids) - start
        for span, alternative in spans:
            self._asked.append(_AskedPredraft(span, alternative, row))
            _, row = self._asked[-1].masks
            is_alternative = alternative is not None
            ids = [*([] if alternative is None else [alternative]), *self._masks(span)]
            num_causal = num_before + span.start - is_alternative
            predraft_blocks.append(PredraftBlock(num_causal, ids, is_alternative))
        causal_ids = [*self._exact_ids, *draft.token_ids]
        num_checked = len(draft.token_ids) + 1
        return state.request(causal_ids, self._masks(self._block), num_checked, predraft_blocks)

    def _masks(self, span: Span) -> list[int]:
        assert self._state.model.mask_token_id is not None
        return [self._state.model.mask_token_id] * span.size

    def update(self, result: ForwardResult) -> StepEvent:
        state, block, start = self._state, self._block, len(self._state.answer)
        logits, num_checked = state.receive(result), len(self._draft.token_ids) + 1
        causal = state.causal_stats(logits, num_checked)
        exact = _checked(state, self._draft, causal)
        used = self._used_predraft(exact)
        state.cache.truncate(state.cache.length - num_checked + len(exact))
        self._exact_ids = exact[-1:]
        tokens = cut_after_end(exact, state.model.end_token_ids)[: state.num_left]
        masked: tuple[MaskedPosition, ...] = ()
        self._draft = EMPTY_DRAFT
        if len(exact) == num_checked and block.size:
            rows = num_checked, num_checked + block.size
            is_recorded, num_listed = state.is_recorded, state.config.top_k_recorded
            stats, chosen = state.draft(
                logits, *rows, exact, is_recorded=is_recorded, num_top=self._num_top
            )
            if is_recorded:
                masked = masked_positions(stats, range(block.size), block.start, num_listed)
            self._draft = self._drafted(stats, chosen)
        if used is not None:
            self._draft = self._draft_of_used(used, logits, exact)
        drafted = tuple(self._draft.token_ids)
        hindsight = make_hindsight(tokens, causal.rows(0, len(tokens)), start)
        return state.event(
            block,
            masked=masked,
            reveals=tuple(
                Reveal(h.position, h.token_id, rank, h.probability)
                for rank, h in enumerate(hindsight)
            ),
            committed=tokens,
            draft=self._draft.token_ids,
            hindsight=hindsight,
            predrafts=tuple(
                Predraft(
                    *each.span, drafted if each is used else (), each is used, each.alternative
                )
                for each in self._asked
            ),
        )

    def _drafted(self, stats: LogitStats, chosen: Sequence[int]) -> Draft:
        """Make the next draft from a block's rows."""
        model, max_rows = self._state.model, self._state.config.max_rows
        length = draft_length(stats.probability[1:], model.calibration, max_rows)
        return _draft_of(stats, chosen, length, model.end_token_ids)

    def _used_predraft(self, exact: Sequence[int]) -> _AskedPredraft | None:
        """Find the predraft that continues after the checked tokens `exact`, or return None.

        Preferred is one that read the last of `exact` as its alternative.
        """
        if len(exact) > len(self._draft.token_ids):
            return None
        position = len(self._state.answer) + len(exact)
        asked = {(each.span.start, each.alternative): each for each in self._asked}
        return asked.get((position, exact[-1])) or asked.get((position - 1, None))

    def _draft_of_used(self, used: _AskedPredraft, logits: Tensor, exact: Sequence[int]) -> Draft:
        """Make a draft from a used predraft. An alternative's row, if any, gives token 0."""
        state, before = self._state, list(exact)
        if used.alternative is not None:
            before += state.alternative_stats(logits, used.row, exact).best_ids
            if before[-1] in state.model.end_token_ids or not used.span.size:
                return EMPTY_DRAFT.preceded_by(before[-1])
        draft = self._drafted(
            *state.draft(logits, *used.masks, before, is_recorded=False, num_top=self._num_top)
        )
        return draft if used.alternative is None else draft.preceded_by(before[-1])


def _checked(state: DecodingState, draft: Draft, causal: LogitStats) -> list[int]:
    """Return the draft's accepted tokens and one exact token. causal: statistics of causal rows."""
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
        return [*accepted, int(sample(source[None], state.generator))]
    return [*accepted, int(sample(causal.distribution[-1:], state.generator))]
