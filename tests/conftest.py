"""Models shared by the tests: the bundled checkpoint and random ones of several architectures."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"  # of what the tests start: there is a worker for each core

import copy
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
import torch

import sbd_core
from sbd_core.models.backends.choose import plain
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.onnx.export import Dtype, Exporter
from sbd_core.models.backends.onnx.forward import OnnxBackend, sessions_of
from sbd_core.models.backends.transformers import GatedLinears, TransformersBackend
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import read, read_with_adapter
from sbd_core.models.model_folder import is_block_adapter
from sbd_core.models.web_export import read_rounded
from tests.core.models.tiny_models import ARCHITECTURES, save_adapter, save_tiny, tiny_tokenizer
from tests.workers import is_for_few

# anyio imports its parts when they are first used, which for a served page is in a thread; pytest
# compiles them anew then, and Python 3.11 cannot beside Playwright's greenlets.
for name in dir(anyio):
    getattr(anyio, name)

# pytest imports it in a finalizer's complaint; one that comes amid another import breaks that one.
assert tracemalloc

MORE = ("mistral", "qwen2")
"""Architectures that differ in the exported graph alone."""

# Small tensors: a second thread costs more than it brings, most of all on a busy machine.
torch.set_num_threads(1)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Workers of -n auto: none for a few tests, else as many as pytest-xdist chooses, the cores."""
    return 0 if is_for_few(config.option.file_or_dir, config.option.keyword) else None


def checkpoint() -> Path:
    """The bundled model's folder."""
    return sbd_core.DEFAULT_CHECKPOINT


def loaded(folder: Path) -> HuggingFaceModel:
    """A model as the laws want it: PyTorch on the CPU in fp32, whatever else the machine has."""
    if is_block_adapter(folder):
        model, tokenizer, adapter = read_with_adapter(folder, torch.float32)
        return in_pytorch(model, tokenizer, folder.name, adapter)
    return in_pytorch(*read(str(folder), torch.float32), folder.name)


def in_browsers(
    folder: Path, dtype: Dtype | None = None, products: Dtype | None = None
) -> HuggingFaceModel:
    """A model with the weights that its export has, every pass in ONNX Runtime.

    dtype: that of the export. products: that of matrix products, if another.
    """
    model, tokenizer, adapter, own = read_rounded(folder, dtype)
    return in_onnx(in_pytorch(model, tokenizer, folder.name, adapter), products or own)


def in_pytorch(
    model: Any, tokenizer: Any, name: str, adapter: BlockAdapter | None = None
) -> HuggingFaceModel:
    """The model with the backend that PyTorch has for it."""
    backend = plain(model, name, adapter)
    return HuggingFaceModel(model, tokenizer, name, backend=backend, adapter=adapter)


@pytest.fixture(scope="session")
def nano() -> HuggingFaceModel:
    """The model this repository ships."""
    return loaded(checkpoint())


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """{architecture: folder of a random-weight model with a mask token}."""
    root = tmp_path_factory.mktemp("tiny")
    return {
        name: save_tiny(root / name, name, tiny_tokenizer()) for name in (*ARCHITECTURES, *MORE)
    }


def unfused(model: HuggingFaceModel) -> HuggingFaceModel:
    """The same model without the fused forward: every pass through its own modules."""
    backend = TransformersBackend(model.model)
    return HuggingFaceModel(model.model, model.tokenizer, model.name, backend=backend)


def in_onnx(
    model: HuggingFaceModel, dtype: Dtype = "float32", num_threads: int = 1
) -> HuggingFaceModel:
    """The same model, every pass in ONNX Runtime."""
    layers = model.adapter.layers if model.adapter else None
    exporter, twin = Exporter(model.model, dtype, layers), copy.copy(model)
    vars(twin).pop("exactness", None)  # of the other backend
    with TemporaryDirectory() as folder:
        exporter.write(Path(folder))
        sessions = sessions_of(Path(folder), num_threads)
    rotary = model.model.model.rotary_emb
    twin.backend = OnnxBackend(sessions, exporter.shape, rotary, dtype)
    return twin


@pytest.fixture(scope="session")
def adapter_folder(tiny_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random block adapter beside the random Llama, with a sampler head."""
    return save_adapter(tmp_path_factory.mktemp("adapter") / "adapted", tiny_folders["llama"])


@pytest.fixture(scope="session", params=["PyTorch", "ONNX Runtime", "transformers"])
def adapted(request: pytest.FixtureRequest, adapter_folder: Path) -> HuggingFaceModel:
    """The random Llama with a random block adapter; with every forward."""
    model = loaded(adapter_folder)
    if request.param == "transformers":
        assert model.adapter is not None
        model.backend = TransformersBackend(
            model.model, GatedLinears.of(model.model, model.adapter)
        )
    return in_onnx(model) if request.param == "ONNX Runtime" else model


@pytest.fixture(scope="session", params=["llama", "gpt2", "qwen3, ONNX Runtime"])
def tiny(request: pytest.FixtureRequest, tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """A random-weight model, once for each backend.

    tests/core/hf/test_architectures.py has every architecture, each with the backend it is given.
    """
    name, _, path = request.param.partition(", ")
    model = loaded(tiny_folders[name])
    is_fused = isinstance(model.backend, FusedLlamaBackend)
    assert is_fused == (not name.startswith("gpt")), "the wrong forward would be tested"
    return in_onnx(model) if path else model


@pytest.fixture(scope="session")
def llama(tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """The random-weight Llama alone, where one architecture is enough."""
    return loaded(tiny_folders["llama"])
