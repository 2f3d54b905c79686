"""generate --prompts: the answers of one process from any number of them, and after a kill."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

import sbd_core
from sbd_core import ArgumentError, DecodeConfig
from sbd_core.__main__ import main
from sbd_core.decoding.prompt_files import answer_prompts, read_prompts
from sbd_core.shared_work import Share
from tests.core.cli.commands import refusal

TEXTS = [f"What is {n} + {n + 1}?" for n in range(7)]
CONFIG = DecodeConfig(max_new_tokens=12, top_k_recorded=0)
FLAGS = ["--max-new-tokens", "12", "--device", "cpu"]


@pytest.fixture
def prompts(tmp_path) -> Path:
    path = tmp_path / "prompts.jsonl"
    rows = [json.dumps({"id": f"q{n}", "prompt": text}) for n, text in enumerate(TEXTS)]
    path.write_text("\n".join(rows) + "\n\n")
    return path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.glob(".*")]


def test_every_line_gets_its_answer_in_order(prompts, tmp_path, nano, capsys) -> None:
    out = tmp_path / "answers.jsonl"
    words = ["generate", "--prompts", str(prompts), "--out", str(out), *FLAGS, "--json"]
    assert main([*words, "--batch-size", "3"]) == 0
    traces = [sbd_core.generate(nano, text, CONFIG) for text in TEXTS]
    found = lines(out)
    assert [row["id"] for row in found] == [f"q{n}" for n in range(7)]
    assert [row["text"] for row in found] == [trace.text for trace in traces]
    assert [row["num_forwards"] for row in found] == [trace.num_forwards for trace in traces]
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["num_prompts"] == 7
    assert said["num_tokens"] == sum(trace.num_tokens for trace in traces)
    assert hidden(tmp_path) == []


def test_shares_are_merged_by_whoever_comes_last(prompts, tmp_path, nano) -> None:
    rows = read_prompts("prompts", prompts)
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    assert answer_prompts(nano, rows, CONFIG, alone, batch_size=4, share=Share())
    for rank in (2, 0):
        share = Share(rank, 3)
        assert answer_prompts(nano, rows, CONFIG, shared, batch_size=2, share=share) is None
    assert not shared.exists()
    assert answer_prompts(nano, rows, CONFIG, shared, batch_size=2, share=Share(1, 3))
    assert shared.read_text() == alone.read_text()
    assert hidden(tmp_path) == []


def test_a_run_that_was_cut_off_decodes_only_what_is_missing(prompts, tmp_path, nano) -> None:
    rows = read_prompts("prompts", prompts)
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    assert answer_prompts(nano, rows, CONFIG, whole, batch_size=1, share=Share())

    class Killed(Exception):
        pass

    def kill_after_three(done: int, of: int) -> None:
        if done == 3:
            raise Killed

    options = {"batch_size": 1, "share": Share(), "report": kill_after_three}
    with pytest.raises(Killed):
        answer_prompts(nano, rows, CONFIG, out, **options)
    [part] = hidden(tmp_path)
    with (tmp_path / part).open("a") as file:
        file.write('[5, {"prompt": "cut o')
    counts: list[int] = []
    options["report"] = lambda done, of: counts.append(done)
    assert answer_prompts(nano, rows, CONFIG, out, **options)
    assert counts == [3, 4, 5, 6, 7]
    assert out.read_text() == whole.read_text()
    other = DecodeConfig(max_new_tokens=5, top_k_recorded=0)
    assert answer_prompts(nano, rows, other, out, batch_size=8, share=Share())
    assert all(row["num_tokens"] <= 5 for row in lines(out))


def test_a_model_with_other_weights_does_not_continue_the_run_of_another(
    prompts, tmp_path, tiny_folders
) -> None:
    """Even one of the same name and size, such as a later save of the same training."""
    again = Path(shutil.copytree(tiny_folders["llama"], tmp_path / "other" / "llama"))
    weights = load_file(again / "model.safetensors")
    weights["lm_head.weight"] = -weights["lm_head.weight"]
    save_file(weights, again / "model.safetensors", {"format": "pt"})
    one, other = (sbd_core.load(f, device="cpu") for f in (tiny_folders["llama"], again))
    assert (one.name, one.num_parameters) == (other.name, other.num_parameters)
    rows, out = read_prompts("prompts", prompts), tmp_path / "out"
    assert answer_prompts(one, rows, CONFIG, out, batch_size=4, share=Share(0, 2)) is None
    with pytest.raises(ArgumentError, match="answers of other weights"):
        answer_prompts(other, rows, CONFIG, out, batch_size=4, share=Share())
    assert not out.exists()


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999", "-1.5e400"])
def test_answers_are_json_whatever_numbers_a_record_held(number, tmp_path, nano) -> None:
    (tmp_path / "prompts.jsonl").write_text(f'{{"prompt": "2 + 2", "score": [{number}, 1.5]}}')
    rows = read_prompts("prompts", tmp_path / "prompts.jsonl")
    assert answer_prompts(nano, rows, CONFIG, tmp_path / "out", batch_size=1, share=Share())
    assert json.loads((tmp_path / "out").read_text(), parse_constant=pytest.fail)["score"] == [
        None,
        1.5,
    ]


DIGITS = "1" * 10_000


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f'{{"prompt": "a"}}\n{{"prompt": {DIGITS}}}', "line 2 must be JSON .*more digits"),
        ('{"prompt": ' + "[" * 100_000, "line 1 must be JSON .*nested too deep"),
        ('{"prompt": "a"}\n{"text": "b"}\n', "line 2 needs a prompt"),
        ('{"prompt": "a"}\nnot json\n', "line 2"),
        ('{"prompt": 5}\n', "line 1"),
        ("[1]\n", "record 1"),
        ("\n", "at least one record"),
    ],
)
def test_a_bad_file_of_prompts_names_the_line(text, rule, tmp_path) -> None:
    (tmp_path / "prompts.jsonl").write_text(text)
    with pytest.raises(ArgumentError, match=rule):
        read_prompts("prompts", tmp_path / "prompts.jsonl")


def test_bad_flags_are_one_line(prompts, tmp_path, capsys) -> None:
    out = str(tmp_path / "out.jsonl")
    for words, argument in (
        (["--prompts", str(prompts)], "out"),
        (["--prompts", str(tmp_path / "none"), "--out", out], "prompts"),
        (["--prompts", str(prompts), "--out", out, "--batch-size", "0"], "batch_size"),
        (["--prompts", str(prompts), "--out", out, "--trace", "x"], "trace"),
        (["--prompts", str(prompts), "--out", str(tmp_path / "no" / "out")], "out"),
        (["a prompt", "--out", out], "out"),
    ):
        assert refusal(capsys, ["generate", *words]).startswith(f"{argument}: ")
