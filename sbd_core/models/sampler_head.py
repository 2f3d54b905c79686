"""The sampler head, which adjusts the logits of a mask once the token before the mask is known.

The folder of a block adapter holds the sampler head's weights (block_adapter.py).
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, silu

from sbd_core.sampling import top

NUM_ANCHORS = 1024
"""Number of tokens, about, from whose logits a hidden state is recovered."""
NUM_CANDIDATES = 96
"""Number of likeliest tokens whose logits a sampler head adjusts, for each mask."""
MAX_KEPT_TOKENS = 512
"""Largest number of tokens whose part of `into @ x` is cached; drafted tokens often repeat."""


class SamplerHead:
    """A small network that adjusts a mask's logits once the token before the mask is known.

    Let h be the mask's hidden state after the last norm, and e the embedding of the token before
    the mask. x joins h and e after each is divided by its root mean square. The sampler head
    changes h to h + out @ (silu(gate) * up), where [gate, up] = into @ x. No backend has to return
    h: logits are linear in h, so h is recovered from the logits of about NUM_ANCHORS tokens.
    """

    def __init__(self, into: Tensor, out: Tensor, embedding: Tensor, head: Tensor) -> None:
        """Build a sampler head from its weights: into (2 width, 2 hidden), out (hidden, width).

        embedding, head: weights of the model's embedding and output layer, each (vocab, hidden).
        """
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
        """Prepare to adjust logits (masks, vocab), given as the forward pass returned them."""
        hidden = linear(logits[:, self._anchors], self._back)
        likeliest = top(logits, min(NUM_CANDIDATES, logits.shape[1]))[0]
        weights = self._head[likeliest].float()
        return SamplerWalk(logits, _normed(hidden) @ self._of_hidden, likeliest, weights, self)

    def change(self, of_hidden: Tensor, token_id: int) -> Tensor:
        """Compute the change (hidden,) of a mask's hidden state if `token_id` precedes the mask.

        of_hidden: the part of `into @ x` that comes from the hidden state, (2 width,).
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
    """The logits of a block's masks, which a SamplerHead adjusts one mask after the other.

    logits: the logits (masks, vocab), which are changed in place.
    of_hidden: the part of `into @ x` that comes from the hidden states, (masks, 2 width).
    likeliest: ids (masks, n) of each mask's likeliest tokens; only their logits are adjusted.
    weights: the output layer's weights for the likeliest tokens, (masks, n, hidden).
    """

    logits: Tensor
    of_hidden: Tensor
    likeliest: Tensor
    weights: Tensor
    head: SamplerHead

    @torch.inference_mode()
    def add_to(self, row: int, token_id: int) -> None:
        """Adjust the logits of mask number `row`, now that `token_id` is known to precede it."""
        change = self.head.change(self.of_hidden[row], token_id)
        self.logits[row].index_add_(0, self.likeliest[row], self.weights[row] @ change)


def _normed(x: Tensor) -> Tensor:
    return rms_norm(x, x.shape[-1:])


def sampler_change(hidden: Tensor, before: Tensor, into: Tensor, out: Tensor) -> Tensor:
    """Compute the change (.., hidden) that a SamplerHead makes to hidden states.

    hidden: hidden states (.., hidden). before: embeddings (.., hidden) of the preceding tokens.
    into, out: the weights of the SamplerHead.
    """
    gate, up = linear(torch.cat([_normed(hidden), _normed(before)], -1), into).chunk(2, -1)
    return linear(silu(gate) * up, out)
