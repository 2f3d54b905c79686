"""The numbers of README, docs and model card are those of the results files; their paths exist."""

import re
from pathlib import Path

import plotly.graph_objects as go
import pytest
import yaml

from sbd_core.files import weights_sha256
from sbd_core.models.bases import SMOLLM2
from scripts.write_tables import DOCUMENTS, MARKED, TABLES, results, with_new_tables

ROOT = Path(__file__).parents[1]
CARD = Path("assets") / "checkpoints" / "sbd-nano" / "README.md"
TEXTS = {document: document.read_text("utf-8") for document in DOCUMENTS}
BUNDLED = ["evaluation", "sweep", "bench"]
"""Results of the bundled weights."""


def test_the_marked_tables_are_those_of_the_results_files() -> None:
    found = [name for text in TEXTS.values() for _, name, _ in MARKED.findall(text)]
    assert set(TABLES) == set(found)
    for text in TEXTS.values():
        assert with_new_tables(text) == text, "run python -m scripts.write_tables"


@pytest.mark.parametrize("name", BUNDLED)
def test_the_results_are_of_the_bundled_weights(name) -> None:
    digest = weights_sha256(ROOT / "assets" / "checkpoints" / "sbd-nano")
    assert results(name)["circumstances"]["weights_sha256"] == digest


def test_every_file_the_documents_name_exists() -> None:
    """Links are relative to the document, paths in code type to the repository."""
    for document, text in TEXTS.items():
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        paths = re.findall(r"`((?:sbd_core|ui|assets|tests|docs|scripts)/[^`*]*)`", text)
        assert [link for link in links if not (document.parent / link).exists()] == [], document
        assert [path for path in paths if not (ROOT / path).exists()] == [], document


DOCUMENTED = {
    "title", "emoji", "colorFrom", "colorTo", "sdk", "python_version", "sdk_version",
    "suggested_hardware", "suggested_storage", "app_file", "app_build_command", "app_port",
    "base_path", "fullWidth", "header", "short_description", "models", "datasets", "tags",
    "thumbnail", "pinned", "hf_oauth", "hf_oauth_expiration_minutes", "hf_oauth_scopes",
    "hf_oauth_authorized_org", "disable_embedding", "startup_duration_timeout", "custom_headers",
    "preload_from_hub", "license",
}  # fmt: skip
"""Keys of https://huggingface.co/docs/hub/spaces-config-reference, and the license of any card."""


def test_the_front_matter_is_a_configuration_that_a_space_takes() -> None:
    """The keys and values that the Hub documents for Spaces; the versions are those pinned here."""
    [matter] = re.findall(
        r"\A---\n(.*?)\n---\n", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    found = yaml.safe_load(matter)
    assert set(found) <= DOCUMENTED
    colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert {"title", "emoji", "colorFrom", "colorTo", "sdk"} <= set(found)
    assert {found["colorFrom"], found["colorTo"]} <= colours
    assert found["sdk"] == "gradio"
    assert f"gradio=={found['sdk_version']}" in (ROOT / "requirements.txt").read_text("utf-8")
    assert (ROOT / found["app_file"]).is_file()
    assert re.fullmatch(r"3\.\d+", found["python_version"])
    assert len(found["short_description"]) <= 60
    assert found["header"] in ("mini", "default")
    assert found["fullWidth"] is True
    assert found["license"] == "apache-2.0"
    base = f"{SMOLLM2.repository} {SMOLLM2.file} {SMOLLM2.revision}"
    assert found["preload_from_hub"] == [base]
    assert all(re.fullmatch(r"[a-z0-9-]+", tag) for tag in found["tags"])
    assert re.fullmatch(r"\S{1,2}", found["emoji"])
    texts = {"title", "emoji", "sdk_version", "python_version", "short_description"}
    assert all(isinstance(found[name], str) for name in texts)  # 3.10 unquoted would be 3.1


@pytest.mark.parametrize(
    "path", ["README.md", "docs/decoding.md", "docs/hugging-face.md", str(CARD)]
)
def test_the_lines_of_python_run_as_they_stand(path, monkeypatch, capsys) -> None:
    shown = []
    monkeypatch.setattr(go.Figure, "show", lambda figure: shown.append(figure))
    blocks = re.findall(r"```python\n(.*?)```", TEXTS[ROOT / path], re.DOTALL)
    monkeypatch.chdir(ROOT)
    assert blocks
    for code in blocks:
        exec(compile(code, path, "exec"), {})
        assert capsys.readouterr().out.strip()
        assert len(shown) == code.count(".show()")
        shown.clear()


def test_no_file_is_too_large_for_a_space() -> None:
    large = [
        path
        for folder in ("assets", "sbd_core", "ui", "scripts", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "node_modules" not in path.parts
        if path.stat().st_size >= 10_000_000
    ]
    assert large == []
