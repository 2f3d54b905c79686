"""Recipes: the shipped ones are read, errors name the rule, and rates follow steps or the clock."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import sbd_core
from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.checkpoint import state_folder
from sbd_core.training.new_model import new_model
from sbd_core.training.recipe import (
    NAMED,
    RECIPES,
    SHIPPED,
    learning_rate,
    read_recipe,
)
from sbd_core.training.train import Run
from tests.core.training.tiny_training import TINY, all_losses, command, interrupted_at, train


def test_the_rate_rises_stays_and_falls() -> None:
    recipe = replace(TINY, steps=100, warmup_steps=4, decay_steps=9, learning_rate=1.0)
    rates = [learning_rate(recipe, step) for step in range(100)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[4:91] == [1.0] * 87
    assert rates[91:] == pytest.approx([left / 10 for left in range(9, 0, -1)])
    for bare in (replace(recipe, warmup_steps=0), replace(recipe, decay_steps=0)):
        assert all(0 < learning_rate(bare, step) <= 1 for step in range(100))


@pytest.mark.parametrize("stage", SHIPPED)
def test_the_shipped_recipes_are_read_and_come_back(stage, tmp_path) -> None:
    recipe = read_recipe(stage, None, {})
    assert recipe.stage == ("ntp" if stage == "baseline" else stage)
    assert {path.stem for path in RECIPES.glob("*.json")} == set(NAMED)
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(asdict(recipe)))
    assert read_recipe(stage, file, {}) == recipe
    assert read_recipe(stage, file, {"steps": 3}).steps == 3


@pytest.mark.parametrize(
    ("base", "message"), [("recipe.json", "its own base"), ("no", "cannot be read"), (5, "base")]
)
def test_a_base_that_is_none_is_named(tmp_path, base, message) -> None:
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps({"base": base}))
    with pytest.raises(TrainingError, match=message):
        read_recipe("ntp", file, {})


@pytest.mark.parametrize(
    "text", ["", "[]", "5", "{}", '{"steps": 3}', '{"nonsense": 1}', '{"tasks": ["math"]}']
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
        ("steps", 0),
        ("max_block_size", 1),
        ("min_block_size", 0),
        ("learning_rate", -1.0),
        ("learning_rate", float("nan")),
        ("max_gradient_norm", -1.0),
        ("tasks", "math"),
        ("tasks", 5),
        ("tasks", {}),
        ("tasks math", {"math": -1}),
        ("task", {"maths": 1}),
        ("minutes", -1.0),
        ("loss_decay", 1.5),
        ("block_sizes", (4, 1)),
        ("rows_per_text", 15),
        *(
            ("data", data)
            for data in ("file:a", ("a.txt",), ("file:",), ("hf:a:b:c",), ("hf:",), (5,))
        ),
    ],
)
def test_a_bad_field_of_a_recipe_is_named(field, value) -> None:
    with pytest.raises(ArgumentError, match=f"^{field}: "):
        replace(TINY, **{"tasks" if field.startswith("task") else field: value})
    assert replace(TINY, tasks={}, data=("file:a.txt",)).tasks == {}


def test_a_recipe_takes_the_papers_loss_first() -> None:
    ours = replace(TINY, steps=100, decay_steps=10, full_mask_ratio=0.5, paper_loss_steps=40)
    assert [ours.at(step).full_mask_ratio for step in (0, 39, 40, 99)] == [0, 0, 0.5, 0.5]


def test_a_new_model_takes_the_tokenizer_of_another(tmp_path) -> None:
    recipe = replace(TINY, tokenizer=str(sbd_core.DEFAULT_CHECKPOINT))
    model, tokenizer = new_model(recipe)
    assert tokenizer.get_vocab() == sbd_core.load(device="cpu").tokenizer.get_vocab()
    assert model.config.vocab_size == len(tokenizer)
    with pytest.raises(ArgumentError, match="tokenizer: must be a folder"):
        new_model(replace(recipe, tokenizer=str(tmp_path)))


def test_a_folder_of_a_recipes_name_is_no_recipe(tmp_path, monkeypatch) -> None:
    (tmp_path / "adapter").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_recipe("sbd", Path("adapter"), {"data": ("file:a.jsonl",)}).adapter_rank == 32


TIMED = replace(TINY, steps=10, decay_steps=4, warmup_steps=2, minutes=1.0, learning_rate=1.0)


@pytest.fixture
def clock(monkeypatch):
    """Has every step of a run take five seconds."""

    def elapsed(run: Run) -> float:
        return 5.0 * run.step

    monkeypatch.setattr(Run, "_elapsed", elapsed)


def rates(out) -> list[float]:
    lines = (state_folder(out) / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["learning_rate"] for line in lines]


def test_the_fall_takes_its_ratio_of_the_time() -> None:
    assert [learning_rate(TIMED, step, 0) for step in (0, 1, 2)] == [0.5, 1, 1]
    found = [learning_rate(TIMED, 99, seconds) for seconds in (30, 36, 48, 54)]
    assert found == pytest.approx([1, 1, 0.5, 0.25])
    assert 0 < learning_rate(TIMED, 99, 61) < 0.01
    assert learning_rate(replace(TIMED, decay_steps=0), 99, 59) == 1


def test_a_run_ends_when_its_time_does_with_its_rate_fallen(clock, tmp_path) -> None:
    train(TIMED, None, tmp_path / "model")
    found = rates(tmp_path / "model")
    assert len(found) == 12, "60 s of 5 s each"
    assert found[2:8] == [1.0] * 6
    assert found[8:] == pytest.approx([1 - (5 * step - 36) / 24 for step in range(8, 12)])
    recipe = json.loads((tmp_path / "model" / "recipe.json").read_text())
    assert (recipe["minutes"], recipe["steps"], recipe["decay_steps"]) == (1, 12, 4)


def test_a_stopped_run_goes_on_for_the_time_it_has_left(clock, tmp_path, monkeypatch) -> None:
    train(TIMED, None, tmp_path / "whole")
    with interrupted_at(7, monkeypatch):
        train(TIMED, None, tmp_path / "model", save_every=1)
    progress = json.loads((state_folder(tmp_path / "model") / "progress.json").read_text())
    assert (progress["step"], progress["seconds"]) == (7, 35.0)
    train(TIMED, None, tmp_path / "model")
    assert rates(tmp_path / "model") == rates(tmp_path / "whole")
    assert all_losses(tmp_path / "model") == all_losses(tmp_path / "whole")


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "soon"])
def test_minutes_that_are_no_time_are_an_error(tmp_path, capsys, minutes) -> None:
    words = [*command(TINY, tmp_path)[2:], "--minutes", minutes]
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert "minutes" in capsys.readouterr().err.splitlines()[-1]
