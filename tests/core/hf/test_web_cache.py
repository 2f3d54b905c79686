"""An export is kept for its model as it is, once, whole, and replaced when the model changes."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from sbd_core.__main__ import main
from sbd_core.errors import ModelError
from sbd_core.hf import web
from sbd_core.hf.web_cache import exports_folder, find_export, keep_export
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.web_folder import PART_BYTES, open_web


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that may be changed."""
    return Path(shutil.copytree(DEFAULT_CHECKPOINT, tmp_path / "mine"))


def kept() -> list[str]:
    return [path.name for path in exports_folder().iterdir()]


def test_an_export_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_export(folder) is None
    made = keep_export(folder)
    monkeypatch.delattr(web, "export_web")
    assert keep_export(folder) == made == find_export(folder)
    assert open_web(made.folder).name == "mine"
    assert kept() == [made.folder.name]


def test_another_state_of_the_model_takes_its_place(folder: Path) -> None:
    first, other = keep_export(folder), keep_export(DEFAULT_CHECKPOINT)
    os.utime(folder / "config.json", ns=(1, 1))
    assert find_export(folder) is None
    second = keep_export(folder)
    assert second.folder != first.folder
    assert sorted(kept()) == sorted([second.folder.name, other.folder.name])


def test_a_damaged_export_is_made_anew(folder: Path) -> None:
    made = keep_export(folder)
    (made.folder / "weights-00.bin").write_bytes(b"cut off")
    assert find_export(folder) is None
    assert keep_export(folder).digest == made.digest
    assert (made.folder / "weights-00.bin").stat().st_size == PART_BYTES
    assert kept() == [made.folder.name]


def test_nothing_is_kept_of_an_export_that_fails(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError):
        keep_export(folder)
    assert kept() == []


def test_an_exported_folder_is_its_own_export(folder: Path, tmp_path: Path) -> None:
    web.export_web(folder, tmp_path / "web")
    found = find_export(tmp_path / "web")
    assert found is not None
    assert found.folder == tmp_path / "web"


def test_deleting_a_base_deletes_what_was_exported(folder: Path, capsys: Any) -> None:
    keep_export(folder)
    assert main(["fetch", "--remove"]) == 0
    assert not exports_folder().exists()
