"""The GPU kit: every step in small on the CPU."""

import json
from pathlib import Path

import pytest
import torch

from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.training.checkpoint import load_model
from scripts.on_gpu import Kit, command, dry_run

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_step_runs_dry_and_leaves_what_it_is_for(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="peft is of the optional part lora")
    work = tmp_path / "work"
    dry_run(work)
    decode = json.loads((work / "decode.json").read_text())
    assert {"processor", "cuda", "torch"} <= decode["circumstances"].keys()
    assert decode["tokens a second, ntp"]["tokens"] > 0
    exact = json.loads((work / "exactness.json").read_text())
    assert exact["verify differs from ntp, float32, 2 prompts"]["differing answers"] == 0
    large = json.loads((work / "large.json").read_text())
    assert large["Llama 8B shape: 3 rows, 16 cached"]["ms"] > 0
    told = json.loads((work / "decoding" / "sbd_adapter.json").read_text())
    assert told["set_block_decoding"]["strategy"] == "sbd"
    assert json.loads((work / "drafted.json").read_text())["curve"]
    assert json.loads((work / "decoding-4.json").read_text())["requests"]
    start, trained, released = (
        load_model(folder)[0].model.embed_tokens.weight
        for folder in (DEFAULT_CHECKPOINT, work / "nano", work / "nano-averaged")
    )
    assert not torch.equal(start, trained)
    torch.testing.assert_close(released, 0.7 * trained + 0.3 * start, atol=1e-2, rtol=1e-2)
    assert not torch.equal(released, trained)


def test_a_command_is_left_out_when_the_minutes_are_over(tmp_path: Path) -> None:
    command(Kit(tmp_path, 0.0, is_dry=True), "prepare", "no such model", "--out", tmp_path / "out")
    with pytest.raises(SystemExit):
        command(Kit(tmp_path, 1.0, is_dry=True), "prepare", "nothing", "--out", tmp_path / "out")
