"""How often each task is drawn: as the recipe says, or more where it is not yet learnt.

A group is a task, or one of the kinds of a task that has some, as "drill:add". Every
recipe.reweight_steps steps the weights of all groups are made anew from the cross-entropy of
their answers. Steps of period n use what was seen in period n - 2, so that batches can be built
a period ahead of their step.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sbd_core.config import require_number
from sbd_core.errors import ArgumentError
from sbd_core.tasks import task
from sbd_core.training.recipes.recipe import Recipe

Weights = dict[str, float]
Sums = Sequence[float]
"""Nats and number of the next tokens of answers, nats and number of their masked tokens."""


def recipe_weights(recipe: Recipe) -> Weights:
    """The weight of every group by the recipe alone."""
    found: Weights = {}
    for name, weight in recipe.tasks.items():
        kinds = task(name).kinds
        total = sum(kinds.values())
        found |= {f"{name}:{kind}": weight * w / total for kind, w in kinds.items()}
        if not kinds:
            found[name] = weight
    return found


class TaskWeights:
    """The weights at every step of a run, and the losses that the next ones come from."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._fixed = recipe_weights(recipe)
        self._by_period: dict[int, Weights] = {}
        self._sums: dict[str, list[float]] = {}

    @property
    def is_adaptive(self) -> bool:
        """Whether losses change the weights."""
        return self._recipe.reweight_steps > 0

    def at(self, step: int) -> Weights:
        """The weights of step `step` (from 0), at most reweight_steps after the last recorded."""
        if not self.is_adaptive:
            return self._fixed
        period = step // self._recipe.reweight_steps
        return self._fixed if period < 2 else self._by_period[period]

    def record(self, step: int, sums: Mapping[str, Sums]) -> None:
        """Take in the losses of step `step` by group; of a group it did not draw, none."""
        for group, values in sums.items():
            own = self._sums.setdefault(group, [0.0] * 4)
            self._sums[group] = [a + b for a, b in zip(own, values, strict=True)]
        period, place = divmod(step + 1, self._recipe.reweight_steps)
        if place == 0:
            self._by_period[period + 1] = self._weights(self.at(step))
            self._by_period.pop(period - 1, None)
            self._sums = {}

    def _weights(self, before: Weights) -> Weights:
        """The recipe's weights, raised where a token of an answer costs more than the mean."""
        recipe = self._recipe
        losses = {group: _nats_a_token(sums) for group, sums in self._sums.items()}
        losses = {group: loss for group, loss in losses.items() if group in self._fixed}
        total = sum(self._fixed[group] for group in losses)
        mean = sum(self._fixed[group] * loss for group, loss in losses.items()) / (total or 1)
        found = {}
        for group, fixed in self._fixed.items():
            if mean > 0 and group in losses:
                ratio = max(math.sqrt(losses[group] / mean), recipe.reweight_floor)
                found[group] = fixed * min(ratio, recipe.reweight_ceiling)
            else:
                found[group] = before[group]
        return found

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data; restore() reads it back."""
        weights = {str(period): weights for period, weights in self._by_period.items()}
        return {"weights": weights, "sums": self._sums}

    def restore(self, data: Any, step: int) -> None:
        """Go on after `step` steps. Raises ValueError, TypeError or KeyError for damaged data."""
        if not self.is_adaptive:
            return
        for period, weights in data["weights"].items():
            self._by_period[int(period)] = {group: _number(weights[group]) for group in self._fixed}
        self._sums = {g: [_number(value) for value in sums] for g, sums in data["sums"].items()}
        for ahead in (0, self._recipe.reweight_steps):
            self.at(step + ahead)


def _number(value: object) -> float:
    try:
        require_number("weight", value, 0)
    except ArgumentError as error:
        raise ValueError from error
    return float(value)  # type: ignore[arg-type]


def _nats_a_token(sums: Sums) -> float:
    ntp, num_ntp, matp, num_matp = sums
    return ntp / max(num_ntp, 1) + matp / max(num_matp, 1)
