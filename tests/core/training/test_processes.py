"""Training in processes of its own: killed, two at once, the weights sharded between them."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.commands.config.config_args import load_config_from_file

import sbd_core
from sbd_core.training.checkpoints.state import state_folder
from sbd_core.training.recipes.recipe import Recipe
from tests.core.training.training_runs import TINY, all_losses, command, same, train, weights


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
BY_TORCH = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
BY_ACCELERATE = ["accelerate.commands.launch", "--config_file", f"{LAUNCH / 'ddp.yaml'}"]


def in_two(words: list[str], launcher: list[str] = BY_TORCH) -> str:
    """The output of a command of Python run in two processes that know of each other."""
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true"}
    words = [sys.executable, "-m", *launcher, *words]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_close(found: Path, expected: Path, rel: float = 1e-5, atol: float = 1e-4) -> None:
    assert all_losses(found) == pytest.approx(all_losses(expected), rel=rel)
    wanted = weights(expected)
    for name, weight in weights(found).items():
        torch.testing.assert_close(weight, wanted[name], atol=atol, rtol=1e-3)


def test_two_processes_take_the_steps_of_one(tmp_path) -> None:
    recipe = replace(TINY, steps=2, batch_size=8, optimizer="adamw")
    train(recipe, None, tmp_path / "alone")
    launcher = [*BY_ACCELERATE, "--num_processes", "2"]
    out = in_two([*command(recipe, tmp_path), "--accumulate", "2", "--json"], launcher)
    assert out.count('"step": 2') == 1, "one process reports"
    assert_close(tmp_path / "model", tmp_path / "alone")


def test_the_launch_configs_are_read_by_accelerate() -> None:
    found = {file.stem: load_config_from_file(str(file)) for file in LAUNCH.glob("*.yaml")}
    kinds = {name: config.distributed_type.value for name, config in found.items()}
    assert kinds == {"single": "NO", "ddp": "MULTI_GPU", "fsdp": "FSDP"}
    assert found["fsdp"].fsdp_config["fsdp_version"] == 2
    for name, config in found.items():
        # The command lowers the precision itself, for the loss is fp32.
        assert config.mixed_precision == "no", name
        assert f"{name}.yaml" in (LAUNCH / f"{name}.yaml").read_text()


def sharded(recipe: Recipe, folder: Path) -> None:
    words = command(recipe, folder)
    in_two(["-m", "tests.core.training.sharded_run", *words[words.index("train") :]])


def test_sharded_weights_take_the_steps_of_whole_ones_and_resume(tmp_path) -> None:
    recipe = replace(TINY, steps=2, batch_size=8, decay_steps=0, optimizer="adamw")
    train(recipe, None, tmp_path / "alone")
    sharded(replace(recipe, steps=1), tmp_path)
    assert len(all_losses(tmp_path / "model")) == 1
    sharded(recipe, tmp_path)
    assert_close(tmp_path / "model", tmp_path / "alone")


def test_sharded_weights_take_the_steps_of_muon(tmp_path) -> None:
    recipe = replace(TINY, steps=2, batch_size=8)
    train(recipe, None, tmp_path / "alone")
    sharded(recipe, tmp_path)
    # Muon's bf16 makes much of a rounding error; a step moves a weight by up to 1e-2.
    assert_close(tmp_path / "model", tmp_path / "alone", rel=1e-4, atol=2e-2)
