"""Loading: what a folder or a name cannot give is one ModelError, never a stack trace."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, generate

WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path: Path, tiny_folders) -> Path:
    """A good folder of one's own to damage."""
    return Path(shutil.copytree(tiny_folders["llama"], tmp_path / "model"))


def refused(source: object) -> str:
    with pytest.raises(ModelError) as caught:
        sbd_core.load(source, device="cpu")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    return message


def set_config(folder: Path, **changes: object) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    return folder


def test_the_good_folder_loads_and_is_called_by_its_name(folder) -> None:
    model = sbd_core.load(str(folder), device="cpu")
    assert model.name == "model"
    assert model.block_range is None
    assert model.vocabulary_size == model.model.config.vocab_size
    assert model.tokenizer.convert_ids_to_tokens(model.mask_token_id) == "<m>"
    assert model.end_token_ids == {model.tokenizer.eos_token_id}
    assert not model.model.training


def test_the_bundled_checkpoint_is_the_default_and_states_its_block_range() -> None:
    model = sbd_core.load(device="cpu")
    assert model.name == "sbd-nano"
    assert model.block_range == (2, 16)
    assert model.model.dtype == torch.float32


@pytest.mark.parametrize("source", ["/no/such/folder", "./nope", "~/nope", "a/b/c", "", "\x00"])
def test_a_missing_folder_is_refused(source) -> None:
    assert refused(source).startswith("model: ")


@pytest.mark.parametrize("source", ["x" * 5000, "/" + "x" * 5000, "a/" * 3000], ids=len)
def test_a_name_too_long_for_the_file_system_is_refused(source) -> None:
    refused(source)


def test_a_folder_with_only_pickled_weights_is_refused(folder) -> None:
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()
    assert "safetensors" in refused(folder)


@pytest.mark.parametrize("name", ["config.json", WEIGHTS, "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, name) -> None:
    (folder / name).unlink()
    assert str(folder) in refused(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model_type": "no-such-type"}'])
def test_a_folder_with_an_unreadable_config_is_refused(folder, text) -> None:
    (folder / "config.json").write_text(text)
    refused(folder)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]"])
def test_a_folder_with_an_unreadable_tokenizer_is_refused(folder, text) -> None:
    (folder / "tokenizer.json").write_text(text)
    refused(folder)


@pytest.mark.parametrize("kept", [0, 500])
def test_a_folder_with_cut_off_weights_is_refused(folder, kept) -> None:
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:kept])
    refused(folder)


def test_a_folder_that_lacks_a_weight_is_refused_not_filled_with_chance(folder) -> None:
    weights = load_file(folder / WEIGHTS)
    name = next(name for name in weights if "q_proj" in name)
    del weights[name]
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    assert name in refused(folder)


@pytest.mark.parametrize(
    "changes", [{"vocab_size": 200}, {"hidden_size": "x"}, {"num_attention_heads": 3}]
)
def test_a_config_that_does_not_fit_the_weights_is_refused(folder, changes) -> None:
    refused(set_config(folder, **changes))


@pytest.mark.parametrize(
    "value",
    [
        [2, 16],
        "2-16",
        {"min_block_size": 2},
        {"min_block_size": None, "max_block_size": 4},
        {"min_block_size": 8, "max_block_size": 4},
        {"min_block_size": 0, "max_block_size": 4},
    ],
)
def test_a_malformed_block_range_is_refused(folder, value) -> None:
    assert "set_block_decoding" in refused(set_config(folder, set_block_decoding=value))


def test_a_block_range_is_read_and_kept(folder) -> None:
    set_config(folder, set_block_decoding={"min_block_size": 3, "max_block_size": 5})
    model = sbd_core.load(folder, device="cpu")
    assert model.block_range == (3, 5)
    with pytest.raises(ArgumentError) as caught:
        generate(model, "a", DecodeConfig(block_size=6))
    assert caught.value.argument == "block_size"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("device", "tpu"),
        ("device", ""),
        ("device", "cpu:0"),
        ("device", "cuda:x"),
        ("device", "cuda:99"),
        ("dtype", "int7"),
        ("dtype", "fp32"),
        ("dtype", ""),
    ],
)
def test_an_unknown_device_or_dtype_is_named(folder, argument, value) -> None:
    with pytest.raises(ArgumentError) as caught:
        sbd_core.load(folder, **{"device": "cpu", argument: value})
    assert caught.value.argument == argument


def test_loading_says_nothing(folder, capfd) -> None:
    sbd_core.load(folder, device="cpu")
    assert capfd.readouterr() == ("", "")
