"""Hostile command lines: files nested deeper than any parser goes, numbers and paths that are none.

tests/core/cli/test_command_line.py has the ordinary mistakes.
"""

from pathlib import Path

import pytest

from sbd_core.__main__ import main

HUGE = "9" * 400
DEEP = "deep.json"
"""A file nested too deeply; so is the config.json of the folder where the commands run."""
LINES = [
    ["generate", "a", "--model", "."],
    ["generate", "--prompts", DEEP, "--out", "answers.jsonl"],
    ["generate", "a", "--block-size", HUGE],
    ["generate", "a", "--max-new-tokens", HUGE],
    ["generate", "a", "--gamma", "1e400"],
    ["generate", "a", "--seed", "²"],
    ["generate", "a", "--model", "\x00"],
    ["generate", "a", "--model", "/dev/null"],
    ["generate", "a", "--model", "a" * 10_000],
    ["generate", "a", "--trace", "é\n/x"],
    ["generate", "a", "--pin", "²=1"],
    ["evaluate", "--compare", "/proc/self/mem"],
    ["evaluate", "--suite", "\x00"],
    ["evaluate", "--data-seed", "0x10"],
    ["evaluate", "--batch-size", HUGE],
    ["generate", "--prompts", "/dev/zero", "--out", "answers.jsonl"],
    ["bench", "--device", "\x00"],
    ["bench", "--rounds", "nan"],
    ["roofline", "--measured", DEEP],
    ["roofline", "--measured", "/proc/self/mem"],
    ["roofline", "--model", "."],
    ["roofline", "--nfe-speedup", "-inf"],
    ["train", "--stage", "sbd", "--recipe", "sbd", "--estimate", "--init", "."],
    ["train", "--stage", "sbd", "--recipe", DEEP, "--out", "trained"],
    ["train", "--stage", "sbd", "--recipe", "/dev/zero", "--out", "trained"],
    ["train", "--stage", "sbd", "--steps", HUGE, "--out", "trained"],
]


@pytest.mark.parametrize(
    "words", LINES, ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode()
)
def test_a_hostile_command_line_ends_with_2_and_one_line(words, tmp_path, monkeypatch, capsys):
    for name in (DEEP, "config.json"):
        (tmp_path / name).write_text('{"model_type": "llama", "a": ' + "[" * 200_000)
    monkeypatch.chdir(tmp_path)
    try:
        status = main(words)
    except SystemExit as error:  # from argparse, below how the command is used
        status = error.code
    said = capsys.readouterr().err
    assert status == 2
    assert said.startswith("usage: ") or said.count("\n") == 1
    assert "error: " in said
    assert {path.name for path in Path().iterdir()} == {DEEP, "config.json"}
