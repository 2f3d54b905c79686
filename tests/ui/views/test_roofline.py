"""The Roofline view: the paper's case, a sentence for each bad request, times as measured."""

import json
import math

import pytest

from sbd_core.cost import forward_cost
from sbd_core.roofline import left_out, pass_time, speedup
from ui.views.roofline import (
    BUNDLED,
    DEFAULTS,
    MEASURED,
    PAPER,
    WORDS,
    answer,
    bundled_shape,
    checked_choices,
    devices,
    measured_times,
    models,
    setting,
    size_words,
)
from ui.views.roofline import time_words as in_units


def value(found: dict, name: str) -> str:
    return next(fact["value"] for fact in found["facts"] if fact["name"] == name)


def note(found: dict, name: str) -> str:
    return next(fact["note"] for fact in found["facts"] if fact["name"] == name)


def test_the_defaults_are_the_papers_own_case() -> None:
    found = answer({})
    assert found["problems"] == []
    assert value(found, "Speed-up") == f"{speedup(16, 3.4, 1024, 1, 'corrected'):.2f}×"
    assert f"{speedup(16, 3.4, 1024, 1, 'published'):.2f}×" in found["facts"][0]["note"]
    ids = [figure["id"] for figure in found["figures"]]
    assert ids == [card["id"] for card in json.loads(WORDS.read_text("utf-8"))]
    json.dumps(found, allow_nan=False)


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
    sent = {"model": "llama-3.1-70b", "device": "rtx4090-bf16"}
    shape = models()["llama-3.1-70b"][1]
    weights = 2 * shape.num_weights
    cached = 2 * 2 * shape.num_layers * shape.layer.kv_width * 1024
    found = answer(sent)
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


LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 16,
    "vocab_size": 128256,
}


@pytest.mark.parametrize("name", ["block", "cache", "batch", "speed"])
@pytest.mark.parametrize("wrong", ["NaN", "", None, "x", -1, math.inf, [], "1e400", True])
def test_a_number_that_is_none_is_said_and_the_rest_goes_on(name, wrong) -> None:
    if wrong is True and name != "cache":
        return  # the number 1, which a box would send as text
    found = checked_choices({"device": "a100-bf16", name: wrong})
    if wrong is True:
        assert found.cache == 1
        return
    assert len(found.problems) == 1
    assert getattr(found, name) == DEFAULTS[name]
    assert found.device == devices()["a100-bf16"]


@pytest.mark.parametrize("name", ["block", "batch", "speed"])
def test_nought_is_refused_where_it_makes_no_sense(name) -> None:
    assert len(checked_choices({name: 0}).problems) == 1
    assert checked_choices({"cache": 0}).problems == []


@pytest.mark.parametrize(("block", "speed"), [(2, 4.5), (16, 20)])
def test_more_tokens_than_a_block_holds_become_all_of_the_block(block, speed) -> None:
    found = checked_choices({"block": block, "speed": speed})
    assert found.speed == block
    assert f"at most the block size, {block}, not {speed}; shown is {block}" in found.problems[0]


@pytest.mark.parametrize(("field", "wrong"), [("device", "tpu"), ("model", []), ("device", None)])
def test_an_unknown_choice_falls_back_to_the_default_with_a_sentence(field, wrong) -> None:
    found = checked_choices({field: wrong, "block": 8})
    assert len(found.problems) == 1
    assert found.block == 8


def test_a_pasted_config_and_a_folder_give_their_shape(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for config in (json.dumps(LLAMA), str(tmp_path), json.dumps({"text_config": LLAMA})):
        found = checked_choices({"model": "own", "config": config})
        assert found.problems == []
        assert (found.shape.num_layers, found.shape.layer.head_size) == (16, 64)


@pytest.mark.parametrize(
    "config",
    [
        "",
        "{",
        "[1]",
        "/dev/zero",
        "/no/such/folder",
        "\x00",
        '{"model_type": "t5", "is_encoder_decoder": true}',
        '{"model_type": "mixtral", "num_local_experts": 8}',
        '{"hidden_size": "a"}',
        "{" + " " * 200_000 + "}",
        None,
    ],
)
def test_a_config_that_is_no_decoder_is_said_and_the_rest_goes_on(config) -> None:
    found = answer({"model": "own", "config": config, "block": 8})
    assert len(found["problems"]) == 1
    assert value(found, "A [forward pass] over 8")


def test_what_stands_in_a_file_is_not_shown(tmp_path) -> None:
    (tmp_path / "config.json").write_text("secret words")
    assert "secret" not in checked_choices({"model": "own", "config": str(tmp_path)}).problems[0]


@pytest.mark.parametrize(
    "config",
    [
        {**LLAMA, "hidden_size": "secret"},
        {**LLAMA, "num_hidden_layers": ["secret"]},
        {**LLAMA, "vocab_size": {"secret": 1}},
        {**LLAMA, "model_type": "secret", "is_encoder_decoder": True},
        {**LLAMA, "model_type": {"secret": 1}, "num_experts": 8},
        {**LLAMA, "hidden_size": "secret" * 10_000},
    ],
)
def test_no_error_quotes_what_a_file_holds_unless_it_is_a_number(config, tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    [problem] = checked_choices({"model": "own", "config": str(tmp_path)}).problems
    assert "secret" not in problem
    [problem] = checked_choices({"model": "own", "config": json.dumps(config)}).problems
    assert "secret" in problem or len(json.dumps(config)) > 10_000
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "vocab_size": -7}))
    assert "got -7" in checked_choices({"model": "own", "config": str(tmp_path)}).problems[0]


