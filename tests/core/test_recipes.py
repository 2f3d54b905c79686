"""Recipes: the shipped ones are read, what breaks a rule is named; and the rate they mean."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

import sbd_core
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training import loop
from sbd_core.training.recipe import RECIPES, STAGES, Recipe, read_recipe

SOUND = Recipe(
    stage="sbd", families=("math",), steps=6, batch_size=2, learning_rate=0.01, warmup_steps=2
)


def test_the_rate_rises_then_falls_as_a_cosine() -> None:
    recipe = replace(SOUND, steps=102, warmup_steps=2, learning_rate=1.0)
    rates = [loop.learning_rate(recipe, step) for step in range(102)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[52] == pytest.approx(0.5)
    assert all(a >= b for a, b in pairwise(rates[2:]))
    assert 0 < rates[-1] < 0.001


@pytest.mark.parametrize("stage", STAGES)
def test_the_shipped_recipes_are_read_and_come_back(stage, tmp_path) -> None:
    recipe = read_recipe(stage, None, {})
    assert recipe.stage == stage
    assert {path.name for path in RECIPES.iterdir()} == {f"{name}.json" for name in STAGES}
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(recipe.to_data()))
    assert read_recipe(stage, file, {}) == recipe
    assert read_recipe(stage, file, {"steps": 3}).steps == 3


def test_the_bundled_models_recipe_is_the_shipped_one() -> None:
    data = json.loads((sbd_core.DEFAULT_CHECKPOINT / "recipe.json").read_text())
    assert Recipe(**data) == read_recipe("sbd", None, {})


@pytest.mark.parametrize(
    "text",
    ["", "[]", "5", "{}", '{"steps": 3}', '{"nonsense": 1}', '{"families": ["math"]}'],
)
def test_a_recipe_file_that_is_none_is_a_training_or_argument_error(tmp_path, text) -> None:
    file = tmp_path / "recipe.json"
    file.write_text(text)
    with pytest.raises((TrainingError, ArgumentError)):
        read_recipe("ntp", file, {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stage", "rl"),
        ("optimizer", "sgd"),
        ("steps", 0),
        ("batch_size", 1.5),
        ("max_block_size", 1),
        ("min_block_size", 0),
        ("learning_rate", -1.0),
        ("learning_rate", float("nan")),
        ("warmup_steps", -1),
        ("weight_decay", -0.1),
        ("weight_decay", "0"),
        ("max_gradient_norm", -1.0),
        ("max_gradient_norm", float("nan")),
        ("seed", "x"),
        ("families", "math"),
    ],
)
def test_a_bad_field_of_a_recipe_is_named(field, value) -> None:
    with pytest.raises(ArgumentError) as caught:
        replace(SOUND, **{field: value})
    assert caught.value.argument == field
