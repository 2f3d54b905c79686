"""The time of a notebook is that of its cells but the installation."""

import json

import nbformat
import pytest

from scripts.measures import notebook


def written(path, *sources: str):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["install"]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_every_cell_but_the_installation_is_timed(tmp_path, monkeypatch, capsys) -> None:
    book = "raise SystemError('installed')", "import time\ntime.sleep(0.3)", "1 + 1"
    written(tmp_path / "lesson.ipynb", *book)
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    out = tmp_path / "notebook.json"
    assert notebook.main(["--out", str(out)]) == 0
    found = json.loads(out.read_text("utf-8"))
    slept, added = found["seconds_by_cell"]
    assert 0.3 <= slept < found["seconds"]
    assert added < slept
    assert {"torch", "weights_sha256"} <= set(found["circumstances"])
    assert "import time" in capsys.readouterr().out


def test_a_cell_that_fails_leaves_no_results(tmp_path, monkeypatch) -> None:
    from nbclient.exceptions import CellExecutionError

    written(tmp_path / "lesson.ipynb", "", "1 / 0")
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        notebook.main(["--out", str(tmp_path / "notebook.json")])
    assert not (tmp_path / "notebook.json").exists()
