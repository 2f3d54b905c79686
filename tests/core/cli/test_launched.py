"""`accelerate launch` on two CPU processes: generate, evaluate and train do as one process does."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import sbd_core
from sbd_core.__main__ import main
from tests.core.cli.commands import in_two
from tests.core.training.tiny_training import TINY, assert_close, command, train

CONFIG = Path(sbd_core.__file__).parent / "training" / "launch" / "ddp.yaml"
# With --cpu accelerate would start one process alone.
LAUNCHER = ["accelerate.commands.launch", "--config_file", str(CONFIG), "--num_processes", "2"]
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


def test_no_journal_is_left(folders) -> None:
    left = [path for folder in folders[:2] for path in folder.glob(".*") if path.suffix != ".lock"]
    assert left == []
