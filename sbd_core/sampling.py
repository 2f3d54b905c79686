"""Logits to candidate tokens and how sure the model is of each. Knows no model, no rule."""

import math
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
        # Of the logits, not of the softmax, which may round two of them to one probability.
        best = logits.argmax(dim=-1, keepdim=True)
        top = distribution.gather(-1, best)
        # Twice as fast as topk(2).
        second = distribution.scatter(-1, best, 0.0).amax(dim=-1)
        return cls(
            token_ids=best[:, 0] if temperature == 0 else sample(distribution, generator),
            probability=top[:, 0],
            margin=top[:, 0] - second,
            entropy=entropies(distribution),
            distribution=distribution,
        )


def entropies(distribution: Tensor) -> Tensor:
    """Nats (rows,) of the rows of (rows, vocab); exactly 0 where one token has it all.

    Five times as fast as torch.special.entr, which takes its logarithms one by one.
    """
    logarithms = distribution.clamp_min(torch.finfo(distribution.dtype).tiny).log_()
    return 0 - logarithms.mul_(distribution).sum(dim=-1)


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """(block, vocab) logits -> fp32 softmax of logits / temperature; at 0 of the logits.

    Raises ArgumentError as Candidates.from_logits does.
    """
    if logits.ndim != 2 or logits.shape[-1] == 0:
        raise ArgumentError("logits", "must have shape (block, vocab)", tuple(logits.shape))
    scaled = logits.float()
    if temperature > 0:
        # Shifted first: a large logit over a small temperature would overflow to inf - inf.
        # In fp64, as any temperature a float can hold must neither vanish nor overflow.
        shifted = scaled - scaled.amax(dim=-1, keepdim=True)
        scaled = (shifted.double() / temperature).float()
    distribution = scaled.softmax(dim=-1)
    # A row with a logit that is NaN or inf, or with none above -inf, is NaN throughout.
    if math.isnan(sum(distribution.select(1, 0).tolist())):
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
    allowed.select(-1, token_id).fill_(-torch.inf)
    return allowed
