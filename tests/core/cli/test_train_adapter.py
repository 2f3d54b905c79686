"""`train-adapter` on the command line: what its adapter tells of the training."""

import json
from pathlib import Path

import pytest

from sbd_core.__main__ import main
from sbd_core.models.block_adapter import read_info


def test_an_adapter_that_training_begins_from_is_measured_first(
    tiny_folders: dict[str, Path], tmp_path: Path
) -> None:
    data = tmp_path / "own.jsonl"
    rows = [{"prompt": f"ask {n}", "answer": "and so it goes on " * 4} for n in range(8)]
    data.write_text("\n".join(map(json.dumps, rows)))
    words = ["train-adapter", "--base", str(tiny_folders["llama"]), "--data", str(data)]
    words += ["--minutes", "0.01", "--rank", "2", "--sampler-width", "4", "--rows", "16"]
    words += ["--device", "cpu", "--averaging", "0.5", "--cooldown", "0.5"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([*words, "--out", str(first)]) == 0
    assert main([*words, "--out", str(second), "--init", str(first)]) == 0
    before, after = (read_info(folder)[0].trained for folder in (first, second))
    [end], [kept, start, last] = before["curve"], after["curve"]
    assert kept == end
    assert start == pytest.approx(end, rel=0.01)  # stored in bf16 between
    assert last["steps"] == after["steps"] > before["steps"] == end["steps"]
    assert (after["texts"], after["recipe"]["average_decay"]) == (7, 0.5)
    assert after["recipe"]["cooldown_ratio"] == 0.5
