"""lesson.ipynb runs from its first cell to its last, and teaches what it says."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from sbd_core.models.bases import SMOLLM2, find_base

ROOT = Path(__file__).parents[1]
LESSON = ROOT / "lesson.ipynb"
HAS_REAL_MODEL = find_base(SMOLLM2) is not None


def read() -> Any:
    return nbformat.read(LESSON, as_version=4)


def tagged(notebook: Any, tag: str) -> Any:
    [cell] = [cell for cell in notebook.cells if tag in cell.metadata.get("tags", ())]
    return cell


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Any:
    """Run as it stands, with two steps of training: no network, so no installation and no fetch."""
    notebook = read()
    notebook.cells.remove(tagged(notebook, "fetch"))
    if not HAS_REAL_MODEL:
        notebook.cells.remove(tagged(notebook, "real"))
    folder = tmp_path_factory.mktemp("lesson") / "work"
    short = f'LENGTH = "--steps 2"\nWORK = {str(folder)!r}'
    tagged(notebook, "parameters").source = short
    client = NotebookClient(
        notebook,
        timeout=240,
        skip_cells_with_tag="install",
        resources={"metadata": {"path": str(ROOT)}},
    )
    return client.execute()


def outputs(notebook: Any, words: str) -> list[Any]:
    """Output of the one cell that holds `words`."""
    [cell] = [cell for cell in notebook.cells if words in cell.source and "outputs" in cell]
    return list(cell.outputs)


def text_of(notebook: Any, words: str) -> str:
    return "".join(output.get("text", "") for output in outputs(notebook, words))


def test_every_cell_runs_and_nothing_fails(executed) -> None:
    kinds = {output.output_type for cell in executed.cells for output in cell.get("outputs", ())}
    assert "error" not in kinds
    assert "next-token prediction is unchanged" in text_of(executed, "prepare(")
    assert (Path(text_of_folder(executed)) / "tuned" / "config.json").is_file()


def text_of_folder(notebook: Any) -> str:
    return re.findall(r"WORK = '(.*)'", tagged(notebook, "parameters").source)[0]


def test_traces_replay_and_figures_are_drawn(executed) -> None:
    replays = [
        output.data["text/html"]
        for cell in executed.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    assert len([html for html in replays if "<iframe" in html]) == 2 + HAS_REAL_MODEL
    for call in ("plots.entropy_heatmap", "plots.tokens_per_forward_pass"):
        [figure] = [o for o in outputs(executed, call) if "data" in o]
        assert figure.data["application/vnd.plotly.v1+json"]["data"]


@pytest.mark.skipif(not HAS_REAL_MODEL, reason="needs sbd fetch")
def test_the_real_model_says_the_same_words_in_fewer_forward_passes(executed) -> None:
    text = text_of(executed, "sbd-smollm2-135m")
    assert "the same words: True" in text
    plain, verify = map(int, re.findall(r"(\d+) (?:forward passes )?by", text))
    assert verify < plain


def test_both_races_show_verify_agreeing_with_next_token_prediction(executed) -> None:
    for words, count in (("race(model, sums)", 6), ("race(tuned, asked)", 4)):
        rows = dict(
            re.findall(r"^(\S.*?)\s{2,}[\d.]+\s+(\d+ of \d+)$", text_of(executed, words), re.M)
        )
        assert rows["verify"] == rows["next-token prediction"] == f"{count} of {count}"
        assert set(rows) >= {"SBD, gamma 0.1", "SBD, gamma 1"}
