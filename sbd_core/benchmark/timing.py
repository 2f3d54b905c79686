"""Timing methods fairly: warmed up, the same prompts, interleaved A B A B, medians and spread."""

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sbd_core.benchmark.methods import Method


@dataclass(slots=True)
class Times:
    """One method over all prompts: seconds and tokens of each answer, and how many equal NTP's."""

    seconds: list[float] = field(default_factory=list)
    num_tokens: list[int] = field(default_factory=list)
    num_equal: int = 0

    @property
    def rates(self) -> list[float]:
        """Tokens a second, answer by answer."""
        return [tokens / s for tokens, s in zip(self.num_tokens, self.seconds, strict=True)]


def time_methods(
    methods: Sequence[Method], prompts: Sequence[Sequence[int]], num_rounds: int
) -> Iterator[dict[str, Times]]:
    """Time every method on every prompt, one after the other, yielding after each prompt.

    The first method is the baseline the answers are compared with. Best of `num_rounds` rounds
    of A B A B counts for each prompt: what disturbs a run only ever makes it longer.
    """
    times = {method.name: Times() for method in methods}
    for method in methods:
        method.answer(prompts[0])
    for prompt in prompts:
        best: dict[str, float] = {}
        answers: dict[str, tuple[int, ...]] = {}
        for _ in range(num_rounds):
            for method in methods:
                seconds, answers[method.name] = _timed(method, prompt)
                best[method.name] = min(seconds, best.get(method.name, seconds))
        for method in methods:
            row = times[method.name]
            row.seconds.append(best[method.name])
            row.num_tokens.append(len(answers[method.name]))
            row.num_equal += answers[method.name] == answers[methods[0].name]
        yield times


def _timed(method: Method, prompt: Sequence[int]) -> tuple[float, tuple[int, ...]]:
    began = time.perf_counter()
    answer = method.answer(prompt)
    return time.perf_counter() - began, answer


def median_and_spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    if len(values) < 2:
        return {"median": values[0], "low": values[0], "high": values[0]}
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": middle, "low": low, "high": high}


@contextmanager
def other_load() -> Iterator[dict[str, float]]:
    """Fill in "cores": processor cores that other processes kept busy meanwhile (Linux)."""
    found: dict[str, float] = {}
    busy, own, began = _busy_seconds(), time.process_time(), time.perf_counter()
    yield found
    elapsed = time.perf_counter() - began
    if busy is not None:
        others = (_busy_seconds() or 0.0) - busy - (time.process_time() - own)
        found["cores"] = round(max(0.0, others) / elapsed, 3)


def _busy_seconds() -> float | None:
    """Processor seconds spent on anything since boot, over all cores; None where unknown."""
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _, _, irq, soft, *_ = map(int, path.read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
