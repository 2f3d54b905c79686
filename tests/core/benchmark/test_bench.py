"""Figures of bench: whole rows, reasons for the missing ones, honest counting."""

import json
import sys
from pathlib import Path

import pytest

from sbd_core import generate
from sbd_core.__main__ import main
from sbd_core.benchmark import forwards
from sbd_core.benchmark.api import OptionalMethods, Timed, methods_left_out, row, time_methods
from sbd_core.benchmark.methods import (
    BENCH_ROWS,
    Method,
    TimedAnswer,
    by_engine,
    by_transformers,
    ours,
)
from sbd_core.roofline import Calibrated
from sbd_core.tasks import held_out
from tests.conftest import loaded
from tests.core.models.tiny_models import maskless_tokenizer, save_tiny, tiny_tokenizer

RANGE = {"min_block_size": 2, "max_block_size": 8}


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a random model that says it had Set Block Decoding training."""
    folder = tmp_path_factory.mktemp("bench") / "llama"
    reach = {"max_position_embeddings": 1024}
    return save_tiny(folder, "llama", tiny_tokenizer(), set_block_decoding=RANGE, **reach)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch) -> None:
    """Times of single forward passes are shown here, not judged."""
    monkeypatch.setattr(forwards, "NUM_RUNS", 3)
    monkeypatch.setattr(forwards, "NUM_WARM_UPS", 1)


def bench(folder, capsys, *words: str) -> dict:
    flags = ["--model", str(folder), "--device", "cpu", "--limit", "1", "--max-new-tokens", "6"]
    assert main(["bench", *flags, "--json", *words]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_every_method_has_a_row_of_every_task(trained, capsys, tmp_path) -> None:
    file = tmp_path / "bench.json"
    found = bench(trained, capsys, "--out", str(file), "--assistant", str(trained))
    assert found == json.loads(file.read_text("utf-8"))
    names = list(found["rows"])
    assert [name for name in names if "transformers" in name] == names[:3]
    assert sum("verify" in name for name in names) == 2
    assert sum("sbd" in name for name in names) == 2
    assert found["left_out"] == []
    for name, of_method in found["rows"].items():
        assert len(of_method["families"]) == of_method["num_prompts"] == 6
        for cell in of_method["families"].values():
            assert cell["ratio"]["median"] > 0
            exact = name.startswith(("ntp", "verify", "transformers"))
            assert not exact or cell["num_equal_to_baseline"] == cell["num_prompts"] == 1
        assert (of_method["num_draft_forwards"] > 0) == ("assistant" in name)
        assert 0 <= of_method["num_right"] <= 6
    assert found["rows"]["ntp"]["tokens_per_forward"] == 1
    assert found["rows"]["ntp"]["rows_per_forward"] == 1
    assert found["rows"]["verify, k=8, 41 rows"]["rows_per_forward"] > 1
    assert found["dtype"] == "float32"
    assert "1" in found["baseline_seconds_by_threads"]
    assert found["runs_on"] == "ONNX Runtime, float32"
    # The file has few digits of a forward pass this short.
    assert Calibrated.read(file).slowdown(16, 64) == pytest.approx(
        found["forwards"]["64"]["16"]["slowdown"], rel=0.02
    )


@pytest.mark.filterwarnings("ignore")
def test_every_forward_pass_is_counted(trained) -> None:
    model, prompt = loaded(trained), [10, 20, 30, 20, 30]
    plain, look_up, assisted = (
        each.answer(prompt) for each in by_transformers(model, 12, assistant=model)
    )
    assert plain.num_forwards == len(plain.token_ids) == 12
    assert plain.token_ids == look_up.token_ids == assisted.token_ids
    assert look_up.num_forwards <= 12
    # A model that assists itself is always right.
    assert assisted.num_forwards < 6 < assisted.num_draft_forwards
    assert plain.num_draft_forwards == look_up.num_draft_forwards == 0
    [ntp] = by_engine(model, {"ntp": ours(model, 12)["ntp"]})
    answer = ntp.answer(prompt)
    assert (answer.token_ids, answer.num_forwards) == (plain.token_ids, plain.num_forwards)
    assert answer.num_rows == 12 - 1, "the prompt's are left out"


def test_methods_that_a_model_cannot_run_are_left_out_with_the_reason(tiny_folders, tmp_path):
    model = loaded(tiny_folders["gpt2"])
    assert list(ours(model, 4)) == ["ntp"]
    assistant, blocks = methods_left_out(model, OptionalMethods())
    assert assistant.startswith("transformers generate(), assistant: left out")
    assert blocks.startswith("sbd, verify: left out, ")
    assert blocks.endswith("training")
    maskless = loaded(save_tiny(tmp_path / "maskless", "gpt2", maskless_tokenizer()))
    [line] = methods_left_out(maskless, OptionalMethods(assistant=maskless))
    assert line.endswith("no mask token")


def test_an_assistant_of_another_tokenizer_is_refused(trained, tmp_path, capsys) -> None:
    other = save_tiny(tmp_path / "other", "gpt2", maskless_tokenizer())
    words = ["bench", "--model", str(trained), "--assistant", str(other), "--device", "cpu"]
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: assistant: ")


def timed(num_tokens: int, seconds: float, num_forwards: int, *, is_equal: bool = True) -> Timed:
    return Timed(TimedAnswer((7,) * num_tokens, num_forwards), seconds, is_equal, is_right=is_equal)


def test_ratios_are_taken_prompt_by_prompt_and_tokens_over_all_forward_passes() -> None:
    base = [timed(10, seconds, 10) for seconds in (1.0, 2.0, 4.0)]
    fast = [timed(10, 0.5, 2), timed(10, 0.5, 3), timed(5, 0.5, 5, is_equal=False)]
    found = row("fast", "base", {"math": {"base": base, "fast": fast}})
    assert found["families"]["math"]["ratio"] == {"median": 4.0, "low": 3.0, "high": 4.0}
    assert found["tokens_per_second"] == 20.0
    assert found["tokens_per_forward"] == 2.5
    assert found["num_equal_to_baseline"] == found["num_right"] == 2
    assert found["rows_per_forward"] is None


def test_no_method_always_follows_the_same_one(trained) -> None:
    asked: list[str] = []

    def method(name: str) -> Method:
        def answer(prompt) -> TimedAnswer:
            asked.append(name)
            return TimedAnswer((7,), 1)

        return Method(name, answer)

    examples = held_out("math", 6, 0)
    methods = [method(name) for name in "abc"]
    assert len(list(time_methods(methods, loaded(trained), examples, 2))) == 6
    orders = ["".join(asked[at : at + 3]) for at in range(3, len(asked), 3)]
    assert {"".join(sorted(order)) for order in orders} == {"abc"}
    assert len(orders) == 12
    assert {order[0] for order in orders} == set("abc")


def test_verify_is_measured_with_few_and_many_rows(adapted) -> None:
    verifying = {name: c for name, c in ours(adapted, 6).items() if c.strategy == "verify"}
    assert [config.max_rows for config in verifying.values()] == [*BENCH_ROWS]
    for name, config in verifying.items():
        assert name == f"verify, k={config.block_size}, {config.max_rows} rows"
        assert generate(adapted, [5, 6, 7], config).num_tokens <= 6


def test_each_dtype_has_its_rows_and_its_forward_passes(trained, capsys) -> None:
    found = bench(trained, capsys, "--dtypes")
    assert list(found["parts_by_dtype"]) == ["float32", "int8"]
    for dtype, parts in found["parts_by_dtype"].items():
        assert found["rows"][f"{dtype} verify, k=8, 41 rows"]["tokens_per_second"] > 0
        assert list(parts) == ["products alone", "causal rows", "masks"]
        assert parts["products alone"]["1"] < parts["causal rows"]["1"]
    assert "ntp" not in found["rows"]


def test_weights_for_llama_cpp_are_refused_where_it_is_not_installed(trained, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    words = ["bench", "--model", str(trained), "--device", "cpu", "--gguf", "some.gguf"]
    assert main(words) == 2
    assert "error: gguf: needs llama.cpp: pip install" in capsys.readouterr().err


def test_dtypes_of_a_model_that_cannot_be_exported_are_refused(tiny_folders, capsys) -> None:
    words = ["bench", "--model", str(tiny_folders["gpt2"]), "--device", "cpu", "--dtypes"]
    assert main(words) == 2
    assert "error: model: must be Llama-shaped" in capsys.readouterr().err
