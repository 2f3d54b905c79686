"""The info of a model folder: what loading would tell, and nothing where only loading can."""

import json
import shutil

import pytest

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, WEIGHTS, read_checkpoint_info
from sbd_core.models.hf_model import HuggingFaceModel


def test_the_bundled_card_says_what_the_loaded_model_says(nano: HuggingFaceModel) -> None:
    info = read_checkpoint_info(None)
    assert info is not None
    assert (info.name, info.block_range) == (nano.name, nano.block_range)
    assert nano.mask_token_id is not None


@pytest.fixture
def folder(tmp_path):
    for name in ("config.json", "tokenizer_config.json", weights_of(DEFAULT_CHECKPOINT)):
        shutil.copy(DEFAULT_CHECKPOINT / name, tmp_path / name)
    return tmp_path


def weights_of(folder):
    """The file that says a folder has weights: they may be in shards."""
    [name] = [name for name in WEIGHTS if (folder / name).is_file()]
    return name


def test_a_folder_is_called_by_its_name(folder) -> None:
    info = read_checkpoint_info(folder)
    assert info is not None
    assert info.name == folder.name


SIZES = "set_block_decoding"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", json.dumps({"model_type": "llama"})),
        ("config.json", json.dumps({SIZES: {"min_block_size": 4, "max_block_size": 2}})),
        ("tokenizer_config.json", json.dumps({"mask_token": None})),
    ],
)
def test_what_a_folder_does_not_tell_is_left_to_loading(folder, file, text) -> None:
    (folder / file).write_text(text)
    assert read_checkpoint_info(folder) is None


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer_config.json", weights_of(DEFAULT_CHECKPOINT)]
)
def test_a_folder_without_a_file_is_left_to_loading(folder, name) -> None:
    (folder / name).unlink()
    assert read_checkpoint_info(folder) is None
