"""Timing the steps of recipes in turns, with steps of next to no work."""

import json

from scripts.training import time_steps

TINY = {
    "base": "sbd", "batch_size": 2, "tasks": {"math": 1}, "row_tokens": 256, "hidden_size": 32,
    "num_layers": 1, "num_heads": 1, "feed_forward_size": 32, "reweight_steps": 0,
}  # fmt: skip


def test_every_recipe_has_its_steps_timed_in_turns_and_the_first_ones_do_not_count(
    tmp_path, capfd
) -> None:
    recipes = [tmp_path / f"{name}.json" for name in ("one", "two")]
    for recipe in recipes:
        recipe.write_text(json.dumps(TINY))
    out = tmp_path / "times.json"
    words = [*map(str, recipes), "--steps", "8", "--rounds", "1", "--precision", "fp32"]
    assert time_steps.main([*words, "--out", str(out)]) == 0
    found = json.loads(out.read_text("utf-8"))
    assert list(found["seconds_a_step"]) == ["one", "two"]
    for seconds in found["seconds_a_step"].values():
        assert 0 < seconds["low"] <= seconds["median"] <= seconds["high"] < 5
    assert (found["steps"], found["rounds"]) == (3, 1)
    assert {"processor", "torch"} <= set(found["circumstances"])
    assert "two: 0." in capfd.readouterr().out


def test_what_cannot_be_timed_is_said_and_nothing_is_written(tmp_path, capfd) -> None:
    out = tmp_path / "times.json"
    gone = [str(tmp_path / "gone.json"), "--out", str(out)]
    assert time_steps.main([*gone, "--steps", "6"]) == 2
    assert "error: steps: must be at least 7; got 6" in capfd.readouterr().err
    assert time_steps.main(gone) != 0
    assert "gone.json: cannot be read" in capfd.readouterr().err
    assert not out.exists()
