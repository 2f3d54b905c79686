"""Tasks are drawn by what is not yet learnt: reproducibly, within bounds, exactly when resumed."""

import json
from collections import Counter
from dataclasses import replace

import pytest

import sbd_core
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.tasks import TASKS
from sbd_core.training.checkpoints.state import state_folder
from sbd_core.training.data.batch_builder import BatchBuilder
from sbd_core.training.data.task_weights import TaskWeights, recipe_weights
from sbd_core.training.recipes import recipe as recipe_module
from sbd_core.training.recipes.recipe_files import read_recipe
from tests.core.training.training_runs import TINY, all_losses, interrupted_at, same, train, weights

THREE = replace(TINY, tasks={"math": 2.0, "code": 1.0, "drill": 1.0}, reweight_steps=50)


def recorded(losses: dict[str, float], num_steps: int = 50) -> TaskWeights:
    found = TaskWeights(THREE)
    for step in range(num_steps):
        found.record(step, {group: [loss, 1.0, loss, 1.0] for group, loss in losses.items()})
    return found


@pytest.mark.parametrize("name", ["drill", "infill", "json"])
def test_a_task_of_several_kinds_is_weighed_by_kind_and_they_share_its_weight(name) -> None:
    found = recipe_weights(replace(TINY, tasks={"math": 2.0, "code": 1.0, name: 3.0}))
    assert (found.pop("math"), found.pop("code")) == (2.0, 1.0)
    kinds = TASKS[name].kinds
    assert list(found) == [f"{name}:{kind}" for kind in kinds]
    assert sum(found.values()) == pytest.approx(3.0)
    first, *rest = kinds
    for kind in rest:
        ratio = found[f"{name}:{kind}"] / found[f"{name}:{first}"]
        assert ratio == pytest.approx(kinds[kind] / kinds[first])


def test_what_is_not_yet_learnt_is_drawn_more_within_the_bounds() -> None:
    fixed = recipe_weights(THREE)
    found = recorded({"math": 0.2, "code": 0.4, "drill:add": 5.0, "drill:copy": 1e-9})
    assert found.at(99) == fixed, "the first two periods are the recipe's"
    after = found.at(100)
    assert after["code"] / fixed["code"] > after["math"] / fixed["math"]
    assert after["drill:add"] / fixed["drill:add"] == pytest.approx(THREE.reweight_ceiling)
    assert after["drill:copy"] / fixed["drill:copy"] == pytest.approx(THREE.reweight_floor)
    assert after["drill:count"] == fixed["drill:count"], "nothing was seen of it"


def test_equal_losses_leave_the_weights_and_a_fixed_recipe_records_nothing() -> None:
    groups = dict.fromkeys(recipe_weights(THREE), 0.3)
    assert recorded(groups).at(100) == pytest.approx(recipe_weights(THREE))
    fixed = TaskWeights(replace(THREE, reweight_steps=0))
    assert not fixed.is_adaptive
    assert fixed.at(10**6) == recipe_weights(THREE)


def test_weights_come_back_from_a_state_in_the_middle_of_a_period() -> None:
    losses = {"math": 0.1, "code": 0.4}
    whole, parted = recorded(losses, 170), TaskWeights(THREE)
    parted.restore(json.loads(json.dumps(recorded(losses, 130).to_data())), 130)
    for step in range(130, 170):
        parted.record(step, {group: [loss, 1.0, loss, 1.0] for group, loss in losses.items()})
    assert parted.at(219) == whole.at(219) != recipe_weights(THREE)


def test_a_batch_is_drawn_by_the_weights_it_is_given() -> None:
    recipe = read_recipe("sbd", None, {"batch_size": 60})
    builder = BatchBuilder(recipe, sbd_core.load(device="cpu").tokenizer)
    wanted = {"json": 1.0, "drill:add": 1.0, "infill:numbers": 1.0}
    batch = builder.batch(0, wanted)
    assert Counter(batch.groups).keys() == wanted.keys()
    assert len(batch.groups) == int(batch.packed.layout.document.max()) + 1 == 60


def test_a_run_that_weighs_anew_resumes_to_the_same_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(recipe_module, "LEAST_REWEIGHT_STEPS", 1)
    recipe = replace(THREE, steps=8, batch_size=6, reweight_steps=2)
    train(recipe, None, tmp_path / "whole")
    progress = json.loads((state_folder(tmp_path / "whole") / "progress.json").read_text())
    learnt = progress["task_weights"]["weights"]
    assert learnt["4"] != learnt["5"], "they follow the losses"
    with interrupted_at(5, monkeypatch):
        train(recipe, None, tmp_path / "model", save_every=1)
    train(recipe, None, tmp_path / "model", save_every=1)
    assert all_losses(tmp_path / "model") == all_losses(tmp_path / "whole")
    assert same(weights(tmp_path / "model"), weights(tmp_path / "whole"))
    fixed = replace(recipe, reweight_steps=0)
    train(fixed, None, tmp_path / "fixed")
    assert all_losses(tmp_path / "fixed")[:4] == all_losses(tmp_path / "whole")[:4]
    assert all_losses(tmp_path / "fixed")[4:] != all_losses(tmp_path / "whole")[4:]
    file = state_folder(tmp_path / "model") / "progress.json"
    for damaged in (None, {}, {"weights": {}, "sums": {}}, {"weights": {"4": 5}, "sums": {}}):
        file.write_text(json.dumps({**json.loads(file.read_text()), "task_weights": damaged}))
        with pytest.raises(TrainingError, match="cannot be read"):
            train(recipe, None, tmp_path / "model")


@pytest.mark.parametrize(
    ("field", "value"),
    [("reweight_steps", 10), ("reweight_floor", 1.5), ("reweight_ceiling", 0.5)],
)
def test_a_bound_that_cannot_be_is_named(field, value) -> None:
    with pytest.raises(ArgumentError) as caught:
        replace(THREE, **{field: value})
    assert caught.value.argument == field
