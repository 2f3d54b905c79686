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
        softmax = _Softmax.of(logits, temperature)
        _refuse_nan(softmax.total.tolist())
        distribution = softmax.distribution()
        return cls(
            token_ids=softmax.best if temperature == 0 else sample(distribution, generator),
            probability=1 / softmax.total,
            margin=softmax.margin(),
            entropy=softmax.entropy(),
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
    softmax = _Softmax.of(rows, spec.temperature)
    columns |= {"total": softmax.total, "probability": 1 / softmax.total}
    if spec.has_margin:
        columns["margin"] = softmax.margin()
    if spec.has_entropy:
        columns["entropy"] = softmax.entropy()
    # Stacked, as each number fetched by itself would be a wait for the device.
    numbers = dict(zip(columns, torch.stack(list(columns.values())).tolist(), strict=True))
    if not all(value < math.inf for value in numbers.get("forbidden", [])):
        raise ArgumentError("logits", "must be finite or -inf", "NaN or inf")
    _refuse_nan(numbers["total"])
    top_ids, top_probabilities = [], []
    if spec.num_top:
        listed = top(rows, min(spec.num_top, rows.shape[1]))[0]
        top_ids, top_probabilities = listed.tolist(), softmax.probabilities(listed).tolist()
    return LogitStats(
        probability=numbers["probability"],
        margin=numbers.get("margin", []),
        entropy=numbers.get("entropy", []),
        logits=logits,
        start=start,
        temperature=spec.temperature,
        best_ids=softmax.best.tolist(),
        top_ids=top_ids,
        top_probabilities=top_probabilities,
        distribution=softmax.distribution().cpu() if spec.temperature else None,
    )


@dataclass(frozen=True, slots=True)
class _Softmax:
    """The softmax of rows (rows, vocab) of logits / temperature; at 0 of the logits.

    best: the first of the largest of each row. below: by how much a logit over the temperature is
    less than the largest, in fp32. powers: exp(below). total: their sum; NaN for a row that has a
    logit that is NaN or inf, or none above -inf.
    """

    best: Tensor
    below: Tensor
    powers: Tensor
    total: Tensor

    @classmethod
    def of(cls, logits: Tensor, temperature: float) -> "_Softmax":
        if logits.ndim != 2 or logits.shape[-1] == 0:
            raise ArgumentError("logits", "must have shape (block, vocab)", tuple(logits.shape))
        rows = logits.float()
        best = argmax(rows)
        below = rows - rows.gather(1, best[:, None])
        if temperature:
            # In fp64, as any temperature a float can hold must neither vanish nor overflow.
            below = (below.double() / temperature).float()
        powers = below.exp()
        return cls(best, below, powers, powers.sum(1))

    def margin(self) -> Tensor:
        """p1 - p2 of each row."""
        return (1 - self._others().amax(1)) / self.total

    def entropy(self) -> Tensor:
        """Nats (rows,); exactly 0 where one token has it all.

        The best token's own 1 is left out of the sum, where it would round small ones away.
        """
        below = self.below.clamp_min(torch.finfo(torch.float32).min)  # 0 times -inf would be NaN
        surprise = torch.linalg.vecdot(self.powers, below) / self.total
        return torch.log1p(self._others().sum(1)) - surprise

    def _others(self) -> Tensor:
        return self.powers.scatter(1, self.best[:, None], 0.0)

    def probabilities(self, token_ids: Tensor) -> Tensor:
        """The probabilities of tokens (rows, n)."""
        return self.powers.gather(1, token_ids) / self.total[:, None]

    def distribution(self) -> Tensor:
        """The probability of every token (rows, vocab)."""
        return self.powers / self.total[:, None]


BLOCK = 256
"""Size of the pieces whose largest logit top() on a CPU finds first, several times as fast."""


def is_on_cpu(tensor: Tensor) -> bool:
    """Whether a tensor's numbers can be read where they lie, by other means than torch's."""
    return tensor.device.type == "cpu"


def argmax(rows: Tensor) -> Tensor:
    """The first of the largest of each row (rows, vocab)."""
    if not is_on_cpu(rows):
        return rows.argmax(1)
    return torch.from_numpy(rows.detach().numpy().argmax(1))  # several times as fast as torch's


def top(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The tokens (rows, count) of the largest logits of (rows, vocab), best first, and these."""
    size = rows.shape[1]
    num_blocks = size // BLOCK
    if not is_on_cpu(rows) or 4 * count > num_blocks:
        values, ids = rows.topk(count, 1)
        return ids, values
    blocks = rows.unfold(1, BLOCK, BLOCK).amax(2).topk(count, 1, sorted=False).indices
    inside = (blocks[:, :, None] * BLOCK + torch.arange(BLOCK)).flatten(1)
    rest = torch.arange(num_blocks * BLOCK, size).expand(len(rows), -1)
    among = torch.cat([inside, rest], 1)
    values, ids = rows.gather(1, among).topk(count, 1)
    return among.gather(1, ids), values


def _refuse_nan(totals: Sequence[float]) -> None:
    """Raise ArgumentError if the total of a softmax row is NaN."""
    if math.isnan(sum(totals)):
        raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")


def sample(distribution: Tensor, generator: torch.Generator | None) -> Tensor:
    """One token id per row of (rows, vocab)."""
    return torch.multinomial(distribution, 1, generator=generator)[:, 0]


@torch.inference_mode()
def forbid(logits: Tensor, token_ids: Sequence[int]) -> None:
    """Make tokens impossible, in place, in every row of (rows, vocab)."""
    for token_id in token_ids:
        logits.select(-1, token_id).fill_(-torch.inf)
