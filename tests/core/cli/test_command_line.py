"""The command line: exit status, one line of error, one line of JSON, also for hostile words."""

import io
import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import pytest
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from sbd_core import Trace
from sbd_core.__main__ import COMMANDS, main
from sbd_core.cli.decoding_flags import pins
from sbd_core.cli.generate import _new_texts
from sbd_core.cost import total_cost
from sbd_core.errors import ArgumentError
from sbd_core.models.hf_model import byte_of_character, token_text
from tests.core.cli.commands import last_line, refusal

ROOT = Path(__file__).parents[3]
HUGE = "9" * 400


@pytest.fixture
def model(tiny_folders) -> list[str]:
    """Flags that name a small model, for every decoding command."""
    return ["--model", str(tiny_folders["llama"]), "--device", "cpu", "--block-size", "4"]


@pytest.fixture
def command(model):
    """main() with the small model."""
    return lambda *words: main([*words, *model])


def test_generate_prints_the_numbers_of_its_trace(command, capsys, tmp_path) -> None:
    file = tmp_path / "trace.json"
    words = ["generate", "2 + 2", "--max-new-tokens", "9", "--json", "--trace", str(file)]
    assert command(*words) == 0
    found, trace = last_line(capsys), Trace.from_json(file.read_text("utf-8"))
    assert found["token_ids"] == list(trace.token_ids)
    assert found["text"] == trace.text
    assert (found["num_tokens"], found["num_forwards"]) == (trace.num_tokens, trace.num_forwards)
    assert found["seconds"] == pytest.approx(trace.seconds, abs=1e-6)
    assert trace.costs is not None
    whole = total_cost(trace.costs)
    assert [found[name] for name in ("rows", "flops", "bytes_read")] == [
        *(whole.rows, whole.flops, whole.bytes_read)
    ]
    counts = {"num_tokens", "num_forwards", "rows", "flops", "bytes_read"}
    assert set(found) == {"text", "token_ids", "seconds", *counts}


def test_generate_streams_the_text_that_json_holds(command, capsys) -> None:
    words = ["generate", "2 + 2", "--max-new-tokens", "9", "--solver", "left-to-right"]
    assert command(*words) == 0
    printed = capsys.readouterr()
    assert command(*words, "--json") == 0
    assert printed.out == last_line(capsys)["text"]
    assert "forward passes" in printed.err


@pytest.mark.parametrize("size", [1, 2, 9])
def test_what_follows_a_broken_byte_is_printed(size) -> None:
    """Texts of tokens that are bytes, as Llama 2 has them, and of byte-level BPE."""
    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"\u2581so": 256, "!": 257}
    fallback = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    fallback.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    alphabet = {byte: character for character, byte in byte_of_character().items()}
    level = Tokenizer(models.BPE({alphabet[byte]: byte for byte in range(256)}, []))
    level.decoder = decoders.ByteLevel()
    for tokenizer, words in ((fallback, [256, 257]), (level, [*b" so!"])):
        for data in (b"\xc3\xa9", b"\xc3\xa9\xf0", b"\xf0\x9f\x98\x80\xf0\x9f", b"\xc3"):
            for ids in ([*words, *data, *words], [*words, *data]):
                parts = [ids[start : start + size] for start in range(0, len(ids), size)]
                events = [SimpleNamespace(committed=part) for part in parts]
                texts = list(_new_texts(tokenizer, events))
                assert "".join(texts) == tokenizer.decode(ids)
                if size == 1:
                    assert texts[len(words) - 1], "what is settled does not wait"


def test_lone_bytes_of_every_alphabet_show_in_hexadecimal() -> None:
    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    assert [token_text(fast, byte) for byte in (0xC3, 0x41)] == ["\\xC3", "A"]


def test_a_console_that_is_not_utf_8_gets_replacements(tiny_folders, tmp_path, monkeypatch) -> None:
    """The name of the model's folder, which the message has, and its words, which are bytes."""
    folder = copytree(tiny_folders["llama"], tmp_path / "\u65e5")
    words = ["generate", "\u03a9 \u2192 \u65e5", "--max-new-tokens", "40", "--temperature", "3"]
    words += ["--model", str(folder), "--device", "cpu"]
    said = {}
    for more in ("", "--json"):
        out, error = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "ascii"))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(error, "ascii", "backslashreplace"))
        assert main([*words, *more.split()]) == 0
        said[more] = out.getvalue()
    assert b"?" in said[""]
    assert "\ufffd" in json.loads(said["--json"])["text"]


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
        (["generate", "a", "--solver", "greedy"], "solver"),
        (["generate", "a", "--tau", "0.5"], "tau"),
        (["generate", "a", "--max-new-tokens", "1000"], "prompt"),
        (["generate", "a", "--pin", "1"], "pin"),
        (["generate", "a", "--pin", "1=5", "--strategy", "ntp"], "pinned"),
        (["generate", "a", "--dtype", "int7"], "dtype"),
        (["evaluate", "--suite", "chess"], "task"),
        (["evaluate", "--limit", "0"], "limit"),
        (["evaluate", "--limit", HUGE], "limit: must be a whole number >= 1 and <= 1000000"),
        (["evaluate", "--split", "dev"], "split"),
        (["evaluate", "--baseline", "a"], "baseline"),
        (["evaluate", "--out", "assets"], "out"),
    ],
)
def test_bad_arguments_end_with_2_and_one_line(model, capsys, words, argument) -> None:
    words = [*words, "--max-new-tokens", "8"] if "--max-new-tokens" not in words else words
    assert refusal(capsys, [*words, *model]).startswith(argument)


