"""Models shared by the tests: the bundled checkpoint and random ones of several architectures."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

from pathlib import Path

import pytest
import torch

import sbd_core
from sbd_core.models.huggingface import HuggingFaceModel
from tests.core.tiny_models import ARCHITECTURES, save_tiny, tiny_tokenizer

# Small tensors: a second thread costs more than it brings, most of all on a busy machine.
torch.set_num_threads(1)


def checkpoint() -> Path:
    """The bundled model's folder."""
    return sbd_core.DEFAULT_CHECKPOINT


def loaded(folder: Path) -> HuggingFaceModel:
    """A model as the laws want it: on the CPU in fp32, whatever else the machine has."""
    return sbd_core.load(folder, device="cpu", dtype="float32")


@pytest.fixture(scope="session")
def nano() -> HuggingFaceModel:
    """The model this repository ships."""
    return loaded(checkpoint())


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """{architecture: folder of a random-weight model with a mask token}."""
    root = tmp_path_factory.mktemp("tiny")
    return {name: save_tiny(root / name, name, tiny_tokenizer()) for name in ARCHITECTURES}


@pytest.fixture(scope="session", params=ARCHITECTURES)
def tiny(request: pytest.FixtureRequest, tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """A random-weight model; the test runs once for each architecture."""
    return loaded(tiny_folders[request.param])


@pytest.fixture(scope="session")
def llama(tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """The random-weight Llama alone, where one architecture is enough."""
    return loaded(tiny_folders["llama"])
