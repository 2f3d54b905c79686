"""Logits to candidate tokens and how sure the model is of each. Knows no model, no rule."""

from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.config import require_number
from sbd_core.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Candidates:
    """One candidate token per block position, each field of shape (block,).

    token_ids: the argmax (temperature 0) or a sample. probability: the TOP probability c_i.
    margin: p1 - p2. entropy: nats. All three are of the softmax at `temperature` (at 0: of
    the plain softmax), whatever token was sampled. distribution (block, vocab) is that
    softmax, None when only the measures are known.
    """

    token_ids: Tensor
    probability: Tensor
    margin: Tensor
    entropy: Tensor
    distribution: Tensor | None = None

    @classmethod
    def from_logits(
        cls, logits: Tensor, temperature: float = 0.0, generator: torch.Generator | None = None
    ) -> "Candidates":
        """logits (block, vocab), -inf for tokens that must not be produced.

        Raises ArgumentError for another shape, for logits that are NaN or +inf or leave a
        position no token, or for a temperature that is negative or not finite.
        """
        require_number("temperature", temperature, 0)
        distribution = probabilities(logits, temperature)
        top = distribution.topk(min(2, distribution.shape[-1]), dim=-1).values
        # Of the logits, not of the softmax, which may round two of them to one probability.
        best = logits.argmax(dim=-1)
        token_ids = best if temperature == 0 else sample(distribution, generator)
        return cls(
            token_ids=token_ids,
            probability=top[:, 0],
            margin=top[:, 0] - top[:, 1] if top.shape[-1] == 2 else top[:, 0],
            entropy=torch.special.entr(distribution).sum(dim=-1),
            distribution=distribution,
        )


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """(block, vocab) logits -> fp32 softmax of logits / temperature; at 0 of the logits.

    Raises ArgumentError as Candidates.from_logits does.
    """
    if logits.ndim != 2 or logits.shape[-1] == 0:
        raise ArgumentError("logits", "must have shape (block, vocab)", tuple(logits.shape))
    # Shifted first: a large logit over a small temperature would overflow to inf - inf.
    shifted = logits.float() - logits.float().amax(dim=-1, keepdim=True)
    if temperature > 0:
        # In fp64, as any temperature a float can hold must neither vanish nor overflow.
        shifted = (shifted.double() / temperature).float()
    distribution = shifted.softmax(dim=-1)
    if distribution.isnan().any():
        raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")
    return distribution


def sample(distribution: Tensor, generator: torch.Generator | None) -> Tensor:
    """One token id per row of (rows, vocab)."""
    return torch.multinomial(distribution, 1, generator=generator)[:, 0]


def forbid(logits: Tensor, token_id: int | None) -> Tensor:
    """Logits (.., vocab) with one token made impossible: the mask token is never an answer."""
    if token_id is None:
        return logits
    allowed = logits.clone()
    allowed[..., token_id] = -torch.inf
    return allowed
