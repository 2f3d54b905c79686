"""The mean of model folders' weights."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from scripts.training.average_checkpoints import main


def tensors(folder):
    return {k: t for file in folder.glob("model-*") for k, t in load_file(file).items()}


@pytest.fixture
def doubled(tmp_path):
    """The bundled model with weights twice as large."""
    folder = tmp_path / "doubled"
    shutil.copytree(DEFAULT_CHECKPOINT, folder)
    for file in folder.glob("model-*.safetensors"):
        save_file({k: t * 2 for k, t in load_file(file).items()}, file, {"format": "pt"})
    return folder


def test_the_mean_is_weighted_and_all_else_is_the_last_folders(tmp_path, doubled):
    out = tmp_path / "mean"
    words = [str(DEFAULT_CHECKPOINT), str(doubled), "--weights", "3", "1", "--out", str(out)]
    assert main(words) == 0
    one, found = tensors(DEFAULT_CHECKPOINT), tensors(out)
    assert found.keys() == one.keys()
    for name, tensor in found.items():
        # In bf16, of which a step is a part in 128.
        torch.testing.assert_close(tensor.float(), 1.25 * one[name].float(), rtol=0.01, atol=0)
    assert (out / "recipe.json").read_text() == (doubled / "recipe.json").read_text()
    assert (out / "tokenizer.json").exists()


@pytest.mark.parametrize("weights", [["1"], ["1", "0"]])
def test_weights_that_do_not_fit_are_told(tmp_path, doubled, capsys, weights):
    words = [str(DEFAULT_CHECKPOINT), str(doubled), "--out", str(tmp_path / "mean"), "--weights"]
    assert main([*words, *weights]) == 2
    assert "weights: must be one number above 0 for each folder" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()


def test_a_folder_without_a_recipe_is_told(tmp_path, doubled, capsys):
    (doubled / "recipe.json").unlink()
    assert main([str(DEFAULT_CHECKPOINT), str(doubled), "--out", str(tmp_path / "mean")]) == 2
    assert "recipe.json: cannot be read as a recipe" in capsys.readouterr().err
