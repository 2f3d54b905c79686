"""The tables of evaluate have their rows; losses are what a slow loop over the tokens gives."""

import json
import math
from shutil import copytree

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.__main__ import main
from sbd_core.errors import TrainingError
from sbd_core.evaluation import tables
from sbd_core.evaluation.tables import handwritten_prompts, masked_loss, perplexity
from sbd_core.masks import decoding_mask
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.solvers import SOLVERS
from sbd_core.tasks import held_out
from sbd_core.training.batches import draw_masks
from sbd_core.training.checkpoint import load_model
from sbd_core.training.data import encode_examples
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


def test_processes_share_the_work_and_find_the_same(capsys) -> None:
    words = ["evaluate", "--suite", "math,json", "--limit", "3", "--max-new-tokens", "12", "--json"]
    words += ["--batch-size", "1", "--strategy", "verify"]
    found = []
    for count in ("1", "2"):
        assert main([*words, "--processes", count]) == 0
        found.append(last_line(capsys))
    assert [one["processes"] for one in found] == [1, 2]
    assert found[1]["circumstances"]["threads"] == 1
    timed = "tokens_per_second"
    for one in found:
        for part in (one["rows"]["verify"]["mean"], *one["rows"]["verify"]["families"]):
            assert part.pop(timed) > 0
    assert found[0]["rows"] == found[1]["rows"]


def test_models_are_compared_on_the_same_masks_and_prompts(capsys, tmp_path) -> None:
    again = tmp_path / "again"
    copytree(DEFAULT_CHECKPOINT, again)
    words = ["evaluate", "--suite", "math,json", "--limit", "2", "--max-new-tokens", "4"]
    assert main([*words, "--compare", str(DEFAULT_CHECKPOINT), str(again), "--json"]) == 0
    found = last_line(capsys)["models"]
    assert list(found) == ["sbd-nano", "again"]
    one, other = found.values()
    assert one["recipe"] == other["recipe"]
    assert one["weights_sha256"] == other["weights_sha256"]
    assert one["masked_loss"] == other["masked_loss"]
    assert set(one["masked_loss"]) == {"math", "json"}
    assert {"NTP", "verify"} < set(one["rows"])
    for row, data in one["rows"].items():
        counts = [cell["num_forwards"] for cell in data["families"]]
        assert counts == [cell["num_forwards"] for cell in other["rows"][row]["families"]]


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


def test_perplexity_is_exp_of_the_mean_cross_entropy_of_answer_tokens(monkeypatch) -> None:
    monkeypatch.setattr(tables, "TEXTS_PER_FORWARD", 4)
    items = held_out("math", 9, 0, "test")
    model, tokenizer = load_model(DEFAULT_CHECKPOINT)
    total = count = 0.0
    for prompt, answer in encode_examples(tokenizer, items):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0]
        wanted = logits[len(prompt) - 1 : -1]
        total += cross_entropy(wanted, torch.tensor(answer), reduction="sum").item()
        count += len(answer)
    found = perplexity(DEFAULT_CHECKPOINT, {"math": items})["math"]
    assert found == pytest.approx(math.exp(total / count), rel=1e-4)
    assert found > 1


def test_masked_loss_is_the_mean_cross_entropy_of_what_the_masks_hide() -> None:
    items = held_out("json", 5, 0, "test")
    model, tokenizer = load_model(DEFAULT_CHECKPOINT)
    draws = torch.Generator().manual_seed(3)
    total = count = 0.0
    for prompt, answer in encode_examples(tokenizer, items):
        is_masked = draw_masks(len(answer), draws)
        for start in range(0, len(answer), 8):
            part = torch.tensor(answer[start : start + 8])
            hidden = is_masked[start : start + 8]
            # What a block holds behind the end of an answer is masked, and asked of nobody.
            shown = torch.full((8,), tokenizer.mask_token_id)
            shown[: len(part)] = part.masked_fill(hidden, tokenizer.mask_token_id)
            seen = [*prompt, *answer[:start]]
            with torch.no_grad():
                logits = model(
                    input_ids=torch.tensor([[*seen, *shown.tolist()]]),
                    attention_mask=decoding_mask(0, len(seen), 8)[None, None],
                    use_cache=False,
                ).logits[0, len(seen) : len(seen) + len(part)]
            total += cross_entropy(logits[hidden], part[hidden], reduction="sum").item()
            count += int(hidden.sum())
    found = masked_loss(DEFAULT_CHECKPOINT, {"json": items}, block_size=8, seed=3)["json"]
    assert found == pytest.approx(total / count, rel=1e-4)


def test_a_missing_folder_is_named(tmp_path) -> None:
    with pytest.raises(TrainingError, match="nowhere"):
        perplexity(tmp_path / "nowhere", {"math": held_out("math", 1, 0, "test")})
