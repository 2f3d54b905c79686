"""Decoding held-out examples under one config, and what came of it, per task."""

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from sbd_core.tasks import Example, task
from sbd_core.trace import Trace

Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Score:
    """One task, or another set of examples, under one config.

    accuracy and its 95 % Wilson interval are shares;
    tokens_per_forward is the NFE speed-up, all tokens over all forwards, prefills included;
    tokens_per_second is of engine time, all tokens over all seconds;
    accuracy_unseen is of the num_unseen examples told in words and names that training never
    draws, accuracy_seen of the others, either None where there are none.
    """

    task: str
    num_examples: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    num_tokens: int
    num_forwards: int
    tokens_per_forward: float
    tokens_per_second: float
    num_unseen: int
    accuracy_seen: float | None
    accuracy_unseen: float | None

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data, rounded for reading; the task is "family", as readers of it expect."""
        data = {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }
        return {"family": data.pop("task"), **data}


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of answers; seconds of engine time."""

    num_examples: int = 0
    num_right: int = 0
    num_tokens: int = 0
    num_forwards: int = 0
    seconds: float = 0.0
    num_unseen: int = 0
    num_unseen_right: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        sums = (mine + its for mine, its in zip(astuple(self), astuple(other), strict=True))
        return Tally(*sums)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one example; seconds of engine time."""

    text: str
    is_right: bool
    is_unseen: bool
    num_tokens: int
    num_forwards: int
    seconds: float


def checked(items: Sequence[Example], traces: Sequence[Trace]) -> list[Answer]:
    """Every answer, checked as its task does; items and traces of equal length."""
    return [
        Answer(
            trace.text,
            task(example.task).check(example, trace.text),
            example.wording == "unseen",
            trace.num_tokens,
            trace.num_forwards,
            trace.seconds,
        )
        for example, trace in zip(items, traces, strict=True)
    ]


def tally(answers: Sequence[Answer]) -> Tally:
    """Add the answers up."""
    return Tally(
        num_examples=len(answers),
        num_right=sum(answer.is_right for answer in answers),
        num_tokens=sum(answer.num_tokens for answer in answers),
        num_forwards=sum(answer.num_forwards for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
        num_unseen=sum(answer.is_unseen for answer in answers),
        num_unseen_right=sum(answer.is_unseen and answer.is_right for answer in answers),
    )


def score(name: str, found: Tally) -> Score:
    """The shares and speeds of a tally of at least one example; name is that of all of them."""
    low, high = wilson_interval(found.num_right, found.num_examples)
    return Score(
        task=name,
        num_examples=found.num_examples,
        accuracy=found.num_right / found.num_examples,
        accuracy_low=low,
        accuracy_high=high,
        num_tokens=found.num_tokens,
        num_forwards=found.num_forwards,
        tokens_per_forward=found.num_tokens / found.num_forwards,
        tokens_per_second=found.num_tokens / found.seconds,
        num_unseen=found.num_unseen,
        accuracy_seen=_ratio(
            found.num_right - found.num_unseen_right, found.num_examples - found.num_unseen
        ),
        accuracy_unseen=_ratio(found.num_unseen_right, found.num_unseen),
    )


def _ratio(num_right: int, num_all: int) -> float | None:
    return num_right / num_all if num_all else None


def wilson_interval(num_right: int, num_all: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    share, z2 = num_right / num_all, Z_95**2
    middle = (share + z2 / (2 * num_all)) / (1 + z2 / num_all)
    spread = Z_95 * math.sqrt(share * (1 - share) / num_all + z2 / (4 * num_all**2))
    spread /= 1 + z2 / num_all
    return max(0.0, middle - spread), min(1.0, middle + spread)
