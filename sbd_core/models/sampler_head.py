"""The sampler head, which adjusts the logits of a block's row once the token before it is known.

Its weights are in the folder of a block adapter (block_adapter.py).
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, silu

from sbd_core.sampling import top

NUM_ANCHORS = 1024
"""Number of tokens from whose logits a row's hidden state is recovered."""
NUM_CANDIDATES = 96
"""Number of likeliest tokens of a row that a sampler head reweighs."""
MAX_KEPT_TOKENS = 512
"""Number of tokens whose part of `into @ x` is cached, as most drafted tokens come again."""


class SamplerHead:
    """A small head that adjusts the logits of a block's row once the token before it is known.

    Let h be the row's hidden state after the last norm, e the embedding of the token before, and
    x = [h, e], each divided by its root mean square. The head changes h to
    h + out @ (silu(gate) * up), where [gate, up] = into @ x. Logits are linear in h, so h is
    recovered from the logits of about NUM_ANCHORS tokens, whatever the backend.
    """

    def __init__(self, into: Tensor, out: Tensor, embedding: Tensor, head: Tensor) -> None:
        """Shapes: into (2 width, 2 hidden), out (hidden, width), the others (vocab, hidden)."""
        # Transposed, as a CPU multiplies few rows by it in two thirds of the time.
        self._of_hidden, self._of_token = (part.t().contiguous() for part in into.chunk(2, 1))
        self._kept: dict[int, Tensor] = {}
        self._out = out
        self._embedding, self._head = embedding, head
        size = head.shape[0]
        step = max(1, size // NUM_ANCHORS)
        self._anchors = torch.arange(0, size, step, device=head.device)
        rows = head[self._anchors].double()
        inverse = torch.linalg.pinv(rows.t() @ rows, hermitian=True) @ rows.t()
        self._back = inverse.float().contiguous()

    @torch.inference_mode()
    def begin(self, logits: Tensor) -> "SamplerWalk":
        """Prepare to adjust the rows of `logits` (rows, vocab), before any of them is changed."""
        hidden = linear(logits[:, self._anchors], self._back)
        likeliest = top(logits, min(NUM_CANDIDATES, logits.shape[1]))[0]
        weights = self._head.index_select(0, likeliest.view(-1))
        return SamplerWalk(
            logits,
            _normed(hidden) @ self._of_hidden,
            likeliest,
            weights.float().view(*likeliest.shape, -1),
            self,
        )

    def change(self, of_hidden: Tensor, token_id: int) -> Tensor:
        """The change of a row's hidden state when `token_id` is the token before the row.

        of_hidden: the hidden state's part of `into @ x`.
        """
        kept = self._kept.get(token_id)
        if kept is None:
            kept = _normed(self._embedding[token_id].float()) @ self._of_token
            if len(self._kept) >= MAX_KEPT_TOKENS:
                self._kept.clear()
            self._kept[token_id] = kept
        gate, up = (of_hidden + kept).chunk(2)
        return self._out.mv(silu(gate) * up)


@dataclass(frozen=True, slots=True)
class SamplerWalk:
    """Rows of logits that a SamplerHead adjusts at their likeliest tokens, one row after the other.

    logits (rows, vocab). of_hidden (rows, 2 width): the hidden states' part of `into @ x`.
    likeliest (rows, n): token ids. weights (rows, n, hidden): these tokens' rows of the output
    layer.
    """

    logits: Tensor
    of_hidden: Tensor
    likeliest: Tensor
    weights: Tensor
    head: SamplerHead

    @torch.inference_mode()
    def add_to(self, row: int, token_id: int) -> None:
        """Adjust the logits of a row in place, now that `token_id` stands before its position."""
        change = self.head.change(self.of_hidden[row], token_id)
        self.logits[row].index_add_(0, self.likeliest[row], self.weights[row] @ change)


def _normed(x: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1:])


def sampler_change(hidden: Tensor, before: Tensor, into: Tensor, out: Tensor) -> Tensor:
    """The change (.., hidden) that a SamplerHead of `into` and `out` makes to hidden states.

    hidden, before (.., hidden): the states, and the embeddings of the tokens before them.
    """
    gate, up = linear(torch.cat([_normed(hidden), _normed(before)], -1), into).chunk(2, -1)
    return linear(silu(gate) * up, out)
