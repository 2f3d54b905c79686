"""Folders are replaced whole, and only those that training wrote: nothing is lost or blocked."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.files import recover, replaced_folder
from sbd_core.training.checkpoint import only_writer
from tests.core.training.training_runs import TINY, train


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path, moment) -> None:
    folder = tmp_path / "model"
    with replaced_folder(folder) as target:
        (target / "a").write_text("old")
    old, fresh = tmp_path / ".model.old", tmp_path / ".model.new"
    if moment == "between":
        folder.rename(old)
    elif moment == "after":
        old.mkdir()
        (old / "a").write_text("older")
    else:
        fresh.mkdir()
        (fresh / "a").write_text("half")
    recover(folder)
    assert (folder / "a").read_text() == "old"
    with replaced_folder(folder) as target:
        (target / "b").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["b"], "a kill must not block later saves"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_failed_write_leaves_the_old_folder(tmp_path) -> None:
    folder = tmp_path / "model"
    with replaced_folder(folder) as target:
        (target / "a").write_text("old")

    def fill_the_disk() -> None:
        with replaced_folder(folder) as target:
            (target / "a").write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(ArgumentError, match="No space left"):
        fill_the_disk()
    assert (folder / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", ["runs", "notes.txt", ".", "..", "runs/.."])
def test_what_training_did_not_write_is_not_replaced(tmp_path, monkeypatch, name) -> None:
    (tmp_path / "runs" / "base").mkdir(parents=True)
    (tmp_path / "runs" / "base" / "model.safetensors").write_text("weights of hours")
    (tmp_path / "notes.txt").write_text("notes")
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    with pytest.raises(ArgumentError) as caught:
        train(TINY, None, Path(name))
    assert caught.value.argument == "out"
    assert files_in(tmp_path) == before


def test_a_card_and_backups_beside_a_model_stay(tmp_path) -> None:
    out = tmp_path / "model"
    out.mkdir()
    train(TINY, None, out)
    (out / "README.md").write_text("A card of ours.")
    (tmp_path / "model.old").mkdir()
    (tmp_path / "model.old" / "a").write_text("a backup of ours")
    train(TINY, None, out)
    assert (out / "README.md").read_text() == "A card of ours."
    assert (tmp_path / "model.old" / "a").read_text() == "a backup of ours"


@pytest.mark.parametrize("out", ["base", "runs/../base", "link", "base.state", "base.state/model"])
def test_a_run_does_not_replace_what_it_starts_from(tmp_path, monkeypatch, out) -> None:
    monkeypatch.chdir(tmp_path)
    train(replace(TINY, stage="ntp", steps=1), None, tmp_path / "base")
    (tmp_path / "runs").mkdir()
    (tmp_path / "link").symlink_to("base")
    before = files_in(tmp_path)
    init, out = (Path(out), Path("base")) if "state" in out else (Path("base"), Path(out))
    with pytest.raises(ArgumentError, match="out: must be another folder than init"):
        train(TINY, init, out)
    assert files_in(tmp_path) == before


def test_a_folder_is_on_the_disk_before_it_takes_the_others_place(tmp_path, monkeypatch) -> None:
    done: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.rename

    def flushed(descriptor: int) -> None:
        done.append(
            ("flush", os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path))
        )
        fsync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        done.append(("rename", source.name))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "rename", renamed)
    with replaced_folder(tmp_path / "model") as target:
        (target / "inner").mkdir()
        (target / "inner" / "a").write_text("new")
    moved = done.index(("rename", ".model.new"))
    for name in (".model.new", ".model.new/inner", ".model.new/inner/a"):
        assert ("flush", name) in done[:moved], "a power cut would leave it empty"
    assert done[-1] == ("flush", "."), "and the new name"


def test_two_runs_do_not_write_one_folder(tmp_path) -> None:
    with only_writer(tmp_path / "model"):
        with pytest.raises(TrainingError, match="another run"):
            train(TINY, None, tmp_path / "model")
        with only_writer(tmp_path / "other"):
            pass
    with only_writer(tmp_path / "model"):
        pass


def test_a_place_where_nothing_can_be_written_is_told_before_the_first_step(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written"):
        train(TINY, None, tmp_path / "file" / "model")
