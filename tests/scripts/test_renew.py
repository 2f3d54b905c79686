"""Renewing: what is done is left alone, what fails stops the rest, new weights renew all."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from scripts import renew
from scripts.renew import Step, steps


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A root with a checkpoint; `ran` lists the commands, `status` is how they end."""
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    (tmp_path / "out.json").write_text("{}")
    steps_here = {
        "first": Step("-m one", ("out.json",)),
        "second": Step("-m two", ("out.json",)),
        "third": Step("-m three", ("out.json",)),
    }
    found = SimpleNamespace(root=tmp_path, weights=weights, ran=[], status={})

    def ended(words, cwd):
        found.ran.append(words[-1])
        return subprocess.CompletedProcess(words, found.status.get(words[-1], 0))

    monkeypatch.setattr(renew, "ROOT", tmp_path)
    monkeypatch.setattr(renew, "CHECKPOINT", tmp_path)
    monkeypatch.setattr(renew, "STATE", tmp_path / "renewed.json")
    monkeypatch.setattr(renew, "steps", lambda: steps_here)
    monkeypatch.setattr(renew.subprocess, "run", ended)
    return found


def test_a_second_call_runs_nothing_and_new_weights_run_all(house):
    assert (renew.main([]), house.ran) == (0, ["one", "two", "three"])
    assert (renew.main([]), house.ran) == (0, ["one", "two", "three"])
    house.weights.write_bytes(b"other")
    assert (renew.main([]), len(house.ran)) == (0, 6)


def test_it_goes_on_where_it_failed(house, capsys):
    house.status = {"two": 3}
    assert (renew.main([]), house.ran) == (3, ["one", "two"])
    assert "second ended with 3" in capsys.readouterr().err
    house.status = {}
    assert (renew.main([]), house.ran) == (0, ["one", "two", "two", "three"])


def test_only_runs_what_is_done_too_and_a_lost_output_is_not_done(house):
    assert renew.main([]) == 0
    assert (renew.main(["--only", "third"]), house.ran[3:]) == (0, ["three"])
    (house.root / "out.json").unlink()
    assert (renew.main([]), house.ran[4:]) == (0, ["one", "two", "three"])


def test_list_runs_nothing(house, capsys):
    (house.root / "renewed.json").write_text(json.dumps({"first": "damaged"}))
    assert renew.main(["--list"]) == 0
    assert house.ran == []
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["to", "do"], ["to", "do"], ["to", "do"],
    ]  # fmt: skip


def test_a_step_that_does_not_exist_is_refused(capsys):
    with pytest.raises(SystemExit) as error:
        renew.main(["--only", "nothing"])
    assert error.value.code == 2
    assert "sweep" in capsys.readouterr().err


def test_every_output_of_a_step_is_there_now():
    missing = [
        name
        for step in steps().values()
        for name in step.outputs
        if not (renew.ROOT / name).exists()
    ]
    assert missing == []
