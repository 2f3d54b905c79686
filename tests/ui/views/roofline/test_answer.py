"""The calculator: sound answers, and a sentence for whatever cannot be used."""

import csv
import json
from pathlib import Path

import pytest

from sbd_core.cost import forward_cost
from sbd_core.plots.roofline import BLOCK_SIZES
from sbd_core.roofline import left_out, pass_time, speedup
from tests.ui.views.roofline.facts import note, value
from ui.views.roofline import (
    BUNDLED,
    MEASURED,
    WORDS,
    answer,
    bundled_shape,
    devices,
    models,
    setting,
    size_words,
)
from ui.views.roofline import time_words as in_units

TABLE = Path(__file__).parents[3] / "golden" / "table3_slowdown.csv"


def test_the_defaults_are_the_papers_own_case() -> None:
    found = answer({})
    assert found["problems"] == []
    assert value(found, "Speed-up") == f"{speedup(16, 3.4, 1024, 1, 'corrected'):.2f}×"
    assert f"{speedup(16, 3.4, 1024, 1, 'published'):.2f}×" in found["facts"][0]["note"]
    ids = [figure["id"] for figure in found["figures"]]
    assert ids == [card["id"] for card in json.loads(WORDS.read_text("utf-8"))]
    json.dumps(found, allow_nan=False)


def card(**wish) -> dict:
    [found] = answer(wish)["cards"]
    return found


@pytest.mark.parametrize("key", models())
@pytest.mark.parametrize(("batch", "block"), [(1, 16), (32, 9)])
def test_what_the_paper_counts_is_said_with_the_numbers_of_the_model(key, batch, block) -> None:
    layer = models()[key][1].layer
    found = answer({"model": key, "batch": batch, "block": block, "device": "a100-bf16"})
    [said] = found["cards"]
    wide = 16384 if key == "llama-3.1-8b" else layer.feed_forward_size  # the paper's FFN_DIM
    hidden = f"{layer.hidden_size:,}"
    assert f"two feed-forward matrices of {hidden} × {layer.hidden_size * wide:,}" in said["words"]
    assert f"the product {hidden} × {wide:,} for their width" in said["words"]
    assert f"three of {hidden} × {layer.feed_forward_size:,}." in said["words"]
    keys = layer.num_heads * layer.num_kv_heads, layer.num_kv_heads * layer.head_size
    differs = f" {hidden} × {keys[0]:,}, not {hidden} × {keys[1]:,}." in said["words"]
    assert (keys[0] != keys[1]) == differs
    device, shape = devices()["a100-bf16"], models()[key][1]
    long, short = (pass_time(1, n, batch, "corrected", shape, device).seconds for n in (2**22, 16))
    assert f"as with 16, corrected {long / short:,.2f} times;" in said["words"]
    column = BLOCK_SIZES.index(8 if block == 9 else block)
    heats = {figure["id"]: figure["data"][0] for figure in found["figures"]}
    for mode, words in (("published", "column goes"), ("corrected", "corrected")):
        texts = heats[f"slowdown-{mode}"]["text"]
        assert f"{words} from {texts[0][column]} to {texts[-1][column]}" in said["words"]


SOME_BATCHES = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 32, 64)


def test_published_is_said_of_the_points_that_the_paper_has_and_of_no_other() -> None:
    with TABLE.open() as file:
        batches = {int(row["batch_size"]) for row in csv.DictReader(file)}
    published = {batch for batch in SOME_BATCHES if "published" in card(batch=batch)["title"]}
    assert published == batches
    for other in ({"model": "qwen3-8b"}, {"device": "h100-bf16"}):
        assert card(**other)["title"] == "Slowdown, as the paper counts"
    for wish in ({}, {"model": "qwen3-8b"}):
        found = answer(wish)
        assert "published" not in json.dumps([found["facts"], found["figures"][0]["data"]])
    assert not any("published" in each["title"] for each in setting()["cards"])


@pytest.mark.parametrize("key", devices())
def test_under_the_hood_is_never_more_than_the_times_here_with_what_they_leave_out(key) -> None:
    device = devices()[key]
    for _, shape in models().values():
        for block, cached in ((1, 0), (16, 25), (64, 10**6)):
            rest = left_out(block, cached, 1, shape, device)
            found = pass_time(block, cached, 1, "corrected", shape, device).seconds
            cost = forward_cost(shape, cached, 0, [(0, block)], block)
            pair_flops = 4 * shape.num_layers * shape.layer.attention_width
            attention = pair_flops * block * (cached + block)
            moved = cost.bytes_read * device.bytes_per_value / shape.bytes_per_value
            computing = (cost.flops - attention) / device.linear_flops
            computing += attention / device.attention_flops
            least = max(moved / device.bandwidth, computing)
            assert least <= (found + rest.output_layer + rest.own_keys) * (1 + 1e-9)


def test_what_the_times_leave_out_is_said_with_how_long_it_takes() -> None:
    found = answer({"device": MEASURED, "model": BUNDLED, "cache": 25})
    rest = left_out(16, 25, 1, bundled_shape(), devices()[MEASURED])
    assert value(found, "Left out") == in_units(rest.output_layer + rest.own_keys)
    assert f": {in_units(rest.output_layer)} of the output layer" in note(found, "Left out")
    assert "Under the hood counts both" in note(found, "Left out")


def test_every_choice_has_an_answer() -> None:
    offered = setting()
    assert {each["key"] for each in offered["devices"]} == set(devices())
    for device in devices():
        for model in models():
            assert answer({"device": device, "model": model})["problems"] == []


def test_a_model_that_the_device_has_no_room_for_is_said_to_be_one() -> None:
    wish = {"model": "llama-3.1-70b", "device": "rtx4090-bf16"}
    shape = models()["llama-3.1-70b"][1]
    weights = 2 * shape.num_weights
    cached = 2 * 2 * shape.num_layers * shape.layer.kv_width * 1024
    found = answer(wish)
    assert value(found, "Memory") == f"{(weights + cached) / 1e9:.3g} GB"
    said = note(found, "Memory")
    assert f"{weights / 1e9:.3g} GB of weights, {cached / 1e6:.3g} MB of KV cache" in said
    assert "more than the 24 GB of the device, which cannot run this" in said


def test_times_and_sizes_have_three_digits_and_never_an_exponent() -> None:
    assert [in_units(999.6e-6), in_units(685e-6), in_units(1234.5)] == ["1 ms", "685 µs", "1,230 s"]
    assert [size_words(999.6e6), size_words(1.2345e15), size_words(12)] == [
        "1 GB",
        "1,230 TB",
        "0.012 kB",
    ]