def test_strangers_learn_nothing_of_any_folder(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for place in (str(tmp_path.parent), "/no/such/folder", "/etc", "x"):
        [problem] = checked_choices(
            {"model": "own", "config": place}, may_name_folder=False
        ).problems
        assert problem.startswith(f"config must be the text of a config.json; got '{place[:40]}'")
    whole = checked_choices({"model": "own", "config": str(tmp_path)}, may_name_folder=False)
    assert "must be the text of a config.json; got" in whole.problems[0]
    pasted = json.dumps(LLAMA)
    assert not checked_choices({"model": "own", "config": pasted}, may_name_folder=False).problems


HERE = {"device": MEASURED, "model": BUNDLED, "block": 8}


def test_this_machine_as_measured_is_compared_where_it_was_timed() -> None:
    few, more, *_ = sorted(measured_times().seconds)
    for cached, is_between in ((few, False), (few + (more - few) // 2, True)):
        found = answer({**HERE, "cache": cached})
        expected = measured_times().speedup(8, 3.4, cached)
        assert value(found, "Measured") == f"{expected:.2f}×"
        words = f"between those timed with {few}, {more}"
        assert (words in note(found, "Measured")) == is_between


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "qwen3-8b"}, "nano’s only"),
        ({"batch": 64}, "at a batch of 1 only, not 64"),
        ({"cache": 10**6}, "tokens in the KV cache only, not with 1000000"),
        ({"cache": 0}, "tokens in the KV cache only, not with 0"),
        ({"block": 1024}, "a block of 1024 needs 2048"),
    ],
)
def test_what_was_not_timed_is_said_by_what_was_asked(changes, words) -> None:
    found = answer({**HERE, "cache": min(measured_times().seconds), **changes})
    assert value(found, "Measured") == "–"
    assert words in note(found, "Measured")


def test_timed_forward_passes_stand_only_beside_a_line_of_their_batch() -> None:
    lengths = measured_times().seconds
    for batch, cached in ((1, min(lengths)), (1, 10**6), (64, min(lengths))):
        [curve, *_] = answer({**HERE, "batch": batch, "cache": cached})["figures"]
        nearest = min(lengths, key=lambda length: abs(length - cached))
        timed = [line["x"] for line in curve["data"] if f"KV cache {nearest}" in line["name"]]
        assert [list(sizes) for sizes in timed] == (
            [sorted(lengths[nearest])] if batch == 1 else []
        )


def test_a_measured_speed_up_above_the_roofline_is_no_time_below_it_and_that_is_said() -> None:
    device, shape = devices()[MEASURED], bundled_shape()
    for cached, row in measured_times().seconds.items():
        for rows, seconds in row.items():
            assert seconds >= pass_time(rows, cached, 1, "corrected", shape, device).seconds
    said = note(answer({**HERE, "cache": min(measured_times().seconds)}), "Measured")
    assert said.endswith(
        ". The roofline bounds times, not their ratio: a measured speed-up may be above it"
    )


def test_the_time_of_a_token_is_the_sum_of_the_passes_that_are_named() -> None:
    what = checked_choices({**HERE, "speed": 2})
    single, block, double = (
        pass_time(rows, what.cache, 1, "corrected", what.shape, what.device).seconds
        for rows in (1, 8, 16)
    )
    gain = speedup(8, 2, what.cache, 1, "corrected", shape=what.shape.layer, device=what.device)
    assert (double + 3 * block) / 8 == pytest.approx(single / gain)
    found = answer({**HERE, "speed": 2})
    assert value(found, "Set Block Decoding") == in_units(single / gain)
    assert note(found, "Set Block Decoding").endswith(f"16 rows: {in_units(double)}")


def test_free_rows_take_hardly_longer_than_one() -> None:
    sent = {"device": "h100-fp8", "model": PAPER, "cache": 1024, "batch": 1}
    found = answer(sent)
    count = int(value(found, "Free rows"))
    one, last, next_one = (
        pass_time(size, 1024, 1, "corrected", models()[PAPER][1], devices()["h100-fp8"]).seconds
        for size in (1, count, count + 1)
    )
    assert last <= 1.05 * one < next_one
