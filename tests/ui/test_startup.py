"""What makes the page open quickly: no torch before it, no stub files, bad flags told at once."""

import inspect
import subprocess
import sys
from pathlib import Path
from unittest import mock

import gradio as gr
import pytest
from gradio.component_meta import create_or_modify_pyi

import sbd_core
from sbd_core.errors import ArgumentError, ModelError
from ui.launch import load_behind, model_of, no_stubs_for_editors

ROOT = Path(__file__).parents[2]
OPEN_THE_PAGE = """
import sys
from ui.launch import model_of, no_stubs_for_editors
lazy = model_of(None, "auto")
with no_stubs_for_editors():
    from ui import page
page.build(lazy)
print(lazy.is_settled, sorted({"torch", "transformers", "plotly"} & sys.modules.keys()))
"""


def run_python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=200
    )


def test_the_page_is_built_before_torch_is_imported_and_the_model_loaded():
    done = run_python("-c", OPEN_THE_PAGE)
    assert (done.stdout.strip(), done.returncode) == ("False []", 0), done.stderr


def test_gradio_writes_no_stub_files_while_told_so():
    with mock.patch("gradio.component_meta.create_pyi", side_effect=RuntimeError("a stub")):
        with no_stubs_for_editors():
            create_or_modify_pyi(gr.HTML, "HTML", [])
            assert inspect.getfile(Path)
        with pytest.raises(RuntimeError, match="a stub"):
            create_or_modify_pyi(gr.HTML, "HTML", [])


@pytest.mark.parametrize(
    ("folder", "device", "sentence"),
    [
        ("/no/such/folder", "auto", "model: must be a folder or a hub id"),
        (None, "gpu", "device: must be auto, cpu, cuda or cuda:N; got 'gpu'"),
    ],
)
def test_a_bad_flag_is_refused_before_anything_is_served(folder, device, sentence):
    with pytest.raises((ArgumentError, ModelError), match=sentence):
        model_of(folder, device)


def test_the_program_says_what_is_wrong_with_a_flag_and_ends_with_2():
    done = run_python("app.py", "--model", "/no/such/folder")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("there is no folder '/no/such/folder'")


def test_a_model_that_breaks_while_loading_ends_the_program(monkeypatch):
    monkeypatch.setattr("ui.launch.SECONDS_FOR_FIRST_VISITOR", 0.0)
    monkeypatch.setattr("ui.launch.SECONDS_FOR_BAD_NEWS", 0.0)
    lazy = model_of(None, "cpu")
    assert not lazy.is_settled
    with (
        mock.patch.object(sbd_core, "load", side_effect=ModelError("m: broken"), create=True),
        pytest.raises(ModelError, match="m: broken"),
    ):
        load_behind(lazy)
    with pytest.raises(ModelError, match="m: broken"):
        lazy.result()
