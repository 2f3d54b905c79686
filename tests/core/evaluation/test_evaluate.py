"""evaluate(): scores of traces, answers that are kept, tables with their rows, one clear error."""

import json
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from shutil import copytree
from threading import Thread

import pytest
import torch
from torch.nn.functional import cross_entropy

import sbd_core
from sbd_core.__main__ import main
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate_batch
from sbd_core.errors import ArgumentError
from sbd_core.evaluation import Harness, api, evaluate, harness
from sbd_core.evaluation.api import examples_by_task, handwritten_prompts, perplexity, sweep_configs
from sbd_core.evaluation.harness import seed_of
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.plots.solver_curves import curves
from sbd_core.shared_work import Share
from sbd_core.solvers import SOLVERS, ConfidenceScores, EntropyBound, Shuffle, Solver
from sbd_core.tasks import TASKS, held_out
from sbd_core.training.data import encode_examples
from tests.core.cli.commands import last_line, refusal
from tests.scripted import by_position

CONFIG = DecodeConfig(solver=EntropyBound(gamma=0.35), max_new_tokens=48)


def test_scores_are_those_of_the_traces_also_by_wording(nano) -> None:
    found = evaluate(nano, ["math", "json"], CONFIG, limit=12)
    for score in found["rows"]["sbd"]["families"]:
        items = held_out(score["family"], 12, 0, "test")
        traces = [sbd_core.generate(nano, item.prompt, CONFIG) for item in items]
        assert score["num_tokens"] == sum(trace.num_tokens for trace in traces)
        assert score["num_forwards"] == sum(trace.num_forwards for trace in traces)
        right: dict[str, list[bool]] = {"seen": [], "unseen": []}
        for item, trace in zip(items, traces, strict=True):
            right[item.wording].append(TASKS[item.task].check(item, trace.text))
        assert score["num_examples"] == 12
        assert score["num_unseen"] == len(right["unseen"])
        assert score["accuracy"] == round(sum(right["seen"] + right["unseen"]) / 12, 4)
        for wording, each in right.items():
            assert score[f"accuracy_{wording}"] == round(sum(each) / len(each), 4)


class Leftmost(Solver):
    """A rule without settings."""

    name = "leftmost"
    title = "Leftmost"
    ranking = "left"

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        return list(masked[:1])


def test_a_rule_without_settings_is_one_point_of_a_sweep(monkeypatch, nano) -> None:
    monkeypatch.setitem(SOLVERS, Leftmost.name, Leftmost)
    configs = sweep_configs(DecodeConfig(max_new_tokens=8))
    [row] = [row for row in configs if row.startswith("leftmost")]
    assert configs[row].solver == Leftmost()
    found = evaluate(nano, ["json"], {row: configs[row]}, limit=1)
    [score] = found["rows"][row]["families"]
    assert score["num_forwards"] == 1 + score["num_tokens"]
    [point] = curves(found["rows"])["leftmost"]
    assert point.parameter == "default"


def test_a_model_of_no_folder_is_evaluated_all_the_same() -> None:
    model = by_position(["a", "<eos>"], lambda _: [0.0, 9.0], mask_token_id=None)
    config = DecodeConfig(strategy="ntp", max_new_tokens=4)
    found = evaluate(model, ["math"], config, limit=2)
    assert found["rows"]["ntp"]["families"][0]["num_tokens"] == 2
    assert "weights_sha256" not in found["circumstances"]


@pytest.mark.parametrize(
    ("argument", "more"),
    [
        ("task", {"tasks": ["chess"]}),
        ("tasks", {"tasks": "math"}),
        ("tasks", {"tasks": []}),
        ("config", {"config": {}}),
        ("limit", {"limit": 0}),
        ("split", {"split": "dev"}),
    ],
)
def test_bad_input_is_named(nano, argument, more) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        evaluate(nano, **{"tasks": ["math"], "config": CONFIG, **more})


def test_every_example_draws_from_a_stream_of_its_own_however_they_are_batched(nano) -> None:
    """One stream for all would answer equal prompts alike, and batches would matter."""
    prompts = [item.prompt for item in held_out("math", 4, 0, "test")]
    seeds = [seed_of(3, "math", prompt) for prompt in prompts]
    assert len(set(seeds)) == len(prompts)
    assert set(seeds).isdisjoint(seed_of(4, "math", prompt) for prompt in prompts)
    settings = {
        "row": (nano, DecodeConfig(strategy="ntp", temperature=4.0, max_new_tokens=12, seed=3))
    }
    whole = Harness().answers(settings, {"math": prompts})["math"]["row"]
    alone = Harness(batch_size=1)
    apart = alone.answers(settings, {"math": prompts[::-1]})["math"]["row"][::-1]
    assert [answer.text for answer in whole] == [answer.text for answer in apart]
    same = prompts[:1] * 4
    drawn = generate_batch(nano, same, settings["row"][1], seeds=[1, 2, 3, 1])
    assert drawn[0].token_ids == drawn[3].token_ids
    assert len({trace.token_ids for trace in drawn}) == 3
    assert [trace.config.seed for trace in drawn] == [1, 2, 3, 1]


def test_the_data_seed_chooses_the_examples_and_the_seed_does_not(nano) -> None:
    assert examples_by_task(["math"], 3) != examples_by_task(["math"], 3, data_seed=1)
    words = ["evaluate", "--suite", "math", "--limit", "2", "--max-new-tokens", "2", "--json"]
    found = []
    for more in ([], ["--seed", "7"], ["--data-seed", "7"]):
        with redirect_stdout(StringIO()) as out:
            assert main([*words, *more]) == 0
        found.append(json.loads(out.getvalue().splitlines()[-1]))
    assert [(one["seed"], one["data_seed"]) for one in found] == [(0, 0), (7, 0), (0, 7)]
    for one in found:
        for row in one["rows"].values():
            row["families"][0].pop("tokens_per_second")
    assert found[0]["rows"]["sbd"]["families"] == found[1]["rows"]["sbd"]["families"]


