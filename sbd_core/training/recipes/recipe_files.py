"""Recipes as files of JSON: the shipped ones, and any that changes another, its `base`."""

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.recipes.recipe import FIELDS, RENAMED, Recipe, recipe_from_data

RECIPES = Path(__file__).parent
SHIPPED = ("ntp", "sbd", "baseline")
"""What --stage names: the two stages, and what "sbd" is compared with, more steps of "ntp"."""
NAMED = (*SHIPPED, "finetune", "lora", "assistant")
"""What --recipe and a base may name: those, two for a model of others and data of one's own, and a
small model to draft for a larger one of its tokenizer.
"""


def read_recipe(stage: str, path: Path | None, changes: dict[str, Any]) -> Recipe:
    """The recipe in `path` (default: the stage's own), with `changes` on top.

    Raises ArgumentError for a field out of its rule, TrainingError for an unreadable file.
    """
    if stage not in SHIPPED:
        raise ArgumentError("stage", f"must be one of {', '.join(SHIPPED)}", stage)
    is_named = path is not None and str(path) in NAMED and not path.exists()
    source = RECIPES / f"{path if is_named else stage}.json" if is_named or not path else path
    given = {**_read(source, ()), **changes, "stage": stage}
    missing = [
        item.name
        for item in fields(Recipe)
        if item.default is MISSING and item.name not in given and item.name != "data"
    ]
    if missing:
        raise TrainingError(
            f"recipe {source}: field {missing[0]} is missing; "
            f'add it, or "base": "{stage}" for the shipped values'
        )
    return recipe_from_data(given)


def _read(source: Path, above: tuple[Path, ...]) -> dict[str, Any]:
    """The fields of a recipe file, those of its base under them, by today's names."""
    if source.resolve() in above:
        raise TrainingError(f"recipe {source}: is its own base")
    try:
        data = json.loads(source.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TrainingError(f"recipe {source}: cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise TrainingError(f"recipe {source}: must be a JSON object of the fields of Recipe")
    base = data.pop("base", None)
    unknown = sorted(set(data) - FIELDS)
    if unknown:
        raise TrainingError(f"recipe {source}: unknown field {unknown[0]}; take it out")
    data = {RENAMED.get(name, name): value for name, value in data.items()}
    if base is None:
        return data
    if not isinstance(base, str) or not base:
        raise TrainingError(f"recipe {source}: base must name a recipe or a file beside it")
    under = RECIPES / f"{base}.json" if base in NAMED else source.parent / base
    return {**_read(under, (*above, source.resolve())), **data}
