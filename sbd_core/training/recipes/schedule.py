"""How far a run is, by steps or by time, and the learning rate there."""

from sbd_core.errors import ArgumentError
from sbd_core.training.recipes.recipe import Recipe

LEAST_LEFT = 1e-3
"""The rate's ratio at the end of a timed run, whose last step begins a little before it."""


def progress(recipe: Recipe, step: int, seconds: float) -> float:
    """The part of the run that is behind: 0 at the start, 1 or more at the end."""
    return seconds / (60 * recipe.minutes) if recipe.minutes else step / recipe.steps


def learning_rate(recipe: Recipe, step: int, seconds: float = 0.0) -> float:
    """The rate of step `step` (from 0), begun after `seconds`: a linear rise, a plateau, a fall."""
    risen = min(1.0, (step + 1) / max(1, recipe.warmup_steps))
    if recipe.minutes:
        behind = progress(recipe, step, seconds)
        left = max(LEAST_LEFT, 1 - behind) / recipe.decay_ratio if recipe.decay_ratio else 1.0
    else:
        left = (recipe.steps - step) / (recipe.decay_steps + 1)
    return recipe.learning_rate * min(risen, left, 1.0)


def require_enough_minutes(recipe: Recipe, step: int, seconds: float, per_step: float) -> None:
    """ArgumentError where warm-up would not be over when the fall begins.

    step, seconds: how far the run is. per_step: seconds that a step takes.
    """
    warmup = seconds + max(0, recipe.warmup_steps - step) * per_step
    plateau = 60 * recipe.minutes * (1 - recipe.decay_ratio)
    if recipe.minutes and warmup > plateau:
        least = warmup / (1 - recipe.decay_ratio) / 60
        rule = (
            f"must be at least {least:.2g} here, for {recipe.warmup_steps} steps of warm-up at "
            f"{per_step:.2g} s each and a fall of {recipe.decay_ratio:.0%} of the time"
        )
        raise ArgumentError("minutes", rule, recipe.minutes)
