"""Wishes that cannot be granted: numbers that are none, unknown choices, files of other things."""

import json
import math

import pytest

from tests.ui.views.roofline.facts import value
from ui.views.roofline import DEFAULTS, answer, asked, devices

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


@pytest.mark.parametrize(("block", "speed"), [(2, 4.5), (16, 20)])
def test_more_tokens_than_a_block_holds_become_all_of_the_block(block, speed) -> None:
    found = asked({"block": block, "speed": speed})
    assert found.speed == block
    assert f"at most the block size, {block}, not {speed}; shown is {block}" in found.problems[0]


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
    [problem] = asked({"model": "own", "config": str(tmp_path)}).problems
    assert "secret" not in problem
    [problem] = asked({"model": "own", "config": json.dumps(config)}).problems
    assert "secret" in problem or len(json.dumps(config)) > 10_000
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "vocab_size": -7}))
    assert "got -7" in asked({"model": "own", "config": str(tmp_path)}).problems[0]


def test_strangers_learn_nothing_of_any_folder(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for place in (str(tmp_path.parent), "/no/such/folder", "/etc", "x"):
        [problem] = asked({"model": "own", "config": place}, may_name_folder=False).problems
        assert problem.startswith(f"config must be the text of a config.json; got '{place[:40]}'")
    whole = asked({"model": "own", "config": str(tmp_path)}, may_name_folder=False)
    assert "must be the text of a config.json; got" in whole.problems[0]
    pasted = json.dumps(LLAMA)
    assert not asked({"model": "own", "config": pasted}, may_name_folder=False).problems
