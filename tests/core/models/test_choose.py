"""load() chooses a backend; a graph in the cache folder is whole or made anew."""

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import sbd_core
from sbd_core import DecodeConfig, generate
from sbd_core.models import runtime
from sbd_core.models.backends.choose import prepare_for_many_texts
from sbd_core.models.backends.onnx import build
from sbd_core.models.backends.onnx.export import GRAPH_FILE, WEIGHTS_FILE, Exporter
from tests.conftest import loaded
from tests.core.cli.commands import python

CONFIG = DecodeConfig(strategy="verify", block_size=4, max_new_tokens=12)
PROMPT = (5, 6, 7)


@pytest.fixture
def kept(monkeypatch, tmp_path) -> Path:
    """The empty folder where graphs are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sbd_core" / "graphs"


@pytest.fixture
def folder(tiny_folders) -> Path:
    return tiny_folders["llama"]


def lines(caplog) -> list[str]:
    """Messages of sbd_core in the log."""
    return [record.getMessage() for record in caplog.records if "sbd_core" in record.name]


@pytest.mark.parametrize(
    ("name", "dtype", "runs_on", "said"),
    [
        ("llama", "auto", "ONNX Runtime, float32", []),
        ("qwen2", "int8", "ONNX Runtime, int8", []),
        ("qwen3", "int8", "ONNX Runtime, int8", []),
        ("an adapter", None, "ONNX Runtime, float32", []),
        ("gpt2", "auto", "transformers, float32", []),
        (
            *("gpt2", "int8", "transformers, float32"),
            [
                "gpt2 runs in PyTorch in float32, not in int8: "
                "models of type gpt2 cannot be exported"
            ],
        ),
        ("llama", "float16", "transformers, float16", []),
    ],
)
def test_a_known_shape_on_a_cpu_runs_in_onnx_runtime(
    tiny_folders, adapter_folder, kept, caplog, name, dtype, runs_on, said
) -> None:
    folder = {**tiny_folders, "an adapter": adapter_folder}[name]
    model = sbd_core.load(folder, device="cpu", dtype=dtype)
    assert model.runs_on == runs_on
    assert lines(caplog) == said
    assert len(list(kept.glob("*"))) == ("ONNX" in runs_on)
    assert generate(model, PROMPT, CONFIG).num_tokens == 12


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_many_texts_on_a_cpu_are_read_in_one_fused_pass(folder, dtype) -> None:
    model = sbd_core.load(folder, device="cpu", dtype=dtype)
    before = model.forward(model.new_cache(), PROMPT, (0, 0), 1)
    prepare_for_many_texts(model)
    assert model.runs_on == f"PyTorch, {dtype}"
    after = model.forward(model.new_cache(), PROMPT, (0, 0), 1)
    rounding = 1e-4 if dtype == "float32" else 0.05
    assert (before - after).abs().max() < rounding * before.abs().max()


def test_without_onnxruntime_pytorch_decodes_and_one_line_says_so(folder, kept, tmp_path) -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "import logging, sbd_core; logging.basicConfig()\n"
        f"model = sbd_core.load({str(folder)!r}, device='cpu')\n"
        "config = sbd_core.DecodeConfig(max_new_tokens=8)\n"
        f"print(model.runs_on, sbd_core.generate(model, {PROMPT}, config).num_tokens > 0)"
    )
    done = python(code)
    assert done.stdout == "PyTorch, float32 True\n"
    [line] = done.stderr.splitlines()
    assert "llama runs in PyTorch, not in ONNX Runtime: onnxruntime or onnx cannot be" in line


def test_what_is_kept_is_not_written_again_and_damage_is_mended(folder, kept, monkeypatch) -> None:
    expected = generate(loaded(folder), PROMPT, CONFIG).token_ids
    sbd_core.load(folder, device="cpu")
    [graph] = kept.iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(Exporter, "write", None)  # calling it would raise
        sbd_core.load(folder, device="cpu")
    cut, emptied = (lambda file: os.truncate(file, 9)), (lambda file: os.truncate(file, 0))
    for name in (GRAPH_FILE, WEIGHTS_FILE):
        for damage in (cut, Path.unlink, emptied):
            damage(graph / name)
            model = sbd_core.load(folder, device="cpu")
            assert model.runs_on == "ONNX Runtime, float32"
            assert generate(model, PROMPT, CONFIG).token_ids == expected
            assert list(kept.iterdir()) == [graph], "something was left behind"


def test_other_weights_and_dtypes_have_graphs_of_their_own(tiny_folders, kept) -> None:
    for name, dtype in (("llama", "auto"), ("llama", "int8"), ("mistral", "auto")):
        sbd_core.load(tiny_folders[name], device="cpu", dtype=dtype)
    model = loaded(tiny_folders["llama"])
    with torch.no_grad():
        model.model.model.norm.weight[-1] += 1
    build.build(model.model, "float32")
    assert len(list(kept.iterdir())) == 4


def test_two_that_write_at_once_leave_one_whole_graph(folder, kept) -> None:
    """Both are writing before either has moved its graph into the cache, as two processes may."""
    model, both = loaded(folder).model, threading.Barrier(2, timeout=60)

    def write(place: Path) -> None:
        Exporter(model).write(place)
        both.wait()

    def one(_: int) -> bool:
        with build.graph_folder("key", write) as found:
            return found == kept / "key" and len(build.sessions_of(found, 1)) == 1

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(one, range(2))) == [True, True]
    assert list(kept.iterdir()) == [kept / "key"]


def test_a_killed_process_leaves_nothing_that_is_used_or_kept(folder, kept) -> None:
    half = kept / ".key.1-2.new"
    half.mkdir(parents=True)
    (half / GRAPH_FILE).write_bytes(b"half")
    sbd_core.load(folder, device="cpu")
    assert half.exists(), "it may be another process at work"
    os.utime(half, (0, 0))
    shutil.rmtree(next(path for path in kept.iterdir() if path != half))
    sbd_core.load(folder, device="cpu")
    assert len(list(kept.iterdir())) == 1
    assert not half.exists()


def test_a_cache_folder_that_cannot_be_written_is_done_without(folder, kept, tmp_path) -> None:
    (tmp_path / "sbd_core").write_text("a file where the folder would be")
    model = sbd_core.load(folder, device="cpu")
    assert model.runs_on == "ONNX Runtime, float32"
    assert generate(model, PROMPT, CONFIG).token_ids == (
        generate(loaded(folder), PROMPT, CONFIG).token_ids
    )


def test_a_full_disk_is_one_line_and_pytorch_decodes(folder, kept, monkeypatch, caplog) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Exporter, "write", full)
    model = sbd_core.load(folder, device="cpu")
    assert model.runs_on == "PyTorch, float32"
    assert lines(caplog) == [
        "llama runs in PyTorch, not in ONNX Runtime: [Errno 28] No space left on device"
    ]
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize(
    ("quota", "period", "count"),
    [("max 100000", "", 8), ("150000 100000", "", 2), ("300000", "100000", 3), ("-1", "100000", 8)],
)
def test_cores_are_those_of_the_affinity_and_the_quota(
    monkeypatch, tmp_path, quota, period, count
) -> None:
    monkeypatch.setattr(runtime.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    files = str(tmp_path / "quota"), str(tmp_path / "period") if period else ""
    (tmp_path / "quota").write_text(quota + "\n")
    (tmp_path / "period").write_text(period + "\n")
    monkeypatch.setattr(runtime, "CGROUP_FILES", (("/nowhere", ""), files))
    assert runtime.usable_cores() == count
