"""The way to the bundled checkpoint: it is what the figures say, and can be walked again."""

import json

import pytest
import torch

import sbd_core
from sbd_core.models.loading import load
from sbd_core.training.recipes.recipe_files import read_recipe
from scripts.tables.results_files import results
from scripts.training import bundled_model
from scripts.training.stretches import WAY, Mean, Stretch

SMALL = {"batch_size": 2, "warmup_steps": 1, "reweight_steps": 0, "tasks": {"math": 1}}
NEW = {**SMALL, "hidden_size": 64, "num_heads": 1, "num_layers": 1, "tokenizer_examples": 300}
SHORT = (
    Stretch("ntp", "", 40, 0, NEW, stage="ntp"),
    Stretch("first", "ntp", 40, 20, {**SMALL, "seed": 3}),
    Mean("mean", {"ntp": 1, "first": 3}),
)


def test_the_steps_of_the_way_are_those_of_the_curve_and_its_end_is_what_is_bundled() -> None:
    stretches = [part for part in WAY if isinstance(part, Stretch) and part.stage == "sbd"]
    *_, last = (model["recipe"] for model in results("curve")["models"].values())
    assert sum(one.steps for one in stretches) == last["steps"]
    assert sum(one.num_falling for one in stretches) == last["decay_steps"]
    bundled = json.loads((sbd_core.DEFAULT_CHECKPOINT / "recipe.json").read_text("utf-8"))
    again = bundled_model.recipe_of(stretches[-1], 1.0)
    for name, value in again.items():
        assert name == "base" or bundled[name] == value, name


def test_each_part_begins_with_what_is_there_by_then_and_its_recipe_is_read(tmp_path) -> None:
    done = {""}
    for part in WAY:
        if isinstance(part, Stretch):
            assert part.start in done
            file = tmp_path / "recipe.json"
            file.write_text(json.dumps(bundled_model.recipe_of(part, 1.0)))
            recipe = read_recipe(part.stage, file, {})
            assert (recipe.steps, recipe.decay_steps) == (part.steps, part.num_falling)
        else:
            assert set(part.parts) <= done
        assert part.name not in done
        done.add(part.name)


def test_a_way_is_walked_and_a_second_walk_leaves_what_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bundled_model, "WAY", SHORT)
    words = ["--folder", str(tmp_path), "--steps-ratio", "0.05", "--precision", "fp32"]
    assert bundled_model.main(words) == 0
    out = tmp_path / "mean"
    assert capsys.readouterr().out.endswith(f"the model is {out}\n")
    states = {name: load(tmp_path / name).model.state_dict() for name in ("ntp", "first", "mean")}
    for name, mean in states["mean"].items():
        wanted = states["ntp"][name] / 4 + states["first"][name] * 3 / 4
        assert torch.allclose(mean, wanted, atol=2e-2), name
    before = out.stat().st_mtime_ns
    assert bundled_model.main(words) == 0
    assert out.stat().st_mtime_ns == before
    for name, state in states.items():
        again = load(tmp_path / name).model.state_dict()
        assert all(torch.equal(one, state[key]) for key, one in again.items()), name


@pytest.mark.parametrize("ratio", ["-1", "2", "nan"])
def test_a_ratio_out_of_range_is_named(ratio, tmp_path, capsys) -> None:
    words = ["--folder", str(tmp_path / "models"), "--steps-ratio", ratio]
    assert bundled_model.main(words) == 2
    assert "steps_ratio" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()
