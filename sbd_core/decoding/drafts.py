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

    probabilities: of the most likely token at each position. distributions (tokens, vocab): what
    the tokens were drawn from, None at temperature 0. alternatives: for each token, other
    candidates, likeliest first, each with its probability; none above temperature 0. num_sure:
    number of leading tokens that the causal head gave behind an alternative. They are checked like
    the others, as sums over an alternative's keys may be rounded differently from sums over the
    cache.
    """

    token_ids: list[int]
    probabilities: list[float]
    distributions: Tensor | None
    alternatives: Sequence[Sequence[tuple[int, float]]] = ()
    num_sure: int = 0

    def behind(self, token_id: int) -> "Draft":
        """The same draft behind a token that is nearly sure; at temperature 0 only."""
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
    """The draft that a block's rows give; another row gives the block's first token exactly.

    chosen: one token per row, from its distribution. length: of the draft, unless it ends earlier.
    """
    token_ids = cut_after_end(chosen[1 : length + 1], end_ids)
    drawn_from, length = stats.distribution, len(token_ids)
    own = slice(1, length + 1)
    if drawn_from is not None:
        return Draft(token_ids, stats.probability[own], drawn_from[own])
    listed = zip(stats.top_ids[own], stats.top_probabilities[own], strict=True)
    # An end token is no use here: the check itself tells where the answer ends.
    others = [
        [pair for pair in zip(ids[1:], chances[1:], strict=True) if pair[0] not in end_ids]
        for ids, chances in listed
    ]
    return Draft(token_ids, stats.probability[own], None, others)
