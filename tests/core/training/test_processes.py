"""Training in processes of its own: killed, two at once, the weights sharded between them."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from accelerate.commands.config.config_args import load_config_from_file

import sbd_core
from sbd_core.training.checkpoint import state_folder
from tests.core.cli.commands import in_two
from tests.core.training.tiny_training import TINY, assert_close, command, same, train, weights


def test_a_process_killed_at_any_moment_resumes_to_the_same_weights(tmp_path) -> None:
    recipe = replace(TINY, steps=60)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    train(recipe, None, whole / "model", save_every=60)
    progress = state_folder(killed / "model") / "progress.json"
    process = subprocess.Popen(
        [sys.executable, *command(recipe, killed)], stderr=subprocess.DEVNULL
    )
    while not progress.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert 1 <= json.loads(progress.read_text())["step"] < 60
    train(recipe, None, killed / "model", save_every=60)
    assert same(weights(killed / "model"), weights(whole / "model"))


def children(number: int) -> list[int]:
    """Processes that process `number` started and that still run."""
    tasks = Path(f"/proc/{number}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_an_evaluation_that_is_killed_leaves_no_process_behind() -> None:
    words = ["evaluate", "--suite", "json", "--limit", "500", "--processes", "2"]
    words += ["--batch-size", "1"]  # at work soon, and for long
    process = subprocess.Popen(
        [sys.executable, "-m", "sbd_core", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while " 0/500" not in process.stderr.readline(60):
        assert process.poll() is None
    while len(started := children(process.pid)) < 3 and process.poll() is None:
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert len(started) == 3, "two workers and what tracks their resources"
    patience = time.monotonic() + 60
    while any(Path(f"/proc/{number}").exists() for number in started):
        assert time.monotonic() < patience, "a worker outlived its parent"
        time.sleep(0.1)


LAUNCH = Path(sbd_core.__file__).parent / "training" / "launch"


def test_the_launch_configs_are_read_by_accelerate() -> None:
    found = {file.stem: load_config_from_file(str(file)) for file in LAUNCH.glob("*.yaml")}
    kinds = {name: config.distributed_type.value for name, config in found.items()}
    assert kinds == {"single": "NO", "ddp": "MULTI_GPU", "fsdp": "FSDP"}
    assert found["fsdp"].fsdp_config["fsdp_version"] == 2
    for name, config in found.items():
        # The command lowers the precision itself, for the loss is fp32.
        assert config.mixed_precision == "no", name
        assert f"{name}.yaml" in (LAUNCH / f"{name}.yaml").read_text()


def test_sharded_weights_take_the_steps_of_whole_ones_and_resume(tmp_path) -> None:
    recipes = {
        "adamw": replace(TINY, steps=2, batch_size=8, decay_steps=0, optimizer="adamw"),
        "muon": replace(TINY, steps=2, batch_size=8),
    }
    commands = []
    for name, recipe in recipes.items():
        for place in (alone := tmp_path / f"{name}-alone", tmp_path / name):
            place.mkdir()
        train(recipe, None, alone / "model")
        commands.append(command(recipe, tmp_path / name)[2:])
    (half := tmp_path / "half.json").write_text(
        json.dumps(asdict(replace(recipes["adamw"], steps=1)))
    )
    begun = [str(half) if "recipe.json" in word else word for word in commands[0]] + ["--json"]
    launcher = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    out = in_two(launcher, "tests.core.training.sharded_run", begun, *commands)
    assert out.count('"step": 1') == 1
    assert_close(tmp_path / "adamw" / "model", tmp_path / "adamw-alone" / "model")
    # Muon's bf16 makes much of a rounding error; a step moves a weight by up to 1e-2.
    near = {"rel": 1e-4, "atol": 2e-2}
    assert_close(tmp_path / "muon" / "model", tmp_path / "muon-alone" / "model", **near)