CONFIGS = {
    name: DecodeConfig(strategy=name, max_new_tokens=8, top_k_recorded=0) for name in ("ntp", "sbd")
}
UNTIMED = ("accuracy", "num_tokens", "num_forwards", "num_examples", "num_unseen")


def measured(model, *, configs=CONFIGS, **how) -> dict:
    """The counts of an evaluation, {(row, task): counts}."""
    how = {"batch_size": 2, **how}
    found = evaluate(model, ["json", "math"], configs, limit=5, harness=Harness(**how))
    return {
        (row, cell["family"]): [cell[name] for name in UNTIMED]
        for row, data in found["rows"].items()
        for cell in data["families"]
    }


class Killed(Exception):
    pass


def test_a_killed_run_goes_on_and_processes_share_the_rest(nano, tmp_path, monkeypatch) -> None:
    expected = measured(nano)
    out, asked = tmp_path / "out.json", []

    def counted(model, prompts, *arguments, **options):
        asked.extend(prompts)
        if len(asked) > limit:
            raise Killed
        return generate_batch(model, prompts, *arguments, **options)

    monkeypatch.setattr(harness, "generate_batch", counted)
    limit = 6
    with pytest.raises(Killed):
        measured(nano, out=out)
    kept = tmp_path / "out.answers.jsonl"
    assert len(kept.read_text().splitlines()) == 1 + 5, "the work and one round of answers"
    with kept.open("a") as file:
        file.write('{"task": "json", "numb')
    asked.clear()
    limit = 99
    found = {}

    def run(rank: int) -> None:
        found[rank] = measured(nano, out=out, share=Share(rank, 2))

    processes = [Thread(target=run, args=(rank,), daemon=True) for rank in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    assert found == {0: expected, 1: expected}
    assert len(asked) == 20 - 5, "what was kept is not asked again"
    asked.clear()
    assert measured(nano, out=out) == expected
    assert asked == []
    lines = [json.loads(line) for line in kept.read_text().splitlines()[1:]]
    assert set(lines[0]) == {
        *("task", "number", "settings", "text", "token_ids", "num_forwards", "seconds"),
        *("num_read", "num_agreed"),
    }


@pytest.mark.parametrize("other", ["weights", "settings", "prompts"])
def test_answers_of_other_work_are_refused(nano, tmp_path, monkeypatch, other) -> None:
    how = Harness(out=tmp_path / "out.json")
    evaluate(nano, ["math"], CONFIG, limit=1, harness=how)
    config, limit = CONFIG, 1
    if other == "weights":
        monkeypatch.setattr(nano, "weights", {**nano.weights, "an adapter": "of other values"})
    elif other == "settings":
        config = replace(CONFIG, max_new_tokens=47)
    else:
        limit = 2
    before = (tmp_path / "out.answers.jsonl").read_text()
    with pytest.raises(ArgumentError, match=f"^out: must not lie beside answers of other {other}"):
        evaluate(nano, ["math"], config, limit=limit, harness=how)
    assert (tmp_path / "out.answers.jsonl").read_text() == before


def test_another_program_s_file_is_not_touched(nano, tmp_path) -> None:
    (tmp_path / "out.answers.jsonl").write_text("not json\n")
    how = Harness(out=tmp_path / "out.json")
    with pytest.raises(ArgumentError, match="must have no other program's file"):
        evaluate(nano, ["math"], CONFIG, limit=1, harness=how)
    assert (tmp_path / "out.answers.jsonl").read_text() == "not json\n"


def test_processes_need_a_file_for_their_answers(monkeypatch, capsys) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert refusal(capsys, ["evaluate"]).startswith("out: must be given to processes")


def test_evaluate_reports_each_family_and_the_table_its_rows(capsys, tmp_path) -> None:
    file = tmp_path / "results.json"
    words = ["evaluate", "--suite", "math,json", "--limit", "2", "--max-new-tokens", "4", "--table"]
    words += ["--baseline", str(DEFAULT_CHECKPOINT)]
    assert main([*words, "--gamma", "0.5", "--json", "--out", str(file)]) == 0
    found = last_line(capsys)
    assert found == json.loads(file.read_text("utf-8"))
    assert (found["model"], found["runs_on"]) == ("sbd-nano", "ONNX Runtime, float32")
    assert len(found["circumstances"]["weights_sha256"]) == 64
    assert found["rows"]["NTP"]["families"][0]["tokens_per_forward"] == 1
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
    counts = [
        [row["mean"][key] for key in ("accuracy", "tokens_per_forward")] for row in rows.values()
    ]
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


def test_perplexity_is_exp_of_the_mean_cross_entropy_of_answer_tokens(monkeypatch, nano) -> None:
    monkeypatch.setattr(api, "TEXTS_PER_FORWARD", 4)
    items = held_out("math", 9, 0, "test")
    model, tokenizer = nano.model, nano.tokenizer
    total = count = 0.0
    for prompt, answer in encode_examples(tokenizer, items):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0]
        wanted = logits[len(prompt) - 1 : -1]
        total += cross_entropy(wanted, torch.tensor(answer), reduction="sum").item()
        count += len(answer)
    found = perplexity(nano, {"math": items})["math"]
    assert found == pytest.approx(math.exp(total / count), rel=1e-4)
    assert found > 1
