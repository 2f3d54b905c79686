"""The steps on a GPU: all of them in small on the CPU."""

import json
from pathlib import Path

import pytest

from scripts.on_gpu import STEPS, run

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_step_runs_dry_and_no_measurement_fails(tmp_path: Path) -> None:
    data = {}
    for step in STEPS:
        run(step, tmp_path, device="cpu", is_dry=True)
        data[step] = json.loads((tmp_path / f"{step}.json").read_text())
    measured = [value for each in data.values() for value in each.values()]
    assert not [each for each in measured if isinstance(each, dict) and "error" in each]
    assert {"processor", "cuda", "torch"} <= data["decode"]["circumstances"].keys()
    assert data["decode"]["tokens a second, ntp"]["tokens"] > 0
    assert (
        data["exactness"]["verify differs from ntp, float32, 2 prompts"]["differing answers"] == 0
    )
    assert data["large"]["Llama 8B shape: 3 rows, 16 cached"]["ms"] > 0


def test_a_step_measures_nothing_when_its_minutes_are_over(tmp_path: Path) -> None:
    run("exactness", tmp_path, 1e-9, device="cpu", is_dry=True)
    assert not (tmp_path / "exactness.json").exists()
