"""How open requests, which no checker can score, are answered.

In how many forward passes, how fast, and how much of each answer the causal head would have
written.

Loops are counted and left out of everything else, as one token over and over is easily drafted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, median, stdev
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate_batch
from sbd_core.errors import ArgumentError
from sbd_core.models.protocol import SetBlockModel
from sbd_core.rules import EntropyBound, EntropyBoundFromLeft, EntropyThreshold
from sbd_core.trace import Trace
from sbd_core.training.synthesize import is_loop

NTP = "NTP"
GAMMAS = (0.1, 0.35, 0.6)


@dataclass(frozen=True, slots=True)
class RequestScore:
    """One way to decode over all requests.

    tokens_per_forward: all tokens over all forward passes, prefills included; its median is over
    answers. tokens_per_second: of engine time. same_as_ntp: share of answers that are NTP's token
    for token. agreement: share of tokens that the causal head, reading them afterwards, would have
    chosen itself. num_loops: answers that repeat themselves, left out of all figures but accuracy.
    accuracy: share of answers that follow their request's instructions, by IFEval's strict rule;
    difference: from NTP's, request by request, with half of its 95 % interval; None without any.
    """

    row: str
    num_answers: int
    num_loops: int
    num_tokens: int
    num_forwards: int
    tokens_per_forward: float
    median_tokens_per_forward: float
    tokens_per_second: float
    same_as_ntp: float
    agreement: float
    accuracy: float | None = None
    difference: float | None = None
    difference_interval: float | None = None


def request_configs(base: DecodeConfig, block_size: int) -> dict[str, DecodeConfig]:
    """NTP first, then verify and the solvers that a reader chooses among, all else as in `base`."""
    sbd = replace(base, strategy="sbd", block_size=block_size)
    verify = replace(base, strategy="verify", block_size=block_size)
    rows = {
        NTP: replace(base, strategy="ntp"),
        "verify": verify,
        "verify, fewest passes": replace(verify, row_policy="fewest-passes"),
        "verify, fastest here": replace(verify, row_policy="fastest"),
    }
    for gamma in GAMMAS:
        rows[f"SBD gamma {gamma:g}"] = replace(sbd, solver=EntropyBound(gamma))
    for gamma in GAMMAS:
        solver = EntropyBoundFromLeft(gamma)
        rows[f"SBD from the left, gamma {gamma:g}"] = replace(sbd, solver=solver)
    for gamma in GAMMAS:
        rows[f"SBD below {gamma:g} nats"] = replace(sbd, solver=EntropyThreshold(gamma))
    return rows


def score_requests(
    model: SetBlockModel,
    requests: Sequence[str],
    configs: Mapping[str, DecodeConfig],
    *,
    checks: Sequence[Callable[[str], bool] | None] = (),
    batch_size: int = 1,
    advance: Callable[[int], object] = lambda count: None,
) -> list[RequestScore]:
    """Answer every request in every way; `configs` must have the row NTP.

    checks: of each request, what tells whether an answer follows its instructions; None or none of
    them where nothing does. advance is told of each answer. Tokens per second mean what one reader
    sees at batch_size 1. Raises ArgumentError.
    """
    if not requests:
        raise ArgumentError("requests", "must hold at least one request", list(requests))
    if NTP not in configs:
        raise ArgumentError("configs", f"must have the row {NTP}", list(configs))
    answers: dict[str, list[Trace]] = {row: [] for row in configs}
    for start in range(0, len(requests), batch_size):
        part = requests[start : start + batch_size]
        # Rows take turns, so all share the machine's load.
        for row, config in configs.items():
            answers[row] += generate_batch(model, part, config, batch_size=batch_size)
            advance(len(part))
    wanted = [trace.token_ids for trace in answers[NTP]]
    scores = [_score(row, traces, wanted) for row, traces in answers.items()]
    if not any(checks):
        return scores
    marks = {row: _marks(traces, checks) for row, traces in answers.items()}
    return [replace(score, **_accuracy(marks[score.row], marks[NTP])) for score in scores]


def _marks(traces: Sequence[Trace], checks: Sequence[Callable[[str], bool] | None]) -> list[float]:
    """1 for each answer that follows its request's instructions, else 0."""
    pairs = zip(traces, checks, strict=True)
    return [float(check(trace.text)) for trace, check in pairs if check is not None]


def _accuracy(marks: Sequence[float], of_ntp: Sequence[float]) -> dict[str, Any]:
    paired = [one - other for one, other in zip(marks, of_ntp, strict=True)]
    spread = stdev(paired) if len(paired) > 1 else 0.0
    return {
        "accuracy": fmean(marks),
        "difference": fmean(paired),
        "difference_interval": 1.96 * spread / math.sqrt(len(paired)),
    }


def _score(row: str, traces: Sequence[Trace], wanted: Sequence[Sequence[int]]) -> RequestScore:
    is_kept = [not is_loop(trace.text) for trace in traces]
    kept = [trace for trace, keep in zip(traces, is_kept, strict=True) if keep]
    num_tokens = sum(trace.num_tokens for trace in kept)
    num_forwards = sum(trace.num_forwards for trace in kept)
    seconds = sum(event.seconds for trace in kept for event in trace.events)
    read = [item for trace in kept for event in trace.events for item in event.hindsight]
    same = [
        tuple(trace.token_ids) == tuple(ids)
        for trace, ids, keep in zip(traces, wanted, is_kept, strict=True)
        if keep
    ]
    return RequestScore(
        row=row,
        num_answers=len(kept),
        num_loops=len(traces) - len(kept),
        num_tokens=num_tokens,
        num_forwards=num_forwards,
        tokens_per_forward=num_tokens / max(1, num_forwards),
        median_tokens_per_forward=median([trace.tokens_per_forward for trace in kept] or [0.0]),
        tokens_per_second=num_tokens / seconds if seconds else 0.0,
        same_as_ntp=sum(same) / max(1, len(same)),
        agreement=sum(item.token_id == item.argmax_id for item in read) / max(1, len(read)),
    )


def as_text(scores: Sequence[RequestScore]) -> str:
    """A table for people."""
    width = max(len(score.row) for score in scores)
    head = f"{'':{width}}  tokens/pass  median  agreement  same as NTP  tokens/s  loops  follows"
    lines = [
        f"{s.row:{width}}  {s.tokens_per_forward:11.2f}  {s.median_tokens_per_forward:6.2f}  "
        f"{100 * s.agreement:8.1f} %  {100 * s.same_as_ntp:9.1f} %  {s.tokens_per_second:8.1f}  "
        f"{s.num_loops:5}  {_told(s)}"
        for s in scores
    ]
    return "\n".join([head, *lines])


def _told(score: RequestScore) -> str:
    if score.accuracy is None:
        return ""
    return (
        f"{100 * score.accuracy:.1f} % ({100 * (score.difference or 0):+.1f} "
        f"+- {100 * (score.difference_interval or 0):.1f})"
    )


def as_data(scores: Sequence[RequestScore]) -> list[dict[str, Any]]:
    """Plain JSON data, rounded for reading."""
    return [
        {key: round(v, 4) if isinstance(v, float) else v for key, v in asdict(score).items()}
        for score in scores
    ]
