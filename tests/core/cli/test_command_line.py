"""The command line: exit status, one line of error, one line of JSON."""

import io
import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from sbd_core import Trace
from sbd_core.__main__ import COMMANDS, main
from sbd_core.cli.decoding_flags import pins
from sbd_core.config import SOLVERS
from sbd_core.errors import ArgumentError
from sbd_core.evaluation.handwritten_prompts import handwritten_prompts
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT

ROOT = Path(__file__).parents[3]
COUNTED = ("accuracy", "tokens_per_forward")


@pytest.fixture
def command(tiny_folders):
    """main() with a small model for every decoding command."""
    return lambda *words: main(
        [*words, "--model", str(tiny_folders["llama"]), "--device", "cpu", "--block-size", "4"]
    )


def last_line(capsys) -> dict:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_generate_prints_the_numbers_of_its_trace(command, capsys, tmp_path) -> None:
    file = tmp_path / "trace.json"
    words = ["generate", "2 + 2", "--max-new-tokens", "9", "--json", "--trace", str(file)]
    assert command(*words) == 0
    found, trace = last_line(capsys), Trace.from_json(file.read_text("utf-8"))
    assert found["token_ids"] == list(trace.token_ids)
    assert found["text"] == trace.text
    assert (found["num_tokens"], found["num_forwards"]) == (trace.num_tokens, trace.num_forwards)
    assert found["seconds"] == pytest.approx(trace.seconds, abs=1e-6)
    counts = {"num_tokens", "num_forwards", "rows", "flops", "bytes_read"}
    assert set(found) == {"text", "token_ids", "seconds", *counts}


def test_generate_streams_the_text_that_json_holds(command, capsys) -> None:
    words = ["generate", "2 + 2", "--max-new-tokens", "9", "--solver", "left-to-right"]
    assert command(*words) == 0
    printed = capsys.readouterr()
    assert command(*words, "--json") == 0
    assert printed.out == last_line(capsys)["text"].rstrip("\ufffd")
    assert "forward passes" in printed.err


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
    words = ["evaluate", "--suite", "math,code", "--limit", "5", "--max-new-tokens", "24", "--json"]
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


def test_a_table_of_a_model_with_other_turns_lacks_perplexity_alone(
    capsys, tiny_folders, tmp_path
) -> None:
    words = ["evaluate", "--suite", "json", "--limit", "1", "--max-new-tokens", "4", "--table"]
    other = tmp_path / "other"
    copytree(tiny_folders["llama"], other)
    for file in other.iterdir():
        if file.suffix in (".json", ".jinja"):
            text = file.read_text("utf-8").replace("<user>", "<human>")
            file.write_text(text.replace('embeddings": 128', 'embeddings": 512'), "utf-8")
    assert main([*words, "--model", str(other), "--json"]) == 0
    printed = capsys.readouterr()
    assert "perplexity left out: other: the tokenizer has not got <user>" in printed.err
    found = json.loads(printed.out.splitlines()[-1])
    assert found["perplexity"] == {}
    assert "verify" in found["rows"]


def test_a_sweep_has_every_solver_at_each_of_its_settings(capsys) -> None:
    words = ["evaluate", "--suite", "json", "--limit", "1", "--max-new-tokens", "4", "--sweep"]
    assert main([*words, "--block-size", "4", "--json"]) == 0
    rows = last_line(capsys)["rows"]
    assert {"NTP", "verify", *SOLVERS} == {row.partition(" ")[0] for row in rows}
    passes = {row: data["families"][0]["num_forwards"] for row, data in rows.items()}
    assert passes["top-k 4"] == 2
    assert passes["left-to-right 1"] == 5


def test_flags_reach_the_config(command, capsys, tmp_path) -> None:
    file = tmp_path / "trace.json"
    words = ["generate", "a <m>", "--raw", "--pin", "2=40", "--pin", "0=41", "--seed", "9"]
    words += ["--temperature", "0.5", "--max-new-tokens", "6", "--trace", str(file)]
    words += ["--solver", "top-k", "--reveals", "3", "--by", "margin", "--any-block-size"]
    assert command(*words) == 0
    config = Trace.from_json(file.read_text("utf-8")).config
    assert (config.solver.k, config.solver.by) == (3, "margin")
    assert (config.seed, config.temperature, config.block_size) == (9, 0.5, 4)
    assert config.pinned == {0: 41, 2: 40}
    assert config.is_raw_prompt
    assert config.allows_untrained_block_size


