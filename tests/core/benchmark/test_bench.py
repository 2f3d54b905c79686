"""What bench says is what happened: whole rows, reasons for the missing ones, honest counting."""

import json
import sys
import time

import pytest

from sbd_core import DecodeConfig, generate, load
from sbd_core.__main__ import main
from sbd_core.benchmark import forward_passes as passes
from sbd_core.benchmark import synthetic_shapes as shapes
from sbd_core.benchmark.forward_passes import (
    matrices,
    profile,
    share_outside_forward,
)
from sbd_core.benchmark.methods import (
    Times,
    methods,
    ours,
)
from sbd_core.benchmark.predrafts import num_rows
from sbd_core.benchmark.report import row
from sbd_core.roofline import Calibrated
from tests.conftest import loaded, unfused
from tests.core.decoding.chance_models import chance_model
from tests.core.decoding.prompts import random_ids
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny


def bench(folder, capsys, *words: str) -> dict:
    flags = ["--model", str(folder), "--device", "cpu", "--limit", "1", "--max-new-tokens", "6"]
    assert main(["bench", *flags, "--json", *words]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_every_peer_has_a_row_of_every_family(trained, capsys, tmp_path) -> None:
    file = tmp_path / "bench.json"
    found = bench(trained, capsys, "--out", str(file), "--assistant", str(trained))
    assert found == json.loads(file.read_text("utf-8"))
    names = list(found["rows"])
    assert [name for name in names if "transformers" in name] == names[:3]
    assert sum("verify" in name for name in names) == 3
    assert sum("sbd" in name for name in names) == 2
    assert found["left_out"] == []
    for name, of_method in found["rows"].items():
        assert len(of_method["families"]) == 6
        for cell in of_method["families"].values():
            assert cell["ratio"]["median"] > 0
            exact = name.startswith(("ntp", "verify", "transformers"))
            assert not exact or cell["num_equal_to_baseline"] == cell["num_prompts"] == 1
    assert found["dtype"] == "float32"
    assert "1" in found["baseline_seconds_by_threads"]
    assert found["runs_on"] == "ONNX Runtime, float32"
    assert set(found["against_matrices"]) == {"1", "16", "32"}
    assert all(0 < share < 1 for share in found["share_outside_forward"].values())
    # The file has few digits of a forward pass this short.
    assert Calibrated.read(file).slowdown(16, 64) == pytest.approx(
        found["forwards"]["64"]["16"]["slowdown"], rel=0.02
    )


def test_rows_that_a_model_cannot_run_are_left_out_with_the_reason(tiny_folders, tmp_path) -> None:
    found, left_out = methods(loaded(tiny_folders["gpt2"]), 4)
    assert [method.name for method in found if "transformers" not in method.name] == ["ntp"]
    assert any("sbd, verify" in line and "training" in line for line in left_out)
    maskless = loaded(save_tiny(tmp_path / "maskless", "gpt2", maskless_tokenizer()))
    _, left_out = methods(maskless, 4)
    assert any("sbd, verify" in line and "no mask token" in line for line in left_out)


def test_an_assistant_of_another_tokenizer_is_refused(trained, tmp_path, capsys) -> None:
    other = save_tiny(tmp_path / "other", "gpt2", maskless_tokenizer())
    words = ["bench", "--model", str(trained), "--assistant", str(other), "--device", "cpu"]
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: assistant: ")


def test_the_profile_and_the_share_outside_leave_the_engine_as_it_was(trained) -> None:
    for model in (loaded(trained), unfused(loaded(trained))):
        config = ours(model, 8)["verify, k=8"]
        prompts = random_ids(2, model.vocabulary_size)
        before = [generate(model, prompt, config).token_ids for prompt in prompts]
        found = profile(model, prompts, config)
        assert 0 < share_outside_forward(model, prompts, config) < 1
        parts = found["milliseconds"]
        assert sum(parts.values()) == pytest.approx(found["total_milliseconds"], abs=0.01)
        assert parts["aten::mm"] > 0 or parts["aten::addmm"] > 0
        assert found["num_passes"] > 0
        assert [generate(model, prompt, config).token_ids for prompt in prompts] == before


def test_the_share_outside_is_what_no_forward_takes(trained) -> None:
    """A forward that only waits: whoever looks elsewhere calls most of the time outside."""
    model = loaded(trained)
    forward = model.backend.forward

    def slow_forward(requests):
        time.sleep(0.01)
        return forward(requests)

    model.backend.forward = slow_forward
    prompts, config = random_ids(2, model.vocabulary_size), ours(model, 8)["verify, k=8"]
    assert share_outside_forward(model, prompts, config) < 0.4


def test_predrafts_are_measured_at_every_setting_and_leave_the_answers(
    trained, capsys, tmp_path
) -> None:
    file = tmp_path / "predrafts.json"
    flags = ["--model", str(trained), "--device", "cpu", "--limit", "1", "--max-new-tokens", "20"]
    assert main(["bench", *flags, "--predrafts", "--out", str(file)]) == 0
    table = capsys.readouterr().out
    rows = json.loads(file.read_text("utf-8"))["predrafts"]
    assert len(rows) == 12
    assert [each["num_predrafts"] for each in rows[:4]] == [0, 1, 2, 4]
    assert rows[0]["draft_threshold"] == 0.5
    assert rows[0]["seconds_over_first"] == 1.0
    for each in rows:
        assert each["num_equal_to_first"] == each["num_prompts"] == 6
        assert f"{each['tokens_per_forward']:.2f}" in table
        assert set(each["roofline_speedup_over_first"]) == {"batch 1", "batch 8"}
    plain, *ahead = (each for each in rows if each["draft_threshold"] == 0.15)
    assert all(each["rows_per_forward"] >= plain["rows_per_forward"] for each in ahead)


def test_rows_are_those_that_were_fed() -> None:
    model = chance_model(2, agreement=0.7, end_bias=-9.0)
    config = DecodeConfig(
        strategy="verify", num_predrafts=3, draft_threshold=0.0, max_new_tokens=30
    )
    trace = generate(model, "ab", config)
    assert num_rows(trace) == sum(causal + block for _, causal, block in model.calls[1:])


def test_ratios_are_taken_prompt_by_prompt() -> None:
    base, fast = Times([1.0, 2.0, 4.0], [10, 10, 10], 3), Times([0.5, 0.5, 0.5], [10, 10, 5], 1)
    found = row("fast", "base", {"math": {"base": base, "fast": fast}})
    assert found["families"]["math"]["ratio"] == {"median": 4.0, "low": 3.0, "high": 4.0}
    assert found["families"]["math"]["num_equal_to_baseline"] == 1


def test_passes_of_random_weights_are_measured_and_the_rest_named(
    nano, capsys, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(shapes, "CACHES", (64, 640))
    monkeypatch.setattr(passes, "NUM_RUNS", 2)
    file = tmp_path / "shape.json"
    words = ["--shape", "--device", "cpu", "--max-new-tokens", "20", "--out", str(file)]
    assert main(["bench", *words]) == 0
    assert "milliseconds_1 " in capsys.readouterr().out
    found = json.loads(file.read_text("utf-8"))
    assert found["shapes"]["weight_bytes"] == sum(4 * m.numel() for m in matrices(nano))
    assert set(found["shapes"]["batches"]["1"]) == {"64", "640", "growth"}
    assert any("llama-3.1-8b" in line and "CUDA" in line for line in found["left_out"])
    replay = found["shapes"]["replay"]
    assert 0 < replay["num_tokens"] <= 20
    speedup = replay["num_tokens"] / replay["num_passes"]
    assert replay["nfe_speedup"] == pytest.approx(speedup, abs=0.001)
    assert replay["wall_clock_speedup"] > 0


def test_a_model_whose_decode_cannot_be_replayed_is_named(trained, capsys) -> None:
    assert main(["bench", "--shape", "--model", str(trained), "--device", "cpu"]) == 2
    assert "error: model: must be trained on blocks of 16" in capsys.readouterr().err


def test_an_adapter_is_measured_by_row_policy(adapted, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    verifying = {name: c for name, c in ours(adapted, 6).items() if c.strategy == "verify"}
    policies = [config.row_policy for config in verifying.values()]
    assert policies == ["fewest-passes", "fastest"]
    for name, config in verifying.items():
        assert f"{config.row_policy}, k={config.block_size}" in name
        assert generate(adapted, [5, 6, 7], config).num_tokens <= 6


def test_dtypes_are_measured_by_rows_and_strategy(trained, capsys, tmp_path) -> None:
    file = tmp_path / "dtypes.json"
    flags = ["--model", str(trained), "--device", "cpu", "--limit", "1", "--max-new-tokens", "6"]
    assert main(["bench", *flags, "--dtypes", "--out", str(file)]) == 0
    table = capsys.readouterr().out
    found = json.loads(file.read_text("utf-8"))
    # int4 is refused where a processor's products are not exact.
    takes_int4 = load(trained, device="cpu", dtype="int4").backend.name == "ONNX Runtime"
    assert set(found["dtypes"]) == {"float32", "int8", *(["int4"] if takes_int4 else [])}
    for cell in found["dtypes"].values():
        assert list(cell["rows"]) == ["1", "5", "9", "17", "33"]
        assert cell["rows"]["1"]["over_one_row"] == 1
        assert {"ntp", "verify, k=8"} <= set(cell["tokens_per_second"])
        assert all(rate > 0 for rate in cell["tokens_per_second"].values())
    assert "dtypes, int8, rows" in table
    assert found["others"]["transformers generate()"] > 0
    assert found["circumstances"]["vectors"] in (None, "AMX", "AVX-512", "AVX2", "NEON")


@pytest.mark.parametrize(
    ("flags", "rule"),
    [(["--dtypes"], "needs llama.cpp: pip install"), ([], "requires --dtypes")],
)
def test_weights_for_llama_cpp_are_refused_where_they_cannot_be_read(
    trained, capsys, monkeypatch, flags, rule
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    words = ["bench", "--model", str(trained), "--device", "cpu", "--gguf", "some.gguf"]
    assert main([*words, *flags]) == 2
    assert f"error: gguf: {rule}" in capsys.readouterr().err


def test_dtypes_of_a_model_that_cannot_be_exported_are_refused(tiny_folders, capsys) -> None:
    words = ["bench", "--model", str(tiny_folders["gpt2"]), "--device", "cpu", "--dtypes"]
    assert main(words) == 2
    assert "error: model: must be Llama-shaped" in capsys.readouterr().err
