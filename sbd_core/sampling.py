"""Logits to candidate tokens and how sure the model is of each. Knows no model, no rule.

Candidates is for callers: tensors. LogitStats is for the engine: plain numbers, read once for each
forward pass.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError, require_number
from sbd_core.rules import ConfidenceScores


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
        best = argmax(logits)
        likeliest = distribution.gather(1, best[:, None])[:, 0]
        return cls(
            token_ids=best if temperature == 0 else sample(distribution, generator),
            probability=likeliest,
            margin=_margins(distribution, best, likeliest),
            entropy=_entropies(logits.float(), best, distribution, temperature),
            distribution=distribution,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogitStatsSpec:
    """The statistics wanted of each row, besides its best token and that token's probability.

    forbidden_id: a token made impossible first, as the mask token is no answer. num_top: tokens
    listed a row. temperature: of the softmax, at 0 the plain one.
    """

    forbidden_id: int | None = None
    temperature: float = 0.0
    num_top: int = 0
    has_entropy: bool = False
    has_margin: bool = False


@dataclass(frozen=True, slots=True)
class LogitStats(ConfidenceScores):
    """Statistics of rows of `logits` (.., vocab) from row `start` on; unwanted lists are empty.

    best_ids: the argmax. top_ids and top_probabilities: the most likely tokens, best first.
    distribution: at a temperature above 0 the softmax (rows, vocab), for drawing from.
    """

    logits: Tensor
    start: int
    temperature: float
    best_ids: list[int]
    top_ids: list[list[int]]
    top_probabilities: list[list[float]]
    distribution: Tensor | None

    def rows(self, start: int, stop: int) -> "LogitStats":
        """The statistics of some of the rows."""
        within = slice(start, stop)
        return LogitStats(
            probability=self.probability[within],
            margin=self.margin[within],
            entropy=self.entropy[within],
            logits=self.logits,
            start=self.start + start,
            temperature=self.temperature,
            best_ids=self.best_ids[within],
            top_ids=self.top_ids[within],
            top_probabilities=self.top_probabilities[within],
            distribution=None if self.distribution is None else self.distribution[within],
        )

    @classmethod
    def joined(cls, parts: "Sequence[LogitStats]") -> "LogitStats":
        """Join the statistics of successive rows that were measured one by one."""
        first, distributions = parts[0], [part.distribution for part in parts]
        drawn_from = [each for each in distributions if each is not None]

        def every(name: str) -> list[Any]:
            return [item for part in parts for item in getattr(part, name)]

        return cls(
            probability=every("probability"),
            margin=every("margin"),
            entropy=every("entropy"),
            logits=first.logits,
            start=first.start,
            temperature=first.temperature,
            best_ids=every("best_ids"),
            top_ids=every("top_ids"),
            top_probabilities=every("top_probabilities"),
            distribution=torch.cat(drawn_from) if drawn_from else None,
        )

    def token_probabilities(self, token_ids: Sequence[int]) -> list[float]:
        """The probability of one token a row, whichever it is."""
        if token_ids == self.best_ids:
            return self.probability
        ids = torch.tensor([token_ids, self.best_ids], device=self.logits.device).t()
        rows = self.logits.narrow(0, self.start, ids.shape[0])
        pairs = zip(rows.gather(1, ids).tolist(), self.probability, strict=True)
        scale = self.temperature or 1.0
        return [top * math.exp((logit - best) / scale) for (logit, best), top in pairs]

    def sample(self, generator: torch.Generator) -> list[int]:
        """A token a row: the best at temperature 0, else one of the distribution."""
        if self.distribution is None:
            return self.best_ids
        chosen: list[int] = sample(self.distribution, generator).tolist()
        return chosen


ComputeLogitStats = Callable[[Tensor, int, int, LogitStatsSpec], LogitStats]
"""fp32 logits (.., vocab), first row, row to stop before -> measures of the rows between.

