"""The way to the bundled checkpoint: stretches of training, and means of the weights they left.

Stretches went by the clock (`train --minutes`); what stands here are the steps that they came to,
so that the way is the same on any machine. Knows no model; bundled_model.py walks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of `train`: `steps` steps, the rate falling in the last `num_falling`.

    start: the name of what it goes on from; empty: a new model.
    changes: of the stage's recipe, beside its steps.
    """

    name: str
    start: str
    steps: int
    num_falling: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    stage: str = "sbd"


@dataclass(frozen=True, slots=True)
class Mean:
    """A weighted mean of the weights of models before it, by name."""

    name: str
    parts: Mapping[str, float]


def _changes(seed: int, *weights: float, **others: Any) -> dict[str, Any]:
    names = ("math", "drill", "json", "code", "sudoku", "story", "infill")
    tasks = {"tasks": dict(zip(names, weights, strict=True))} if weights else {}
    return {"paper_loss_steps": 0, "seed": seed, **tasks, **others}


WAY: tuple[Stretch | Mean, ...] = (
    Stretch("ntp", "", 557, 0, stage="ntp"),
    Stretch("first", "ntp", 2071, 540, {"paper_loss_steps": 300}),
    Stretch("second", "first", 928, 0),
    Stretch("third", "second", 1918, 379, _changes(2)),
    Stretch("fourth", "third", 2011, 437, _changes(2)),
    Stretch("fifth-full-rate", "fourth", 475, 0, _changes(2)),
    Stretch("fifth", "fifth-full-rate", 1789, 1567, _changes(5)),
    Stretch("sixth", "fifth", 1410, 1208, _changes(6, learning_rate=0.002)),
    Stretch("seventh", "sixth", 302, 0, _changes(7)),
    Stretch("eighth", "seventh", 1765, 929, _changes(8, 3, 2.5, 3, 2, 1.5, 2, 3)),
    Mean("mean", {"sixth": 1, "eighth": 2}),
    Stretch("ninth", "mean", 496, 60, _changes(9, 3, 2.5, 3, 2.5, 1.5, 2.5, 3)),
    Stretch("tenth", "ninth", 1267, 768, _changes(10, 3, 2.5, 2.5, 3, 1.5, 3, 2.5)),
    Mean("second-mean", {"mean": 1, "tenth": 1}),
    Stretch("eleventh", "second-mean", 1259, 922, _changes(11, 3, 2, 3, 2.5, 1.5, 3, 3)),
    Mean("third-mean", {"second-mean": 1, "eleventh": 1}),
    Stretch("twelfth", "third-mean", 981, 757, _changes(12, 2.5, 2, 3, 2.5, 1.2, 3.5, 3.5)),
    Mean("bundled", {"third-mean": 2, "twelfth": 1}),
)
