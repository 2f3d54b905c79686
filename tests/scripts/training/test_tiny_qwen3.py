"""The chain that makes, prepares, trains and measures a tiny Qwen3, in two steps of each stage."""

import json

from sbd_core.models.loading import load
from scripts.training import tiny_qwen3

STEPS = {"minutes": 0.0, "steps": 2, "decay_steps": 1}


def test_the_chain_ends_in_a_results_file_and_goes_on_where_it_was(
    tmp_path, monkeypatch, capsys
) -> None:
    few = {"batch_size": 2, "tasks": {"code": 1}, "seed": 3}
    monkeypatch.setattr(tiny_qwen3, "CHANGES", {**few, **STEPS})
    out, folder = tmp_path / "found.json", tmp_path / "models"
    words = ["--limit", "2", "--folder", str(folder), "--out", str(out)]
    assert tiny_qwen3.main(words) == 0
    found = json.loads(out.read_text("utf-8"))
    assert {name: stage["steps"] for name, stage in found["stages"].items()} == {"ntp": 2, "sbd": 2}
    assert found["verify"]["accuracy"] == found["ntp"]["accuracy"]
    assert found["verify"]["num_tokens"] == found["ntp"]["num_tokens"] > 0
    assert found["verify"]["num_examples"] == 2
    assert found["predrafts"]["num_tokens"] == found["verify"]["num_tokens"]
    assert {"processor", "torch", "weights_sha256"} <= set(found["circumstances"])
    said = capsys.readouterr().out
    assert f"{found['verify']['tokens_per_forward']:.2f} tokens a forward pass" in said
    assert said.count("== python -m sbd_core") == 6
    model = load(folder / "sbd")
    assert model.model.config.model_type == "qwen3"
    assert model.block_range == (2, 16)
    monkeypatch.setattr(tiny_qwen3, "CHANGES", {**few, **STEPS, "seed": 4})
    out.unlink()
    assert tiny_qwen3.main(words) == 2
    assert "is of another recipe" in capsys.readouterr().err
    assert not out.exists()


def test_results_that_could_not_be_written_are_refused_first(tmp_path, capsys) -> None:
    words = ["--out", str(tmp_path / "no" / "found.json"), "--folder", str(tmp_path / "models")]
    assert tiny_qwen3.main(words) == 2
    assert capsys.readouterr().err.startswith("error: out: ")
    assert not any((tmp_path / "models").iterdir())
