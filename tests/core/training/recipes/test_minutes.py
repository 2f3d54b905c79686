"""A run of so many minutes: its rate follows the clock, it ends when they do, it can be resumed."""

import json
from dataclasses import replace

import pytest

from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError
from sbd_core.training.checkpoints.state import state_folder
from sbd_core.training.recipes.schedule import learning_rate, require_enough_minutes
from sbd_core.training.run import Run
from tests.core.training.training_runs import TINY, all_losses, command, interrupted_at, train

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


def test_a_run_can_be_given_other_minutes_or_steps_until_its_rate_falls() -> None:
    assert TIMED.past(6, 30.0) == replace(TIMED, minutes=2.0).past(6, 30.0)
    assert TIMED.past(6, 30.0) == replace(TIMED, minutes=0.0, steps=50).past(6, 30.0)
    assert TIMED.past(8, 40.0) != replace(TIMED, minutes=2.0).past(8, 40.0)


def test_too_few_minutes_for_warm_up_and_fall_are_an_error_that_names_enough() -> None:
    with pytest.raises(ArgumentError, match=r"minutes: must be at least 2\.5 here, for 60 steps"):
        require_enough_minutes(replace(TIMED, warmup_steps=60), 0, 0.0, 1.5)
    require_enough_minutes(replace(TIMED, warmup_steps=24), 0, 0.0, 1.5)


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "soon"])
def test_minutes_that_are_no_time_are_an_error(tmp_path, capsys, minutes) -> None:
    words = [*command(TINY, tmp_path)[2:], "--minutes", minutes]
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert "minutes" in capsys.readouterr().err.splitlines()[-1]
