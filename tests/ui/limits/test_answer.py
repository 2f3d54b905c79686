"""The calculator: sound answers, and a sentence for whatever cannot be used."""

import json
import math

import pytest

from sbd_core.roofline import speedup
from ui.limits.answer import DEFAULTS, answer, asked
from ui.limits.choices import BUNDLED, MEASURED, bundled_shape, devices, measured_times, models
from ui.limits.section import WORDS, setting

LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 16,
    "vocab_size": 128256,
}


def value(found: dict, name: str) -> str:
    return next(fact["value"] for fact in found["facts"] if fact["name"] == name)


def test_the_defaults_are_the_papers_own_case() -> None:
    found = answer({})
    assert found["problems"] == []
    assert value(found, "Speed-up") == f"{speedup(16, 3.4, 1024, 1, 'corrected'):.2f}×"
    assert f"{speedup(16, 3.4, 1024, 1, 'published'):.2f}×" in found["facts"][0]["note"]
    ids = [figure["id"] for figure in found["figures"]]
    assert ids == [card["id"] for card in json.loads(WORDS.read_text("utf-8"))]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("key", devices())
def test_every_device_names_the_source_of_its_figures(key) -> None:
    facts = {fact["name"]: fact["note"] for fact in answer({"device": key})["facts"]}
    assert devices()[key].source
    assert facts["The device"].endswith(f"source: {devices()[key].source}")


@pytest.mark.parametrize("name", ["block", "cache", "batch", "speed"])
@pytest.mark.parametrize("wrong", ["NaN", "", None, "x", -1, math.inf, [], "1e400", True])
def test_a_number_that_is_none_is_said_and_the_rest_goes_on(name, wrong) -> None:
    if wrong is True and name != "cache":
        return  # the number 1, which a box would send as text
    found = asked({"device": "a100-bf16", name: wrong})
    if wrong is True:
        assert found.cache == 1
        return
    assert len(found.problems) == 1
    assert getattr(found, name) == DEFAULTS[name]
    assert found.device == devices()["a100-bf16"]


@pytest.mark.parametrize("name", ["block", "batch", "speed"])
def test_nought_is_refused_where_it_makes_no_sense(name) -> None:
    assert len(asked({name: 0}).problems) == 1
    assert asked({"cache": 0}).problems == []


def test_more_tokens_than_a_block_holds_is_refused() -> None:
    found = asked({"block": 2, "speed": 3})
    assert found.speed == 2
    assert "at most the block size, 2" in found.problems[0]


@pytest.mark.parametrize(("field", "wrong"), [("device", "tpu"), ("model", []), ("device", None)])
def test_an_unknown_choice_falls_back_to_the_default_with_a_sentence(field, wrong) -> None:
    found = asked({field: wrong, "block": 8})
    assert len(found.problems) == 1
    assert found.block == 8


def test_a_pasted_config_and_a_folder_give_their_shape(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for config in (json.dumps(LLAMA), str(tmp_path), json.dumps({"text_config": LLAMA})):
        found = asked({"model": "own", "config": config})
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
    assert "secret" not in asked({"model": "own", "config": str(tmp_path)}).problems[0]


def test_this_machine_as_measured_is_compared_where_it_was_timed() -> None:
    times = measured_times().seconds
    cached = min(times)
    found = answer({"device": MEASURED, "model": BUNDLED, "cache": cached, "block": 8})
    expected = measured_times().speedup(8, 3.4, cached)
    assert value(found, "Measured") == f"{expected:.2f}×"
    assert value(answer({"device": MEASURED}), "Measured") == "–"
    far = answer({"device": MEASURED, "model": BUNDLED, "cache": 10**6})
    assert value(far, "Measured") == "–"


def test_no_measured_forward_pass_is_quicker_than_the_rates_reached() -> None:
    from sbd_core.cost.forward_cost import forward_cost

    device, shape = devices()[MEASURED], bundled_shape()
    for cached, row in measured_times().seconds.items():
        for queries, seconds in row.items():
            cost = forward_cost(shape, cached, 0, [(0, queries)], queries)
            least = max(cost.bytes_read / device.bandwidth, cost.flops / device.linear_flops)
            assert least <= seconds * (1 + 1e-9)


def test_every_choice_has_an_answer() -> None:
    offered = setting()
    assert {each["key"] for each in offered["devices"]} == set(devices())
    for device in devices():
        for model in models():
            assert answer({"device": device, "model": model})["problems"] == []
