"""Figures of bench: whole rows, only what the model can do, honest counting."""

import json
from pathlib import Path

import pytest

from sbd_core import benchmark
from sbd_core.__main__ import main
from sbd_core.benchmark import (
    GENERATE,
    Timed,
    as_text,
    by_engine,
    by_transformers,
    row,
    time_methods,
)
from sbd_core.roofline import Calibrated
from sbd_core.tasks import held_out
from tests.conftest import loaded
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

RANGE = {"min_block_size": 2, "max_block_size": 8}


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a random model that says it had Set Block Decoding training."""
    folder = tmp_path_factory.mktemp("bench") / "llama"
    reach = {"max_position_embeddings": 1024}
    return save_tiny(folder, "llama", tiny_tokenizer(), set_block_decoding=RANGE, **reach)


def test_every_method_has_a_row_of_every_task(trained, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(benchmark, "NUM_RUNS", 3)
    file = tmp_path / "bench.json"
    words = ["bench", "--model", str(trained), "--device", "cpu", "--limit", "1", "--json"]
    assert main([*words, "--max-new-tokens", "6", "--out", str(file)]) == 0
    *shown, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert found == json.loads(file.read_text("utf-8"))
    assert "\n".join(shown) == as_text(found)
    assert list(found["rows"]) == [
        *(GENERATE, f"{GENERATE}, prompt look-up", "ntp"),
        *("sbd, gamma 0.1, k=8", "sbd, gamma 0.35, k=8", "verify, k=8"),
    ]
    for name, of_method in found["rows"].items():
        assert len(of_method["families"]) == of_method["num_prompts"] == 6
        for cell in of_method["families"].values():
            assert cell["ratio"]["median"] > 0
            exact = name.startswith(("ntp", "verify", GENERATE))
            assert not exact or cell["num_equal_to_baseline"] == cell["num_prompts"] == 1
    assert found["rows"][GENERATE]["mean_ratio"] == 1
    assert found["rows"]["ntp"]["tokens_per_forward"] == 1
    assert found["runs_on"] == "ONNX Runtime, float32"
    assert Calibrated.read(file).seconds[64][16] == pytest.approx(
        found["forwards"]["64"]["16"]["milliseconds"] / 1000
    )


@pytest.mark.filterwarnings("ignore")
def test_every_forward_pass_is_counted(trained) -> None:
    model, prompt = loaded(trained), [10, 20, 30, 20, 30]
    plain, look_up = (method(prompt) for method in by_transformers(model, 12).values())
    assert plain[1] == len(plain[0]) == 12
    assert plain[0] == look_up[0]
    assert look_up[1] <= 12
    assert by_engine(model, 12)["ntp"](prompt) == plain


def test_a_model_without_training_is_timed_by_ntp_alone(tiny_folders) -> None:
    assert list(by_engine(loaded(tiny_folders["gpt2"]), 4)) == ["ntp"]


def test_ratios_are_taken_prompt_by_prompt_and_tokens_over_all_forward_passes() -> None:
    base = [Timed(10, 10, seconds, True) for seconds in (1.0, 2.0, 4.0)]
    fast = [Timed(10, 2, 0.5, True), Timed(10, 3, 0.5, True), Timed(5, 5, 0.5, False)]
    found = row(fast, base, held_out("math", 3, 0))
    assert found["families"]["math"]["ratio"] == {"median": 4.0, "low": 3.0, "high": 4.0}
    assert found["tokens_per_second"] == 20.0
    assert found["tokens_per_forward"] == 2.5
    assert found["num_equal_to_baseline"] == 2


def test_no_method_always_follows_the_same_one(trained) -> None:
    asked: list[str] = []

    def method(name: str):
        def answer(prompt) -> tuple[tuple[int], int]:
            asked.append(name)
            return (7,), 1

        return answer

    examples = held_out("math", 12, 0)
    methods = {name: method(name) for name in "abc"}
    found = time_methods(methods, loaded(trained), examples)
    assert [len(each) for each in found.values()] == [12, 12, 12]
    orders = ["".join(asked[at : at + 3]) for at in range(3, len(asked), 3)]
    assert {"".join(sorted(order)) for order in orders} == {"abc"}
    assert len(orders) == 12
    assert {order[0] for order in orders} == set("abc")
