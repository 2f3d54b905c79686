"""Turns logits into candidate tokens and measures of the model's confidence. Knows no model.

Candidates holds tensors, for users of the package. LogitStats holds plain numbers, for the
decoding engine.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError, require_number
from sbd_core.solvers import ConfidenceScores


@dataclass(frozen=True, slots=True)
class Candidates:
    """One candidate token per block position, and how sure the model is of each position.

    token_ids: (block,), the likeliest token at temperature 0, else a sample.
    probability: (block,), the top probability c_i, even if another token was sampled.
    margin: (block,), the top probability less the second, p1 - p2.
    entropy: (block,), in nats.
    distribution: (block, vocab), the softmax from which the measures were computed; None if only
        the measures are known.
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
        """Choose a candidate token for each block position.

        logits: (block, vocab), with -inf for tokens that must not be produced.
        temperature: 0 chooses the likeliest token; above 0, `generator` draws one from the
            softmax of logits / temperature.
        Raises ArgumentError if the logits have another shape, a NaN or +inf, or only -inf at a
        position, or if the temperature is negative or not finite.
        """
        require_number("temperature", temperature, 0)
        softmax = Softmax.of(logits, temperature)
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
    """Statistics to compute per row of logits, besides the likeliest token and its probability.

    forbidden_id: a token to rule out first, such as the mask token; None for no token.
    temperature: divides the logits before the softmax; 0 leaves the logits as they are.
    num_top: number of likeliest tokens to list per row.
    has_entropy, has_margin: whether to compute the entropy and the margin of each row.
    """

    forbidden_id: int | None = None
    temperature: float = 0.0
    num_top: int = 0
    has_entropy: bool = False
    has_margin: bool = False


BY_ROW = ("probability", "margin", "entropy", "best_ids", "top_ids", "top_probabilities")
"""Fields of LogitStats that are lists with an item for each row."""


@dataclass(frozen=True, slots=True)
class LogitStats(ConfidenceScores):
    """Statistics of successive rows of logits. A list is empty if the spec did not ask for it.

    logits: (.., vocab), with the rows that were measured and possibly others.
    start: index in `logits` of the first row that was measured.
    temperature: see LogitStatsSpec.
    best_ids: the likeliest token of each row.
    top_ids, top_probabilities: the likeliest tokens of each row and their probabilities.
    distribution: the softmax (rows, vocab) to draw from, None at temperature 0.
    """

    logits: Tensor
    start: int
    temperature: float
    best_ids: list[int]
    top_ids: list[list[int]]
    top_probabilities: list[list[float]]
    distribution: Tensor | None

    def rows(self, start: int, stop: int) -> "LogitStats":
        """The statistics of rows `start` to `stop` - 1, counted from the first measured row."""
        some: dict[str, Any] = {name: getattr(self, name)[start:stop] for name in BY_ROW}
        if self.distribution is not None:
            some["distribution"] = self.distribution[start:stop]
        return replace(self, start=self.start + start, **some)

    @classmethod
    def concatenate(cls, parts: "Sequence[LogitStats]") -> "LogitStats":
        """Join the statistics of rows of the same `logits`, in the order of `parts`.

        Only if the rows follow each other has the result their token_probabilities().
        """
        joined: dict[str, Any] = {
            name: [item for part in parts for item in getattr(part, name)] for name in BY_ROW
        }
        drawn_from = [each for part in parts if (each := part.distribution) is not None]
        joined["distribution"] = torch.cat(drawn_from) if drawn_from else None
        return replace(parts[0], **joined)

    def token_probabilities(self, token_ids: Sequence[int]) -> list[float]:
        """The probability of token_ids[i] in row i, for every row that was measured."""
        if token_ids == self.best_ids:
            return self.probability
        ids = torch.tensor([token_ids, self.best_ids], device=self.logits.device).t()
        rows = self.logits.narrow(0, self.start, ids.shape[0])
        pairs = zip(rows.gather(1, ids).tolist(), self.probability, strict=True)
        scale = self.temperature or 1.0
        return [top * math.exp((logit - best) / scale) for (logit, best), top in pairs]

    def sample(self, generator: torch.Generator) -> list[int]:
        """Choose one token per row: the likeliest at temperature 0, else a draw by `generator`."""
        if self.distribution is None:
            return self.best_ids
        chosen: list[int] = sample(self.distribution, generator).tolist()
        return chosen


ComputeLogitStats = Callable[[Tensor, int, int, LogitStatsSpec], LogitStats]
"""(fp32 logits (.., vocab), start, stop, spec) -> statistics of rows `start` to `stop` - 1.

In these rows the function sets the logit of the forbidden token to -inf. Raises ArgumentError for
logits that are NaN or +inf, or if all logits of a row are -inf.
"""


