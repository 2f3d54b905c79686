"""Scores of answers to held-out examples, as data and as text."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sbd_core.evaluation.harness import Answer, Answers
from sbd_core.tasks import Example, task
from sbd_core.text_table import aligned

Z_95 = 1.959964
MEANS = {"accuracy": 4, "tokens_per_forward": 4, "tokens_per_second": 1}
"""Figures whose means over tasks are told, and their decimals."""


def score(name: str, examples: Sequence[Example], answers: Sequence[Answer]) -> dict[str, Any]:
    """Score the answers to at least one example by the checkers of the examples' tasks.

    examples, answers: of equal length and order.
    Returns JSON data, in which
    family: `name`, of a task or of another set of examples.
    accuracy: share of right answers.
    accuracy_low, accuracy_high: bounds of the 95 % Wilson interval of the accuracy.
    tokens_per_forward: num_tokens / num_forwards (NFE speed-up), prefills included.
    tokens_per_second: num_tokens divided by the time that the engine took.
    num_unseen: number of examples with a phrasing that training never uses.
    accuracy_seen: accuracy on all other examples; None if every example is unseen.
    accuracy_unseen: accuracy on the unseen examples; None if num_unseen is 0.
    """
    is_right = [
        task(example.task).check(example, answer.text)
        for example, answer in zip(examples, answers, strict=True)
    ]
    by_wording: dict[str, list[bool]] = {"seen": [], "unseen": []}
    for example, right in zip(examples, is_right, strict=True):
        by_wording[example.wording].append(right)
    shares = {key: sum(each) / len(each) if each else None for key, each in by_wording.items()}
    low, high = wilson_interval(sum(is_right), len(is_right))
    num_tokens = sum(len(answer.token_ids) for answer in answers)
    num_forwards = sum(answer.num_forwards for answer in answers)
    return {
        "family": name,
        "num_examples": len(is_right),
        "accuracy": sum(is_right) / len(is_right),
        "accuracy_low": low,
        "accuracy_high": high,
        "num_tokens": num_tokens,
        "num_forwards": num_forwards,
        "tokens_per_forward": num_tokens / num_forwards,
        "tokens_per_second": num_tokens / sum(answer.seconds for answer in answers),
        "num_unseen": len(by_wording["unseen"]),
        "accuracy_seen": shares["seen"],
        "accuracy_unseen": shares["unseen"],
    }


def rounded(figures: Mapping[str, Any], digits: int) -> dict[str, Any]:
    """The figures, floats among them rounded to `digits` decimals."""
    return {n: round(v, digits) if isinstance(v, float) else v for n, v in figures.items()}


def wilson_interval(num_right: int, num_all: int) -> tuple[float, float]:
    """95 % interval of the share num_right / num_all (Wilson 1927)."""
    share, z2 = num_right / num_all, Z_95**2
    middle = (share + z2 / (2 * num_all)) / (1 + z2 / num_all)
    spread = Z_95 * math.sqrt(share * (1 - share) / num_all + z2 / (4 * num_all**2))
    spread /= 1 + z2 / num_all
    return max(0.0, middle - spread), min(1.0, middle + spread)


def rows_data(
    answers: Answers, examples_by_task: Mapping[str, Sequence[Example]]
) -> dict[str, Any]:
    """Score the answers to examples; returns {name of the settings: scores} as JSON data.

    The scores are those of each task, see score(), and their means over the tasks.
    """
    rows = {}
    for name in next(iter(answers.values())):
        scores = [score(key, items, answers[key][name]) for key, items in examples_by_task.items()]
        means = {
            field: round(sum(each[field] for each in scores) / len(scores), digits)
            for field, digits in MEANS.items()
        }
        rows[name] = {"mean": means, "families": [rounded(each, 4) for each in scores]}
    return rows


def as_text(rows: Mapping[str, Any]) -> str:
    """Format rows_data() as a table: a line per row, a column per task, columns of means."""
    names = [cell["family"] for cell in next(iter(rows.values()))["families"]]
    table = [["", *names, "mean", "tokens/s"]]
    for row, data in rows.items():
        cells = [
            f"{100 * cell['accuracy']:.1f} % {cell['tokens_per_forward']:5.2f}x"
            for cell in (*data["families"], data["mean"])
        ]
        table.append([row, *cells, f"{data['mean']['tokens_per_second']:.0f}"])
    return "\n".join(aligned(table))
