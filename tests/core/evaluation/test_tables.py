"""The tables of evaluate have their rows."""

import json
from shutil import copytree

import pytest

from sbd_core.__main__ import main
from sbd_core.evaluation.api import handwritten_prompts
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.solvers import SOLVERS
from tests.core.cli.commands import last_line

COUNTED = ("accuracy", "tokens_per_forward")


def test_evaluate_reports_each_family_and_the_table_its_rows(capsys, tmp_path) -> None:
    file = tmp_path / "results.json"
    words = ["evaluate", "--suite", "math,json", "--limit", "2", "--max-new-tokens", "4", "--table"]
    words += ["--baseline", str(DEFAULT_CHECKPOINT)]
    assert main([*words, "--gamma", "0.5", "--json", "--out", str(file)]) == 0
    found = last_line(capsys)
    assert found == json.loads(file.read_text("utf-8"))
    assert "ntp" in " ".join(found["rows"]).lower()
    for row in found["rows"].values():
        assert [task["family"] for task in row["families"]] == ["math", "json"]
        for task in row["families"]:
            assert task["num_examples"] == 2
            assert task["num_tokens"] <= 8
            speed = task["num_tokens"] / task["num_forwards"]
            assert task["tokens_per_forward"] == pytest.approx(speed, abs=1e-4)
            assert 0 <= task["accuracy_low"] <= task["accuracy"] <= task["accuracy_high"] <= 1
            assert task["tokens_per_second"] > 0
    rows = found["rows"]
    counts = [[row["mean"][key] for key in COUNTED] for row in rows.values()]
    assert list(rows)[:2] == ["NTP-trained, NTP", "NTP"]
    assert counts[0] == counts[1]
    num_prompts = sum(item.task in ("math", "json") for item in handwritten_prompts())
    assert {row["num_examples"] for row in found["own_wording"].values()} == {num_prompts}
    assert list(found["own_wording"]) == list(rows)
    for row, own in found["own_wording"].items():
        back = [answer["answers"][row] for answer in found["own_answers"]]
        assert len(back) == num_prompts
        assert all(answer["text"] for answer in back)
        assert sum(answer["is_right"] for answer in back) == round(num_prompts * own["accuracy"])
    assert {answer["family"] for answer in found["own_answers"]} == {"math", "json"}
    assert set(found["perplexity"]["model"]) == {"math", "json"}
    assert found["perplexity"]["model"] == found["perplexity"]["baseline"]


def test_a_table_of_a_model_with_other_turns_has_their_perplexity(capsys, tiny_folders, tmp_path):
    words = ["evaluate", "--suite", "json", "--limit", "1", "--max-new-tokens", "4", "--table"]
    other = tmp_path / "other"
    copytree(tiny_folders["llama"], other)
    for file in other.iterdir():
        if file.suffix in (".json", ".jinja"):
            text = file.read_text("utf-8").replace("<user>", "<human>")
            file.write_text(text.replace('embeddings": 128', 'embeddings": 512'), "utf-8")
    assert main([*words, "--model", str(other), "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out.splitlines()[-1])
    assert found["perplexity"]["model"]["json"] > 1
    assert "verify" in found["rows"]


def test_a_sweep_has_every_solver_at_each_of_its_settings(capsys) -> None:
    words = ["evaluate", "--suite", "json", "--limit", "1", "--max-new-tokens", "4", "--sweep"]
    assert main([*words, "--block-size", "4", "--json"]) == 0
    rows = last_line(capsys)["rows"]
    assert {"NTP", "verify", *SOLVERS} == {row.partition(" ")[0] for row in rows}
    passes = {row: data["families"][0]["num_forwards"] for row, data in rows.items()}
    assert passes["top-k 4"] == 2
    assert passes["left-to-right 1"] == 5
