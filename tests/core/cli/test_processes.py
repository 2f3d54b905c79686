"""Processes of the command line: two that share work or weights, and killed ones."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from accelerate.commands.config.config_args import load_config_from_file

import sbd_core
from sbd_core.__main__ import main
from sbd_core.training.checkpoint import state_folder
from tests.core.cli.commands import in_two
from tests.core.training.tiny_training import TINY, assert_close, command, same, train, weights

LAUNCH = Path(sbd_core.__file__).parent / "training" / "launch"
# With --cpu accelerate would start one process alone.
LAUNCHER = [
    "accelerate.commands.launch",
    "--config_file",
    str(LAUNCH / "ddp.yaml"),
    "--num_processes",
    "2",
]
RECIPE = replace(TINY, steps=2, batch_size=8, optimizer="adamw")
COUNTED = ("accuracy", "num_tokens", "num_forwards", "num_examples", "num_unseen")


def commands(folder: Path) -> dict[str, list[str]]:
    """Commands that both run, by name; the results go into `folder`."""
    small = ["--max-new-tokens", "8", "--device", "cpu"]
    prompts = folder.parent / "prompts.jsonl"
    evaluate = ["--suite", "json", "--limit", "4", "--batch-size", "2", *small]
    answers, scores = (str(folder / name) for name in ("answers.jsonl", "scores.json"))
    return {
        "generate": ["generate", "--prompts", str(prompts), "--out", answers, *small],
        "evaluate": ["evaluate", *evaluate, "--out", scores],
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path, str]:
    """Folders of one process and of two of one launch, and the output of those."""
    root = tmp_path_factory.mktemp("launched")
    one, two = root / "one", root / "two"
    for folder in (one, two):
        folder.mkdir()
    rows = [json.dumps({"id": n, "prompt": f"What is {n} + {n + 1}?"}) for n in range(7)]
    (root / "prompts.jsonl").write_text("\n".join(rows) + "\n")
    for words in commands(one).values():
        assert main(words) == 0
    train(RECIPE, None, one / "model")
    trained = [*command(RECIPE, two)[2:], "--accumulate", "2", "--json"]
    return one, two, in_two(LAUNCHER, "tests.core.cli.commands", *commands(two).values(), trained)


def test_two_processes_give_the_answers_of_one(folders) -> None:
    one, two, _ = folders
    texts = [(folder / "answers.jsonl").read_text() for folder in (one, two)]
    assert texts[0] == texts[1]
    assert [json.loads(line)["id"] for line in texts[1].splitlines()] == list(range(7))


def test_two_processes_evaluate_as_one(folders) -> None:
    one, two, _ = folders
    data = [json.loads((folder / "scores.json").read_text()) for folder in (one, two)]
    assert [found["processes"] for found in data] == [1, 2]
    cells = [found["rows"]["sbd"]["families"][0] for found in data]
    counts = [[cell[name] for name in COUNTED] for cell in cells]
    assert counts[0] == counts[1]


def test_two_processes_take_the_steps_of_one(folders) -> None:
    one, two, out = folders
    assert out.count('"step": 2') == 1, "one process reports"
    assert_close(two / "model", one / "model")


def test_no_unfinished_file_is_left(folders) -> None:
    left = [path for folder in folders[:2] for path in folder.glob(".*") if path.suffix != ".lock"]
    assert left == []


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
    begun, resumed = commands[0], [*commands[0], "--json"]
    launcher = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    out = in_two(launcher, "tests.core.cli.sharded_run", begun, resumed, commands[1])
    assert out.count('"step": 2') == 1
    assert_close(tmp_path / "adamw" / "model", tmp_path / "adamw-alone" / "model")
    # Muon's bf16 makes much of a rounding error; a step moves a weight by up to 1e-2.
    near = {"rel": 1e-4, "atol": 2e-2}
    assert_close(tmp_path / "muon" / "model", tmp_path / "muon-alone" / "model", **near)
