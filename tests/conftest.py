"""Models shared by the tests: the bundled checkpoint and random ones of several architectures."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"  # of what the tests start: there is a worker for each core

import copy
import shutil
import tracemalloc
from pathlib import Path

import anyio
import pytest
import torch

import sbd_core
from sbd_core.models.backends.c.compiler import COMPILERS
from sbd_core.models.backends.c.forward import CBackend
from sbd_core.models.backends.c.logit_stats import CComputeLogitStats
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.hf_model import HuggingFaceModel
from tests.core.models.tiny_models import ARCHITECTURES, save_tiny, tiny_tokenizer
from tests.workers import is_for_few

# anyio imports its parts when they are first used, which for a served page is in a thread; pytest
# compiles them anew then, and Python 3.11 cannot beside Playwright's greenlets.
for name in dir(anyio):
    getattr(anyio, name)

# pytest imports it in a finalizer's complaint; one that comes amid another import breaks that one.
assert tracemalloc

# Small tensors: a second thread costs more than it brings, most of all on a busy machine.
torch.set_num_threads(1)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For -n auto: none for a few tests, else as many as pytest-xdist chooses, the cores."""
    return 0 if is_for_few(config.option.file_or_dir, config.option.keyword) else None


def checkpoint() -> Path:
    """The bundled model's folder."""
    return sbd_core.DEFAULT_CHECKPOINT


def loaded(folder: Path) -> HuggingFaceModel:
    """A model as the laws want it: PyTorch on the CPU in fp32, whatever else the machine has."""
    return sbd_core.load(folder, device="cpu", dtype="float32", native=False)


@pytest.fixture(scope="session")
def nano() -> HuggingFaceModel:
    """The model this repository ships."""
    return loaded(checkpoint())


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """{architecture: folder of a random-weight model with a mask token}."""
    root = tmp_path_factory.mktemp("tiny")
    return {name: save_tiny(root / name, name, tiny_tokenizer()) for name in ARCHITECTURES}


def unfused(model: HuggingFaceModel) -> HuggingFaceModel:
    """The same model without the fused forward: every pass through its own modules."""
    return HuggingFaceModel(model.model, model.tokenizer, model.name, may_fuse=False)


def in_c(model: HuggingFaceModel) -> HuggingFaceModel:
    """The same model, short passes and measures in C; skips the test where nothing compiles C."""
    if not any(map(shutil.which, COMPILERS)):
        pytest.skip("no C compiler")
    twin = copy.copy(model)
    twin.backend, twin.compute_logit_stats = (
        CBackend(model.backend, model.name),
        CComputeLogitStats(),
    )
    return twin


@pytest.fixture(scope="session", params=[*ARCHITECTURES, "llama, transformers", "llama, C"])
def tiny(request: pytest.FixtureRequest, tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """A random-weight model; once for each architecture, Llama with every forward."""
    name, _, path = request.param.partition(", ")
    model = loaded(tiny_folders[name])
    is_fused = isinstance(model.backend, FusedLlamaBackend)
    assert is_fused == (name in ("llama", "qwen3")), "the wrong forward would be tested"
    if path == "C":
        return in_c(model)
    return unfused(model) if path else model


@pytest.fixture(scope="session")
def llama(tiny_folders: dict[str, Path]) -> HuggingFaceModel:
    """The random-weight Llama alone, where one architecture is enough."""
    return loaded(tiny_folders["llama"])
