"""The static site is written as a whole or not at all, inside its folder, for any host."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import WebFolder, digest_of, open_web
from scripts import static_site
from scripts.static_site import write_site
from tests.core.training.test_training import files_of_at_most


@pytest.fixture(scope="module")
def export(adapter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> WebFolder:
    """A random adapter beside a random Llama."""
    folder = tmp_path_factory.mktemp("export") / "web"
    export_web(adapter_folder, folder)
    return open_web(folder)


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_full_disk_leaves_no_folder_or_the_old_site(export, tmp_path) -> None:
    out = tmp_path / "site"
    with files_of_at_most(100_000), pytest.raises(ArgumentError, match=r"^out: cannot be written"):
        write_site(out, [export])
    assert [*tmp_path.iterdir()] == []
    sizes = write_site(out, [export])
    whole = content(out)
    assert sizes == {name: len(data) for name, data in whole.items()}
    with files_of_at_most(100_000), pytest.raises(ArgumentError, match=r"^out: cannot be written"):
        write_site(out, [export])
    assert content(out) == whole
    assert [*tmp_path.iterdir()] == [out]


def test_a_site_may_take_a_model_of_the_site_that_it_replaces(export, tmp_path) -> None:
    write_site(tmp_path / "site", [export])
    before = content(tmp_path / "site")
    write_site(tmp_path / "site", [open_web(tmp_path / "site" / "models" / export.name)])
    assert content(tmp_path / "site") == before


def test_two_models_of_one_name_are_refused(export, tmp_path) -> None:
    with pytest.raises(ArgumentError, match=r"^models: must have different names"):
        write_site(tmp_path / "site", [export, export])
    assert not (tmp_path / "site").exists()


def signed(export: WebFolder, folder: Path, **changes: object) -> Path:
    """A copy of an export whose manifest says otherwise, with its digest."""
    shutil.copytree(export.folder, folder)
    manifest = {**export.manifest, **changes}
    manifest["digest"] = digest_of(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "..", ".", "", "a/b", "x\n", 3, None])
def test_no_manifest_writes_outside_the_site(export, tmp_path, name, monkeypatch, capsys) -> None:
    folder = signed(export, tmp_path / "other" / "web", name=name)
    out = tmp_path / "deep" / "er" / "site"
    monkeypatch.setattr(sys, "argv", ["static_site", "--out", str(out), "--models", str(folder)])
    assert static_site.main() == 2
    said = capsys.readouterr().err
    assert "manifest.json (name must be one plain part of a path): export it again" in said
    assert said.count("\n") == 1
    assert [*tmp_path.iterdir()] == [tmp_path / "other"]


def test_a_name_is_quoted_in_addresses(export, tmp_path) -> None:
    web = open_web(signed(export, tmp_path / "web", name="a #1% ü"))
    write_site(tmp_path / "site", [web])
    quoted = "models/a%20%231%25%20%C3%BC/"
    assert f'"base":"{quoted}"' in (tmp_path / "site/index.html").read_text()
    assert f'"{quoted}manifest.json"' in (tmp_path / "site/sw.js").read_text()


def test_what_must_be_there_for_a_first_visit_is_what_every_host_serves(export, tmp_path) -> None:
    out = tmp_path / "site"
    write_site(out, [export])
    line = (out / "sw.js").read_text(encoding="utf-8").splitlines()[0]
    known = json.loads(line.removeprefix("self.SBD_FILES = ").rstrip(";"))
    needed = [*known["files"], *known["runtime"]["files"]]
    assert {Path(name).suffix for name in needed} == {"", ".html", ".css", ".js", ".mjs", ".gz"}
    assert {"index.html", "dist/page.js", "dist/engine.js", "css/page.css"} < {*needed}
    assert {"model-card.html", f"models/{export.name}/manifest.json"} < {*known["rest"]}
    assert all((out / name).exists() for name in (*needed, *known["rest"], ".nojekyll"))
