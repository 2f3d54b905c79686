"""Lossless drafting with the masked head (after TiDAR, arXiv 2511.08923).

One pass checks the current draft causally and drafts the next block. At temperature 0 the
answer is NTP's token for token; above 0 the acceptance rule of speculative sampling (Leviathan
et al., arXiv 2211.17192) keeps NTP's distribution.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.decoding.state import Decoding, Run, cut_after_end, hindsight_of
from sbd_core.events import MaskedPosition, Reveal, Span
from sbd_core.sampling import Measures


@dataclass(frozen=True, slots=True)
class Draft:
    """Guesses for the positions after the exact tokens; distributions (tokens, vocab)."""

    token_ids: list[int]
    distributions: Tensor | None


NOTHING = Draft([], None)
SURE = 0.5
"""A draft ends where the chance that all of it is right, as the head sees it, falls below."""
GROWTH, SHORTEST = 2, 6
"""The next block holds GROWTH times as many masks as the pass gave tokens, at least SHORTEST."""


def verify(run: Run) -> Decoding:
    """Each pass adds the accepted draft and one exact token, so at least one token.

    config.block_size bounds the draft; how far it goes follows what was accepted last and how
    sure the head is. Neither looks at the tokens drawn, which keeps the distribution exact.
    """
    assert run.model.mask_token_id is not None
    exact_ids, draft, longest = list(run.prompt_ids), NOTHING, run.config.block_size
    while not run.is_finished:
        start, num_drafted = len(run.answer), len(draft.token_ids)
        size = _block_size(run, draft, longest)
        block_ids = [run.model.mask_token_id] * size
        causal_ids = [*exact_ids, *draft.token_ids]
        logits = yield from run.forward(causal_ids, block_ids, num_drafted + 1)
        causal = run.known(logits, num_drafted + 1)
        tokens = _checked(run, draft, causal)
        is_all_accepted = len(tokens) == num_drafted + 1
        if start:
            longest = min(run.config.block_size, max(SHORTEST, GROWTH * len(tokens)))
        run.cache.truncate(run.cache.length - num_drafted + len(tokens) - 1)
        tokens = cut_after_end(tokens, run.model.end_token_ids)[: run.num_left]
        block, draft = Span(start + num_drafted, size), NOTHING
        masked: tuple[MaskedPosition, ...] = ()
        if is_all_accepted and size:
            measures = run.predicted(logits, num_drafted + 1)
            masked = run.recorded(measures, range(size), block.start)
            draft = _drafted(run, measures)
        hindsight = hindsight_of(tokens, causal.rows(0, len(tokens)), start)
        yield run.event(
            block=block,
            masked=masked,
            reveals=tuple(
                Reveal(h.position, h.token_id, rank, h.probability)
                for rank, h in enumerate(hindsight)
            ),
            committed=tokens,
            draft=draft.token_ids,
            hindsight=hindsight,
        )
        exact_ids = tokens[-1:]


def _block_size(run: Run, draft: Draft, longest: int) -> int:
    """Masks worth feeding: the block's first position is known exactly, so 1 is no use."""
    if draft.token_ids and draft.token_ids[-1] in run.model.end_token_ids:
        return 0
    size = min(longest, run.num_left - len(draft.token_ids))
    return size if size > 1 else 0


def _drafted(run: Run, measures: Measures) -> Draft:
    """The guesses of a block's measures; its first position is the exact token of this pass."""
    guesses, chance = [], 1.0
    token_ids = measures.drawn(run.generator)
    for token_id, probability in zip(token_ids[1:], measures.probability[1:], strict=True):
        chance *= probability
        if chance < SURE:
            break
        guesses.append(token_id)
    guesses = cut_after_end(guesses, run.model.end_token_ids)
    drawn_from = measures.distribution
    return Draft(guesses, None if drawn_from is None else drawn_from[1 : len(guesses) + 1])


def _checked(run: Run, draft: Draft, causal: Measures) -> list[int]:
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
        chance = torch.rand((), generator=run.generator)
        if chance * drafted[token_id] < wanted[token_id]:
            accepted.append(token_id)
            continue
        rest = (wanted - drafted).clamp(min=0)
        # Two distributions equal up to rounding leave nothing; either is then right.
        source = rest if rest.sum() > 0 else wanted
        return [*accepted, int(torch.multinomial(source, 1, generator=run.generator))]
    return [*accepted, int(torch.multinomial(causal.distribution[-1], 1, generator=run.generator))]