The forbidden token's logits are -inf in these rows afterwards. Raises ArgumentError for logits
that are NaN or +inf or leave a row no token.
"""


@torch.inference_mode()
def compute_logit_stats(logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
    """Compute the statistics that `spec` asks for, by tensor operations on the logits' device.

    Only the statistics leave the device, and at a temperature above 0 the distribution, which
    the CPU's generator draws from.
    """
    rows = logits[start:stop]
    columns: dict[str, Tensor] = {}
    if spec.forbidden_id is not None:
        columns["forbidden"] = rows[:, spec.forbidden_id].clone()
        forbid(rows, [spec.forbidden_id])
    distribution = _softmax(rows, spec.temperature)
    best = argmax(rows)
    likeliest = distribution.gather(1, best[:, None])[:, 0]
    columns |= {"first": distribution.select(1, 0), "probability": likeliest}
    if spec.has_margin:
        columns["margin"] = _margins(distribution, best, likeliest)
    if spec.has_entropy:
        columns["entropy"] = _entropies(rows, best, distribution, spec.temperature)
    # Stacked, as each number fetched by itself would be a wait for the device.
    numbers = dict(zip(columns, torch.stack(list(columns.values())).tolist(), strict=True))
    if not all(value < math.inf for value in numbers.get("forbidden", [])):
        raise ArgumentError("logits", "must be finite or -inf", "NaN or inf")
    _refuse_nan(numbers["first"])
    top_ids, top_probabilities = [], []
    if spec.num_top:
        listed = top(rows, min(spec.num_top, rows.shape[1]))[0]
        top_ids, top_probabilities = listed.tolist(), distribution.gather(1, listed).tolist()
    return LogitStats(
        probability=numbers["probability"],
        margin=numbers.get("margin", []),
        entropy=numbers.get("entropy", []),
        logits=logits,
        start=start,
        temperature=spec.temperature,
        best_ids=best.tolist(),
        top_ids=top_ids,
        top_probabilities=top_probabilities,
        distribution=distribution.cpu() if spec.temperature else None,
    )


BLOCK = 256
"""Size of the pieces whose largest logit a CPU finds first, which is several times as fast."""


def argmax(rows: Tensor) -> Tensor:
    """The first of the largest of each row (rows, vocab)."""
    size = rows.shape[1]
    if rows.device.type != "cpu" or size < 2 * BLOCK:
        return rows.argmax(1)
    last = rows[:, size - BLOCK :].amax(1, keepdim=True)  # it may overlap with the block before
    block = torch.cat([rows.unfold(1, BLOCK, BLOCK).amax(2), last], 1).argmax(1)
    starts = (block * BLOCK).clamp_max(size - BLOCK)[:, None]
    inside = rows.gather(1, starts + torch.arange(BLOCK)).argmax(1)
    return starts[:, 0] + inside


def top(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The tokens (rows, count) of the largest logits of (rows, vocab), best first, and these."""
    size = rows.shape[1]
    num_blocks = size // BLOCK
    if rows.device.type != "cpu" or 4 * count > num_blocks:
        values, ids = rows.topk(count, 1)
        return ids, values
    blocks = rows.unfold(1, BLOCK, BLOCK).amax(2).topk(count, 1, sorted=False).indices
    inside = (blocks[:, :, None] * BLOCK + torch.arange(BLOCK)).flatten(1)
    rest = torch.arange(num_blocks * BLOCK, size).expand(len(rows), -1)
    among = torch.cat([inside, rest], 1)
    values, ids = rows.gather(1, among).topk(count, 1)
    return among.gather(1, ids), values


def _margins(distribution: Tensor, best: Tensor, top: Tensor) -> Tensor:
    """p1 - p2 of each row; twice as fast as topk(2)."""
    return top - distribution.scatter(-1, best[:, None], 0.0).amax(dim=-1)


def _entropies(logits: Tensor, best: Tensor, distribution: Tensor, temperature: float) -> Tensor:
    """Nats (rows,) of the distribution; exactly 0 where one token has it all.

    log p is log p of the best token and what its logit is above, over the temperature: several
    times as fast as a logarithm of each p.
    """
    place = best[:, None]
    below = logits - logits.gather(1, place)
    if temperature:
        below = (below.double() / temperature).float()
    below.clamp_min_(torch.finfo(torch.float32).min)  # 0 times -inf would be NaN
    likeliest = distribution.gather(1, place)
    # The share of the others keeps the digits that 1 less it would lose.
    others = distribution.scatter_(1, place, 0.0).sum(1)
    distribution.scatter_(1, place, likeliest)
    likeliest = likeliest[:, 0]
    surest = torch.where(likeliest > 0.5, torch.log1p(-others), likeliest.log())
    return 0 - surest - torch.linalg.vecdot(distribution, below)


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """(block, vocab) logits -> fp32 softmax of logits / temperature; at 0 of the logits.

    Raises ArgumentError as Candidates.from_logits does.
    """
    distribution = _softmax(logits, temperature)
    _refuse_nan(distribution.select(1, 0).tolist())
    return distribution


def _softmax(logits: Tensor, temperature: float) -> Tensor:
    """probabilities(), unchecked but for the shape."""
    if logits.ndim != 2 or logits.shape[-1] == 0:
        raise ArgumentError("logits", "must have shape (block, vocab)", tuple(logits.shape))
    scaled = logits.float()
    if temperature > 0:
        # Shifted first: a large logit over a small temperature would overflow to inf - inf.
        # In fp64, as any temperature a float can hold must neither vanish nor overflow.
        shifted = scaled - scaled.amax(dim=-1, keepdim=True)
        scaled = (shifted.double() / temperature).float()
    return scaled.softmax(dim=-1)


def _refuse_nan(firsts: Sequence[float]) -> None:
    """Raise ArgumentError if a softmax row is NaN; its first entry tells.

    A row with a logit that is NaN or inf, or with none above -inf, is NaN throughout.
    """
    if math.isnan(sum(firsts)):
        raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")


def sample(distribution: Tensor, generator: torch.Generator | None) -> Tensor:
    """One token id per row of (rows, vocab)."""
    return torch.multinomial(distribution, 1, generator=generator)[:, 0]


@torch.inference_mode()
def forbid(logits: Tensor, token_ids: Sequence[int]) -> None:
    """Make tokens impossible, in place, in every row of (rows, vocab)."""
    for token_id in token_ids:
        logits.select(-1, token_id).fill_(-torch.inf)
