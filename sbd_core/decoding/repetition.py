"""The repetition penalty on tokens that occurred before, and a test for texts that loop.

The penalty is that of transformers' RepetitionPenaltyLogitsProcessor (Keskar et al., arXiv
1909.05858).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from sbd_core.sampling import is_on_cpu


class SeenTokens:
    """The distinct tokens of a text so far. penalise() changes their logits."""

    def __init__(self, penalty: float) -> None:
        self._penalty = penalty
        self._ids: dict[int, None] = {}
        self._index = torch.empty(0, dtype=torch.long)
        self._num_added = 0
        """Number of the text's tokens, from the first, that add() was given."""
        self._unsure: Sequence[int] = ()
        """Causal tokens of the last forward pass that the cache may have dropped since."""

    def read(self, causal_ids: Sequence[int], *, num_cached: int, num_sure: int) -> None:
        """Record that a forward pass reads `causal_ids` after `num_cached` cached tokens.

        num_sure: number of leading `causal_ids` that every row of logits sees. The others may be a
            draft, which the cache drops if it is rejected.
        """
        self.add(self._unsure[: num_cached - self._num_added])
        self.add(causal_ids[:num_sure])
        self._unsure = causal_ids[num_sure:]
        self._num_added = num_cached + num_sure

    def before_causal_rows(self, num_rows: int) -> list[Sequence[int]]:
        """Return `not_added` of penalise() for causal rows, from the last of num_sure on."""
        return [self._unsure[:row] for row in range(num_rows)]

    def before_block_rows(self, block_ids: Sequence[int], mask_id: int | None) -> list[list[int]]:
        """Return `not_added` of penalise() for a block's rows.

        For a row: the causal tokens that add() was not given, and the known ones at its left.
        """
        before, known = [], list(self._unsure)
        for token_id in block_ids:
            before.append(known.copy())
            if token_id != mask_id:
                known.append(token_id)
        return before

    def add(self, token_ids: Iterable[int]) -> None:
        """Add final tokens. They are penalised in every row from now on."""
        self._ids.update(dict.fromkeys(token_ids))

    @torch.inference_mode()
    def penalise(self, rows: Tensor, not_added: Sequence[Sequence[int]]) -> None:
        """Penalise `rows` of logits, (rows, vocab), in place. Do not call this twice for a row.

        not_added: for each row, the tokens to penalise besides the tokens that add() was given.
        """
        if len(self._index) != len(self._ids) or self._index.device != rows.device:
            ids = np.fromiter(self._ids, np.int64)
            self._index = torch.from_numpy(ids).to(rows.device)
        rows.index_copy_(1, self._index, scaled(rows.index_select(1, self._index), self._penalty))
        new = [[each for each in token_ids if each not in self._ids] for token_ids in not_added]
        penalise(rows, new, self._penalty)


def penalise(rows: Tensor, seen: Sequence[Iterable[int]], penalty: float) -> None:
    """Penalise logits (rows, vocab) in place. seen: for each row, the token ids, once each."""
    pairs = [(row, token_id) for row, ids in enumerate(seen) for token_id in dict.fromkeys(ids)]
    if pairs and penalty != 1 and is_on_cpu(rows):
        values, factor = rows.numpy(), np.float32(penalty)
        for place in pairs:  # few, and several times as fast as in torch
            value = values[place]
            values[place] = value * factor if value < 0 else value / factor
    elif pairs and penalty != 1:
        row, token_id = torch.tensor(pairs, device=rows.device).unbind(1)
        rows[row, token_id] = scaled(rows[row, token_id], penalty)


def scaled(logits: Tensor, penalty: float | Tensor) -> Tensor:
    """Penalise logits: divide positive ones by the penalty, multiply negative ones by it."""
    return torch.where(logits < 0, logits * penalty, logits / penalty)


LOOP, MOST_REPEATS = 6, 3
"""Length of a run of words, and how often one may occur before a text counts as a loop."""


def is_loop(text: str) -> bool:
    """Whether any sequence of LOOP words occurs in the text more than MOST_REPEATS times."""
    words = text.split()
    starts = range(len(words) - LOOP + 1)
    runs = Counter(tuple(words[start : start + LOOP]) for start in starts)
    return max(runs.values(), default=0) > MOST_REPEATS