@pytest.mark.parametrize(
    "words", sorted({*COMMANDS, "export hub", "export web"} - {"export", "lm-eval", "serve"})
)  # lm-eval and serve show the help of lm-eval and vLLM, too
def test_every_command_explains_itself(capsys, words) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*words.split(), "--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert "--json" in said
    assert "None" not in said


def test_the_help_of_a_flag_ends_with_its_default(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for words in ("examples per task (100)", "most tokens to write (256)", "share the work -"):
        assert words in said


def test_pins_are_read_or_refused() -> None:
    assert pins([]) == {}
    assert pins(["3=17", "0=2"]) == {3: 17, 0: 2}
    for text in ("", "=", "1=", "=2", "1", "a=2", "1=2=3", " 1=2", "\u0661=2", "1=" + "9" * 5000):
        with pytest.raises(ArgumentError):
            pins([text])
    with pytest.raises(ArgumentError, match="pin: must name each offset once; got '03=5'"):
        pins(["3=17", "2=1", "03=5"])


@pytest.mark.parametrize("place", [".", "none/file.json", "x" * 300 + "/file.json", "x\0"])
@pytest.mark.parametrize(
    "words", [["bench", "--out"], ["evaluate", "--out"], ["generate", "a", "--trace"]]
)
def test_a_file_that_cannot_be_written_is_refused_before_a_model_is_loaded(
    words, place, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("sbd_core.models.loading.load", None)
    said = refusal(capsys, [*words, str(tmp_path / place)])
    assert "must be a file in a folder that exists and can be written" in said


def run(words: str) -> subprocess.CompletedProcess[str]:
    """A shell command; PY is this Python, running the command line."""
    line = words.replace("PY", f"{sys.executable} -m sbd_core")
    return subprocess.run(
        ["/bin/bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("PY roofline --json > /dev/full 2> /dev/full", 2),
        ("PY roofline --json >&- 2>&-", 0),
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


DEEP = "deep.json"
"""A file nested too deeply; so is the config.json of the folder where the commands run."""
LINES = [
    ["generate", "a", "--model", "."],
    ["generate", "--prompts", DEEP, "--out", "answers.jsonl"],
    ["generate", "a", "--block-size", HUGE],
    ["generate", "a", "--gamma", "1e400"],
    ["generate", "a", "--seed", "²"],
    ["generate", "a", "--model", "\x00"],
    ["generate", "a", "--trace", "é\n/x"],
    ["evaluate", "--data-seed", "0x10"],
    ["generate", "--prompts", "/dev/zero", "--out", "answers.jsonl"],
    ["bench", "--limit", "nan"],
    *(["roofline", flag, HUGE] for flag in ("--kv-length", "--block-size", "--batch-size")),
    ["roofline", "--model", "."],
    ["roofline", "--nfe-speedup", "-inf"],
    ["train", "--stage", "sbd", "--recipe", DEEP, "--out", "trained"],
    ["train", "--stage", "sbd", "--steps", HUGE, "--out", "trained"],
    ["train", "--stage", "both", "--out", "x"],
    ["train", "--stage", "sbd", "--out", "x", "--save-every", "0"],
    ["train", "--stage", "ntp", "--out", "x", "--recipe", "/no/such/recipe.json"],
    ["train", "--stage", "sbd", "--out", "x", "--init", "/no/such/model"],
    ["train", "--stage", "ntp", "--out", "x", "--tasks", "chess"],
    ["generate", "a", "--model", "/no/such/model"],
    *([], ["fly"], ["generate"], ["generate", "a", "--gamma", "x"]),
    *(["export"], ["export", "moon"], ["export", "hub"]),
]


@pytest.mark.parametrize(
    "words", LINES, ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode()
)
def test_a_bad_or_hostile_command_line_ends_with_2_and_one_line(
    words, tmp_path, monkeypatch, capsys
):
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