def test_a_dash_reads_the_prompt_from_standard_input(command, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2 + 2"))
    assert command("generate", "-", "--max-new-tokens", "3", "--json") == 0
    from_input = last_line(capsys)["token_ids"]
    assert command("generate", "2 + 2", "--max-new-tokens", "3", "--json") == 0
    assert last_line(capsys)["token_ids"] == from_input


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (["generate", ""], "prompt"),
        (["generate", "a" * 20_000], "prompt"),
        (["generate", "a\ud800"], "prompt"),
        (["generate", "a", "--strategy", "greedy"], "strategy"),
        (["generate", "a", "--solver", "greedy"], "solver"),
        (["generate", "a", "--gamma", "-1"], "gamma"),
        (["generate", "a", "--gamma", "nan"], "gamma"),
        (["generate", "a", "--gamma", "inf"], "gamma"),
        (["generate", "a", "--tau", "0.5"], "tau"),
        (["generate", "a", "--max-new-tokens", "0"], "max_new_tokens"),
        (["generate", "a", "--max-new-tokens", "1000"], "prompt"),
        (["generate", "a", "--temperature", "nan"], "temperature"),
        (["generate", "a", "--seed", "-1"], "seed"),
        (["generate", "a", "--pin", "1"], "pin"),
        (["generate", "a", "--pin", "1=-2"], "pin"),
        (["generate", "a", "--pin", "1=2x"], "pin"),
        (["generate", "a", "--pin", "1=99999"], "pinned[1]"),
        (["generate", "a", "--pin", "999=5"], "pinned offset"),
        (["generate", "a", "--pin", "1=5", "--strategy", "ntp"], "pinned"),
        (["generate", "a", "--trace", "/no/such/folder/t.json"], "trace"),
        (["generate", "a", "--dtype", "int8"], "dtype"),
        (["evaluate", "--suite", "chess"], "task"),
        (["evaluate", "--limit", "0"], "limit"),
        (["evaluate", "--processes", "0"], "processes"),
        (["evaluate", "--split", "dev"], "split"),
        (["evaluate", "--baseline", "a"], "baseline"),
        (["evaluate", "--compare", "/no/such/folder"], "compare"),
        (["evaluate", "--compare", str(DEFAULT_CHECKPOINT), str(DEFAULT_CHECKPOINT)], "compare"),
        (["evaluate", "--compare", str(DEFAULT_CHECKPOINT), "--model", "b"], "compare"),
        (["evaluate", "--compare", "assets", "tests/../assets"], "compare"),
        (["evaluate", "--out", "/no/such/folder/r.json"], "out"),
        (["evaluate", "--out", "assets"], "out"),
    ],
)
def test_bad_arguments_end_with_2_and_one_line(command, capsys, words, argument) -> None:
    words = [*words, "--max-new-tokens", "8"] if "--max-new-tokens" not in words else words
    assert command(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {argument}")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["train", "--stage", "both", "--out", "x"],
        ["train", "--stage", "ntp", "--out", "x", "--steps", "0"],
        ["train", "--stage", "sbd", "--out", "x", "--save-every", "0"],
        ["train", "--stage", "ntp", "--out", "x", "--recipe", "/no/such/recipe.json"],
        ["train", "--stage", "sbd", "--out", "x", "--init", "/no/such/model"],
        ["train", "--stage", "ntp", "--out", "x", "--families", "chess"],
        ["train", "--stage", "ntp", "--out", "x", "--learning-rate", "nan"],
        ["generate", "a", "--model", "/no/such/model"],
    ],
)
def test_a_bad_run_ends_with_2_and_one_line(capsys, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["fly"], ["generate"], ["generate", "a", "--gamma", "x"]])
def test_words_argparse_does_not_know_end_with_2(capsys, words) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    "name", sorted({*COMMANDS} - {"lm-eval"})
)  # which shows the help of lm-eval
def test_every_command_explains_itself(capsys, name) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_pins_are_read_or_refused() -> None:
    assert pins([]) == {}
    assert pins(["3=17", "0=2"]) == {3: 17, 0: 2}
    for text in ("", "=", "1=", "=2", "1", "a=2", "1=2=3", " 1=2", "\u0661=2", "1=" + "9" * 5000):
        with pytest.raises(ArgumentError):
            pins([text])
    with pytest.raises(ArgumentError, match="pin: must name each offset once; got '03=5'"):
        pins(["3=17", "2=1", "03=5"])


HUGE = "9" * 400


@pytest.mark.parametrize("flag", ["--kv-length", "--block-size", "--batch-size", "--nfe-speedup"])
def test_roofline_refuses_a_count_of_400_digits_in_one_line(flag, capsys) -> None:
    assert main(["roofline", flag, HUGE]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("place", [".", "none/file.json", "x" * 300 + "/file.json", "x\0"])
@pytest.mark.parametrize(
    "words", [["bench", "--out"], ["evaluate", "--out"], ["generate", "a", "--trace"]]
)
def test_a_file_that_cannot_be_written_is_refused_before_a_model_is_loaded(
    words, place, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("sbd_core.models.loading.load", None)
    assert main([*words, str(tmp_path / place)]) == 2
    assert "must be a file in a folder that exists and can be written" in capsys.readouterr().err


def run(words: str) -> subprocess.CompletedProcess[str]:
    """A shell command; PY is this Python, running the command line."""
    line = words.replace("PY", f"{sys.executable} -m sbd_core")
    return subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("PY roofline --json > /dev/full", 2),
        ("PY roofline --json > /dev/full 2> /dev/full", 2),
        ("PY roofline --json >&-", 0),
        ("PY roofline --json >&- 2>&-", 0),
        ("PY roofline --device no 2> /dev/full", 2),
        ("PY roofline --device no 2>&-", 2),
        ("set -o pipefail; PY roofline --json | true", 0),
    ],
)
def test_output_that_cannot_be_written_ends_in_one_line_at_most(words, status) -> None:
    done = run(words)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_a_broken_chat_template_is_refused_in_one_line(tiny_folders, tmp_path, capsys) -> None:
    folder = copytree(tiny_folders["llama"], tmp_path / "model")
    for template in ("{% if %}", "{{ messages[7].content.no.such }}", "{{ 1 / 0 }}"):
        (folder / "chat_template.jinja").write_text(template)
        assert main(["generate", "a", "--model", str(folder), "--device", "cpu"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: model: its chat template cannot be used")
        assert error.count("\n") == 1


@pytest.mark.parametrize("file", ["/dev/full", "/dev/zero", ".", "none.json", "x\0"])
def test_measured_times_are_read_from_a_file_that_ends(file, capsys) -> None:
    assert main(["roofline", "--measured", file]) == 2
    assert "must be a results file of bench" in capsys.readouterr().err


def test_a_limit_beyond_memory_is_refused(capsys) -> None:
    assert main(["evaluate", "--limit", HUGE]) == 2
    assert "limit: must be a whole number >= 1 and <= 1000000" in capsys.readouterr().err
