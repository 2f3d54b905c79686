"""A trained block adapter is bundled whole, with a card of its own figures, or not at all."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import sbd_core
from sbd_core.errors import ModelError
from sbd_core.models.block_adapter import (
    GROUPS,
    BlockAdapter,
    read_block_adapter,
    read_info,
    write_block_adapter,
)
from sbd_core.models.model_folder import ADAPTER_INFO
from scripts.bundle_adapter import bundle, narrowed

FACTS = {
    "texts": 2000,
    "steps": 1200,
    "masked_tokens": 345_678,
    "minutes": 90.4,
    "recipe": {"learning_rate": 0.001, "block_sizes": [4, 8]},
    "curve": [
        {"nats": 9.0, "nats_with_before": 8.0, "lead": 0.1, "drafted": 0.05},
        {"nats": 4.125, "nats_with_before": 3.5, "lead": 1.4, "drafted": 0.875},
    ],
}


@pytest.fixture
def adapter(adapter_folder: Path) -> BlockAdapter:
    found = read_block_adapter(adapter_folder)
    return replace(found, info=replace(found.info, trained=FACTS))


@pytest.fixture
def trained(adapter: BlockAdapter, tmp_path: Path) -> Path:
    """An adapter as training leaves it."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    write_block_adapter(adapter, folder)
    return folder


def bundled(trained: Path, target: Path, cpu_dtype: str = "int8") -> Path:
    bundle(trained, target, cpu_dtype=cpu_dtype)
    return target


def test_the_folder_is_loaded_in_the_dtype_it_names(trained: Path, tmp_path: Path) -> None:
    target = bundled(trained, tmp_path / "model")
    assert read_info(target)[0].cpu_dtype == "int8"
    assert sbd_core.load(target, device="cpu").dtype == "int8"
    assert sbd_core.load(target, device="cpu", dtype="auto").dtype == "float32"
    assert sbd_core.load(trained, device="cpu").dtype == "float32"


def test_the_card_tells_what_its_training_tells(trained: Path, tmp_path: Path) -> None:
    target = bundled(trained, tmp_path / "model", "float32")
    text = (target / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    keys = [line.split(":")[0] for line in front.splitlines() if not line.startswith(" ")]
    assert keys == ["base_model", "license", "library_name", "pipeline_tag", "tags", "language"]
    for words in ("345,678 masked tokens", "90 minutes", "4.12 nats", "0.88 guesses", "blocks of"):
        assert words in " ".join(body.split())


def test_a_narrowed_adapter_is_the_nearest_with_one_a_for_all_that_read_the_same(adapter) -> None:
    rank, layer = adapter.info.rank - 1, adapter.layers[0]
    smaller = narrowed(adapter, rank)
    assert smaller.info.rank == rank
    for names in GROUPS.values():
        pairs = [smaller.layers[0][name] for name in names]
        assert all(torch.equal(a, pairs[0][0]) for a, _ in pairs)
        whole = torch.cat([(b @ a).float() for a, b in (layer[name] for name in names)])
        near = torch.cat([b @ a for a, b in pairs])
        left = float(torch.linalg.svdvals(whole)[rank:].square().sum().sqrt())
        assert float(torch.linalg.matrix_norm(whole - near)) == pytest.approx(left, abs=1e-4)
    with pytest.raises(ModelError, match=f"rank: must be from 1 to {rank}, below its own"):
        narrowed(adapter, adapter.info.rank)


def test_an_unknown_dtype_is_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="names 'int3' as cpu_dtype, which is unknown"):
        bundled(trained, tmp_path / "model", "int3")
    assert not (tmp_path / "model").exists()
    info = trained / ADAPTER_INFO
    info.write_text(json.dumps({**json.loads(info.read_text()), "cpu_dtype": 8}))
    with pytest.raises(ModelError, match="names '8' as cpu_dtype"):
        sbd_core.load(trained, device="cpu")
