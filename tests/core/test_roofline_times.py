"""The roofline repeats the paper's table, and the corrected one sees the KV cache."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from sbd_core.__main__ import main
from sbd_core.cost import ModelShape, forward_cost, shape_or_none
from sbd_core.errors import ArgumentError
from sbd_core.roofline import (
    DEVICES,
    LLAMA_8B,
    Calibrated,
    Device,
    LayerShape,
    pass_seconds,
    slowdown,
    speedup,
)
from tests.core.cli.commands import refusal

TABLE = Path(__file__).parents[1] / "golden" / "table3_slowdown.csv"
CASES = json.loads(Path(__file__).with_name("roofline_cases.json").read_text("utf-8"))
"""Cases that the browser computes too: ui/web/tests/core/roofline.test.ts reads the same file."""


def test_published_mode_gives_all_224_cells_to_three_decimals() -> None:
    rows = list(csv.DictReader(TABLE.open()))
    assert len(rows) == 224
    for row in rows:
        sizes = (int(row[name]) for name in ("block_size", "kv_length", "batch_size"))
        assert f"{slowdown(*sizes, 'published'):.3f}" == row["slowdown"], row


def test_only_the_corrected_mode_feels_a_long_cache() -> None:
    def growth(mode: str) -> float:
        return pass_seconds(1, 131072, 8, mode) / pass_seconds(1, 16, 8, mode)  # type: ignore[arg-type]

    assert growth("published") < 1.01
    assert growth("corrected") > 2


def test_equation_16_by_hand() -> None:
    one, block, double = (pass_seconds(size, 1024, 1, "corrected") for size in (1, 16, 32))
    by_hand = 16 * one / (double + (4 - 1) * block)
    assert speedup(16, 4.0, 1024, 1, "corrected") == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: slowdown(0, 16, 1), "block_size"),
        (lambda: slowdown(4, -1, 1), "kv_length"),
        (lambda: slowdown(4, 16, 1, "measured"), "mode"),  # type: ignore[arg-type]
        (lambda: speedup(16, 0, 16, 1), "nfe_speedup"),
        (lambda: speedup(16, 17, 16, 1), "nfe_speedup"),
        (lambda: speedup(16, float("nan"), 16, 1), "nfe_speedup"),
    ],
)
def test_bad_arguments_are_named(call, named) -> None:
    with pytest.raises(ArgumentError, match=f"^{named}: "):
        call()


def test_a_pass_over_one_token_takes_as_long_as_reading_weights_and_cache_on_every_device() -> None:
    """Llama-3.1-8B, by hand: 218.1 M weights a layer, 2048 values a cached token."""
    weights, cache, activations = 218_103_808, 2 * 1024 * 4096, 100_000
    for device in DEVICES.values():
        at_least = (weights + cache) * device.bytes_per_value / device.bandwidth
        found = pass_seconds(1, 4096, 1, "corrected", shape=LLAMA_8B, device=device)
        assert at_least < found < at_least * (1 + activations / weights)
        assert device.source


@pytest.mark.parametrize("case", CASES["passes"], ids=lambda case: case["name"])
def test_times_are_those_that_the_browser_computes_too(case) -> None:
    shape = ModelShape.from_json(case["shape"])
    names = ("name", "flops", "attentionFlops", "bandwidth", "valueBytes", "source")
    device = Device(*(case["device"][name] for name in names))
    where = case["cache"], case["batch"]
    for mode in ("published", "corrected"):
        expected, on = case[mode], {"shape": shape.layer, "device": device}
        seconds = shape.num_layers * pass_seconds(case["block"], *where, mode, **on)
        assert seconds == pytest.approx(expected["seconds"], rel=1e-12)
        assert slowdown(case["block"], *where, mode, **on) == pytest.approx(expected["slowdown"])
        gain = speedup(case["block"], case["tokens"], *where, mode, **on)
        assert gain == pytest.approx(expected["speedup"])
    assert shape.num_weights == case["num_weights"]


@pytest.mark.parametrize("case", CASES["configs"])
def test_configs_are_read_as_the_browser_reads_them_too(case) -> None:
    if "shape" in case:
        assert ModelShape.of(case["config"], 2).as_json() == case["shape"]
        return
    with pytest.raises(ArgumentError) as raised:
        ModelShape.of(case["config"], 2)
    error = raised.value
    assert [error.argument, error.rule, error.value] == case["error"]
    assert shape_or_none(case["config"], 2) is None


def test_the_best_rates_of_a_bench_file_make_a_device(tmp_path) -> None:
    """Of a pass after 10 cached tokens and of a faster one after 20, by hand."""
    rows = {10: {1: {"milliseconds": 2000}}, 20: {4: {"milliseconds": 1000}}}
    file = tmp_path / "bench.json"
    file.write_text(json.dumps({"forwards": rows}))
    shape = ModelShape.from_json(CASES["passes"][0]["shape"])
    device = Calibrated.read(file).best_device(shape, "here")
    wide, narrow = (forward_cost(shape, n, 0, [(0, k)], k) for n, k in ((20, 4), (10, 1)))
    assert device.linear_flops == device.attention_flops == wide.flops
    assert device.bandwidth == max(wide.bytes_read, narrow.bytes_read / 2)
    file.write_text("{}")
    with pytest.raises(ArgumentError, match=r"^measured: "):
        Calibrated.read(file)


def test_the_command_takes_the_shape_of_a_model(capsys, tiny_folders, tmp_path) -> None:
    words = ["roofline", "--json", "--device", "h200-bf16", "--model"]
    llama = LayerShape(
        hidden_size=32, feed_forward_size=64, num_heads=4, num_kv_heads=2, head_size=8
    )
    gpt2 = replace(llama, feed_forward_size=128, num_kv_heads=4, num_feed_forward_matrices=2)
    for name, shape in (("llama", llama), ("gpt2", gpt2)):
        assert main([*words, str(tiny_folders[name])]) == 0
        found = json.loads(capsys.readouterr().out.splitlines()[-1])
        expected = slowdown(16, 1024, 1, "corrected", shape=shape, device=DEVICES["h200-bf16"])
        assert found["corrected"]["slowdown"] == pytest.approx(expected, abs=1e-6)
    folder = tmp_path / "t5"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "t5", "is_encoder_decoder": true}')
    assert refusal(capsys, [*words, str(folder)])
    assert refusal(capsys, ["roofline", "--device", "abacus"]).startswith("device: ")
