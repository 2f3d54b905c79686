"""Evaluation results as a table for people and as data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sbd_core.config import DecodeConfig, EntropyBound, EntropyBoundFromLeft
from sbd_core.evaluation.scoring import Score
from sbd_core.evaluation.sweep import sweep_solvers

# The rows of the paper's Table 1, with its gammas for reasoning, then our own rule and the
# lossless strategy.
TABLE = {
    "NTP": ("ntp", EntropyBound()),
    "SBD gamma 0.1": ("sbd", EntropyBound(gamma=0.1)),
    "SBD gamma 0.35": ("sbd", EntropyBound(gamma=0.35)),
    "SBD from the left, gamma 0.02": ("sbd", EntropyBoundFromLeft(gamma=0.02)),
    "SBD from the left, gamma 0.1": ("sbd", EntropyBoundFromLeft(gamma=0.1)),
    "verify": ("verify", EntropyBound()),
}
COMPARED = ("NTP", "SBD gamma 0.1", "SBD from the left, gamma 0.1", "verify")
"""Rows of the table in which models are compared."""


BASELINE_ROW = "NTP-trained, NTP"


def table_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """One config a row of the table, all else as in `base`."""
    return {
        row: replace(base, strategy=strategy, solver=solver)  # type: ignore[arg-type]
        for row, (strategy, solver) in TABLE.items()
    }


def compared_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """Those of the table's configs in which models are compared."""
    return {row: config for row, config in table_configs(base).items() if row in COMPARED}


def sweep_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """NTP, verify, and one config a point of the sweep, all else as in `base`."""
    return {
        "NTP": replace(base, strategy="ntp"),
        "verify": replace(base, strategy="verify"),
        **{
            f"{curve} {parameter:g}": replace(base, strategy="sbd", solver=solver)
            for curve, parameter, solver in sweep_solvers()
        },
    }


def summary(scores: Sequence[Score]) -> dict[str, float]:
    """Means over tasks."""
    return {
        "accuracy": round(sum(s.accuracy for s in scores) / len(scores), 4),
        "tokens_per_forward": round(sum(s.tokens_per_forward for s in scores) / len(scores), 4),
        "tokens_per_second": round(sum(s.tokens_per_second for s in scores) / len(scores), 1),
    }


def rows_data(rows: Mapping[str, Sequence[Score]]) -> dict[str, Any]:
    """Every row with its mean over tasks and each task, as plain data."""
    return {
        row: {"mean": summary(scores), "families": [score.to_data() for score in scores]}
        for row, scores in rows.items()
    }


def as_text(rows: Mapping[str, Sequence[Score]]) -> str:
    """A line a row: accuracy and tokens a forward pass per task, their means, tokens a second."""
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
