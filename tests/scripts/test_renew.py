"""Renewing: what is done is left alone, what fails stops the rest, new weights renew all."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from scripts import renew
from scripts.renew import STEPS, Step


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A root with a checkpoint; `ran` lists the commands, `status` is how they end."""
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    (tmp_path / "out.json").write_text("{}")
    found = SimpleNamespace(root=tmp_path, weights=weights, ran=[], status={})

    def ended(words, cwd):
        found.ran.append(words[-1])
        return subprocess.CompletedProcess(words, found.status.get(words[-1], 0))

    monkeypatch.setattr(renew, "ROOT", tmp_path)
    monkeypatch.setattr(renew, "CHECKPOINT", tmp_path)
    monkeypatch.setattr(renew, "STATE", tmp_path / "renewed.json")
    names = ("one", "two", "three")
    monkeypatch.setattr(renew, "STEPS", {name: Step(f"-m {name}", "out.json") for name in names})
    monkeypatch.setattr(renew.subprocess, "run", ended)
    return found


def test_a_second_call_runs_nothing_and_new_weights_or_a_lost_output_run_all(house):
    for _ in range(2):
        assert (renew.main([]), house.ran) == (0, ["one", "two", "three"])
    house.weights.write_bytes(b"other")
    assert (renew.main([]), len(house.ran)) == (0, 6)
    (house.root / "out.json").unlink()
    assert (renew.main([]), len(house.ran)) == (0, 9)
    assert (renew.main(["--only", "three"]), house.ran[9:]) == (0, ["three"])


def test_a_step_of_the_adapter_is_renewed_with_the_adapter(house, monkeypatch):
    adapter = house.root / "adapter"
    adapter.mkdir()
    (adapter / "model.safetensors").write_bytes(b"one")
    monkeypatch.setattr(renew, "REAL_CHECKPOINT", adapter)
    steps = {"nano": Step("-m nano", "out.json"), "real": Step("-m real", "out.json", is_real=True)}
    monkeypatch.setattr(renew, "STEPS", steps)
    for _ in range(2):
        assert (renew.main([]), house.ran) == (0, ["nano", "real"])
    (adapter / "model.safetensors").write_bytes(b"other")
    assert (renew.main([]), house.ran[2:]) == (0, ["real"])


def test_it_goes_on_where_it_failed(house, capsys):
    house.status = {"two": 3}
    assert (renew.main([]), house.ran) == (3, ["one", "two"])
    assert "two ended with 3" in capsys.readouterr().err
    house.status = {}
    assert (renew.main([]), house.ran) == (0, ["one", "two", "two", "three"])


def test_list_runs_nothing(house, capsys):
    (house.root / "renewed.json").write_text(json.dumps({"one": "damaged"}))
    assert renew.main(["--list"]) == 0
    assert house.ran == []
    assert capsys.readouterr().out.count("to do") == 3


def test_every_output_of_a_step_is_there_now():
    assert [step for step in STEPS.values() if not (renew.ROOT / step.output).exists()] == []
