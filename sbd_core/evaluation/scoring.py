"""Held-out examples and the scores of their answers, as data and as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from sbd_core.errors import ArgumentError, require_integer
from sbd_core.tasks import SPLITS, TASKS, Example, Split, held_out, task
from sbd_core.trace import Trace

MAX_LIMIT = 1_000_000
"""Most examples per task; all of them are held in memory."""

Z_95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The held-out examples to score, and the number that are decoded together.

    limit: number of distinct examples per task.
    data_seed: seed that generates the examples; it has no part in decoding.
    batch_size: number of examples decoded together.
    """

    tasks: tuple[str, ...] = tuple(TASKS)
    limit: int = 100
    data_seed: int = 0
    split: Split = "test"
    batch_size: int = 32

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ArgumentError("tasks", "must be a list of at least one task name", self.tasks)
        for name in self.tasks:
            task(name)
        if self.split not in SPLITS:
            raise ArgumentError("split", f"must be one of {', '.join(SPLITS)}", self.split)
        require_integer("limit", self.limit, 1, MAX_LIMIT)
        require_integer("data_seed", self.data_seed, 0)
        require_integer("batch_size", self.batch_size, 1)

    def examples_by_task(self) -> dict[str, list[Example]]:
        """Generate the examples of each task, by task name."""
        return {name: held_out(name, self.limit, self.data_seed, self.split) for name in self.tasks}


def rounded(figures: Any, digits: int) -> dict[str, Any]:
    """Return the fields of a dataclass as a dict, with floats rounded to `digits` decimals."""
    pairs = asdict(figures).items()
    return {name: round(v, digits) if isinstance(v, float) else v for name, v in pairs}


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one task, or of another set of examples, under one config.

    accuracy: share of right answers.
    accuracy_low, accuracy_high: bounds of the 95 % Wilson interval of the accuracy.
    tokens_per_forward: num_tokens / num_forwards (NFE speed-up), prefills included.
    tokens_per_second: num_tokens divided by the time that the engine took.
    num_unseen: number of examples with a phrasing that training never uses.
    accuracy_seen: accuracy on all other examples; None if every example is unseen.
    accuracy_unseen: accuracy on the unseen examples; None if num_unseen is 0.
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
        """Return rounded JSON data; the task's key is "family", as in older results."""
        data = rounded(self, 4)
        return {"family": data.pop("task"), **data}


@dataclass(frozen=True, slots=True)
class Tally:
    """Totals over answers. seconds: time that the engine took. num_unseen: see Score."""

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
class CheckedAnswer:
    """The answer to one example, and whether it is right.

    is_unseen: whether the prompt has a phrasing that training never uses.
    seconds: time that the engine took.
    """

    text: str
    is_right: bool
    is_unseen: bool
    num_tokens: int
    num_forwards: int
    seconds: float


def checked(items: Sequence[Example], traces: Sequence[Trace]) -> list[CheckedAnswer]:
    """Check each answer with its task's checker. items, traces: of equal length and order."""
    return [
        CheckedAnswer(
            trace.text,
            task(example.task).check(example, trace.text),
            example.wording == "unseen",
            trace.num_tokens,
            trace.num_forwards,
            trace.seconds,
        )
        for example, trace in zip(items, traces, strict=True)
    ]


def tally(answers: Sequence[CheckedAnswer]) -> Tally:
    """Add up the counts and times of answers."""
    return Tally(
        num_examples=len(answers),
        num_right=sum(answer.is_right for answer in answers),
        num_tokens=sum(answer.num_tokens for answer in answers),
        num_forwards=sum(answer.num_forwards for answer in answers),
        seconds=sum(answer.seconds for answer in answers),
        num_unseen=sum(answer.is_unseen for answer in answers),
        num_unseen_right=sum(answer.is_unseen and answer.is_right for answer in answers),
    )


def score(name: str, tally: Tally) -> Score:
    """Compute the score of a tally of at least one example. name: name of the task."""
    low, high = wilson_interval(tally.num_right, tally.num_examples)
    return Score(
        task=name,
        num_examples=tally.num_examples,
        accuracy=tally.num_right / tally.num_examples,
        accuracy_low=low,
        accuracy_high=high,
        num_tokens=tally.num_tokens,
        num_forwards=tally.num_forwards,
        tokens_per_forward=tally.num_tokens / tally.num_forwards,
        tokens_per_second=tally.num_tokens / tally.seconds,
        num_unseen=tally.num_unseen,
        accuracy_seen=_ratio(
            tally.num_right - tally.num_unseen_right, tally.num_examples - tally.num_unseen
        ),
        accuracy_unseen=_ratio(tally.num_unseen_right, tally.num_unseen),
    )


def _ratio(num_right: int, num_all: int) -> float | None:
    return num_right / num_all if num_all else None


def wilson_interval(num_right: int, num_all: int) -> tuple[float, float]:
    """95 % interval of the share num_right / num_all (Wilson 1927)."""
    share, z2 = num_right / num_all, Z_95**2
    middle = (share + z2 / (2 * num_all)) / (1 + z2 / num_all)
    spread = Z_95 * math.sqrt(share * (1 - share) / num_all + z2 / (4 * num_all**2))
    spread /= 1 + z2 / num_all
    return max(0.0, middle - spread), min(1.0, middle + spread)


def summary(scores: Sequence[Score]) -> dict[str, float]:
    """Return {field: mean over the scores} for accuracy, tokens_per_forward, tokens_per_second."""
    return {
        "accuracy": round(sum(s.accuracy for s in scores) / len(scores), 4),
        "tokens_per_forward": round(sum(s.tokens_per_forward for s in scores) / len(scores), 4),
        "tokens_per_second": round(sum(s.tokens_per_second for s in scores) / len(scores), 1),
    }


def rows_data(rows: Mapping[str, Sequence[Score]]) -> dict[str, Any]:
    """Return JSON data: for each configuration, the means over tasks and the score on each task."""
    return {
        row: {"mean": summary(scores), "families": [score.to_data() for score in scores]}
        for row, scores in rows.items()
    }


def as_text(rows: Mapping[str, Sequence[Score]]) -> str:
    """Format scores as a table: a line per configuration, a column per task, columns of means."""
    names = [score.task for score in next(iter(rows.values()))]
    width = max(map(len, rows)) + 2
    lines = [f"{'':<{width}}" + "".join(f"{name:>18}" for name in [*names, "mean"])]
    lines[0] += f"{'tokens/s':>11}"
    for row, scores in rows.items():
        mean = summary(scores)
        cells = [(s.accuracy, s.tokens_per_forward) for s in scores]
        cells.append((mean["accuracy"], mean["tokens_per_forward"]))
        lines.append(
            f"{row:<{width}}"
            + "".join(f"{100 * share:>9.1f} % {speed:>5.2f}x" for share, speed in cells)
            + f"{mean['tokens_per_second']:>11.0f}"
        )
    return "\n".join(lines)