@torch.inference_mode()
def compute_logit_stats(logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
    """Compute the statistics of rows `start` to `stop` - 1 of `logits`, on the logits' device.

    Only the statistics and, at a temperature above 0, the distribution are copied to the CPU.
    For the effect on `logits` and the errors see ComputeLogitStats.
    """
    rows = logits[start:stop]
    columns: dict[str, Tensor] = {}
    if spec.forbidden_id is not None:
        columns["forbidden"] = rows[:, spec.forbidden_id].clone()
        forbid(rows, [spec.forbidden_id])
    softmax = Softmax.of(rows, spec.temperature)
    # Token ids are below 2**24, so fp32 holds them exactly.
    columns |= {"best": softmax.best.float(), "total": softmax.total}
    columns["probability"] = 1 / softmax.total
    if spec.has_margin:
        columns["margin"] = softmax.margin()
    if spec.has_entropy:
        columns["entropy"] = softmax.entropy()
    table, num_listed = torch.stack(list(columns.values())), min(spec.num_top, rows.shape[1])
    if num_listed:
        listed = top(rows, num_listed)[0]
        table = torch.cat([table, listed.t().float(), softmax.probabilities(listed).t()])
    # In one transfer, as each one waits for the device.
    read = table.tolist()
    numbers = dict(zip(columns, read, strict=False))
    listed_by_row = list(zip(*read[len(columns) :], strict=True))
    if not all(value < math.inf for value in numbers.get("forbidden", [])):
        raise ArgumentError("logits", "must be finite or -inf", "NaN or inf")
    _refuse_nan(numbers["total"])
    return LogitStats(
        probability=numbers["probability"],
        margin=numbers.get("margin", []),
        entropy=numbers.get("entropy", []),
        logits=logits,
        start=start,
        temperature=spec.temperature,
        best_ids=list(map(int, numbers["best"])),
        top_ids=[list(map(int, row[:num_listed])) for row in listed_by_row],
        top_probabilities=[list(row[num_listed:]) for row in listed_by_row],
        distribution=softmax.distribution().cpu() if spec.temperature else None,
    )


@dataclass(frozen=True, slots=True)
class Softmax:
    """The softmax of logits / temperature; at temperature 0, of the logits as they are.

    best: (rows,), index of the largest logit.
    shifted: (rows, vocab), (logit - largest logit) / temperature in fp32, at most 0.
    exponentials: (rows, vocab), exp(shifted), which is the softmax times `total`.
    total: (rows,), sum of the exponentials; NaN if a logit is NaN or +inf, or all are -inf.
    """

    best: Tensor
    shifted: Tensor
    exponentials: Tensor
    total: Tensor

    @classmethod
    def of(cls, logits: Tensor, temperature: float) -> "Softmax":
        """Take the softmax of logits (rows, vocab), without waiting for the device.

        temperature: see Softmax. Raises ArgumentError for logits of another shape.
        """
        if logits.ndim != 2 or logits.shape[-1] == 0:
            raise ArgumentError("logits", "must have shape (block, vocab)", tuple(logits.shape))
        rows = logits.float()
        best = argmax(rows)
        shifted = rows - rows.gather(1, best[:, None])
        if temperature:
            # In fp64, as any temperature a float can hold must neither vanish nor overflow.
            shifted = (shifted.double() / temperature).float()
        exponentials = shifted.exp()
        return cls(best, shifted, exponentials, exponentials.sum(1))

    def margin(self) -> Tensor:
        """The top probability less the second, (rows,)."""
        return (1 - self._others().amax(1)) / self.total

    def entropy(self) -> Tensor:
        """The entropy in nats, (rows,); exactly 0 where one token has all the probability."""
        # Clamped, as 0 times -inf would be NaN.
        shifted = self.shifted.clamp_min(torch.finfo(torch.float32).min)
        surprise = torch.linalg.vecdot(self.exponentials, shifted) / self.total
        # log1p, as the best token's exponential is 1: adding it would round the small ones away.
        return torch.log1p(self._others().sum(1)) - surprise

    def _others(self) -> Tensor:
        return self.exponentials.scatter(1, self.best[:, None], 0.0)

    def probabilities(self, token_ids: Tensor) -> Tensor:
        """The probabilities of `token_ids`; both have shape (rows, n)."""
        return self.exponentials.gather(1, token_ids) / self.total[:, None]

    def distribution(self) -> Tensor:
        """The probability of every token, (rows, vocab)."""
        return self.exponentials / self.total[:, None]


BLOCK = 256
"""Logits per piece: on a CPU, top() first finds the pieces with the largest logits, for speed."""


def is_on_cpu(tensor: Tensor) -> bool:
    """Whether a tensor lies in CPU memory, where numpy can read it in place."""
    return tensor.device.type == "cpu"


def argmax(rows: Tensor) -> Tensor:
    """The index (rows,) of each row's largest entry, the first index if several are equal."""
    if not is_on_cpu(rows):
        return rows.argmax(1)
    return torch.from_numpy(rows.detach().numpy().argmax(1))  # several times as fast as torch's


def top(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(token ids, logits) of the largest logits in each row, best first, both (rows, count)."""
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
    """Raise ArgumentError if one of `totals` is NaN; see Softmax.total."""
    if math.isnan(sum(totals)):
        raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")


def sample(distribution: Tensor, generator: torch.Generator | None) -> Tensor:
    """Draw one token id per row. distribution: probabilities (rows, vocab)."""
    return torch.multinomial(distribution, 1, generator=generator)[:, 0]


@torch.inference_mode()
def forbid(logits: Tensor, token_ids: Sequence[int]) -> None:
    """Set the logits of `token_ids` to -inf in every row, in place. logits: (rows, vocab)."""
    for token_id in token_ids:
        logits.select(-1, token_id).fill_(-torch.inf)
