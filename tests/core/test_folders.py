"""Folders are replaced whole: a kill or a full disk at any moment loses and blocks nothing."""

from pathlib import Path

import pytest

from sbd_core.errors import TrainingError
from sbd_core.training.checkpoint import recover, replace_folder


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path, moment) -> None:
    folder = tmp_path / "model"
    replace_folder(folder, lambda target: (target / "a").write_text("old"))
    old, fresh = tmp_path / "model.old", tmp_path / "model.new"
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
    replace_folder(folder, lambda target: (target / "b").write_text("new"))
    assert [path.name for path in folder.iterdir()] == ["b"], "a kill must not block later saves"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_failed_write_leaves_the_old_folder(tmp_path) -> None:
    folder = tmp_path / "model"
    replace_folder(folder, lambda target: (target / "a").write_text("old"))

    def full_disk(target: Path) -> None:
        (target / "a").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(TrainingError, match="No space left"):
        replace_folder(folder, full_disk)
    assert (folder / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
