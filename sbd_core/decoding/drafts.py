"""A draft: guesses for the positions after the exact tokens.

Nothing here looks at a drawn token: a draft whose length or place depended on its own tokens would
no longer be a sample of the head's distribution, and verification would not be exact. The head's
confidence in a token may depend on the drafted tokens before it, as it does with a penalty: even
so, whether to draft a token is decided before that token is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from sbd_core.decoding.state import cut_after_end
from sbd_core.sampling import LogitStats


@dataclass(frozen=True, slots=True)
class Draft:
    """Guesses for the positions after the exact tokens.

    probabilities: the head's, of the most likely token at each position.
    distributions: (tokens, vocab) that the tokens were drawn from; None at temperature 0.
    alternatives: per token, (other token, probability), likeliest first; none above temperature 0.
    num_sure: number of leading tokens that the causal head gave after an alternative. They are
        checked all the same, as sums over an alternative's keys may round differently.
    """

    token_ids: list[int]
    probabilities: list[float]
    distributions: Tensor | None
    alternatives: Sequence[Sequence[tuple[int, float]]] = ()
    num_sure: int = 0

    def preceded_by(self, token_id: int) -> "Draft":
        """The draft with a nearly certain token put before it; at temperature 0 only."""
        return Draft(
            [token_id, *self.token_ids],
            [1.0, *self.probabilities],
            None,
            [(), *self.alternatives],
            self.num_sure + 1,
        )


EMPTY_DRAFT = Draft([], [], None)


def draft_of(
    stats: LogitStats, chosen: Sequence[int], length: int, end_ids: frozenset[int]
) -> Draft:
    """Make a draft from a block's rows but the first, whose position has an exact token already.

    stats, chosen: for each row of the block, its statistics and a token from its distribution.
    length: most tokens of the draft.
    end_ids: tokens that end an answer, and so the draft.
    """
    token_ids = cut_after_end(chosen[1 : length + 1], end_ids)
    drawn_from, length = stats.distribution, len(token_ids)
    own = slice(1, length + 1)
    if drawn_from is not None:
        return Draft(token_ids, stats.probability[own], drawn_from[own])
    listed = zip(stats.top_ids[own], stats.top_probabilities[own], strict=True)
    # End tokens are left out, as the check itself finds where the answer ends.
    others = [
        [pair for pair in zip(ids[1:], chances[1:], strict=True) if pair[0] not in end_ids]
        for ids, chances in listed
    ]
    return Draft(token_ids, stats.probability[own], None, others)
