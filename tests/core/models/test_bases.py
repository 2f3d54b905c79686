"""A base is fetched whole or not at all, and what goes wrong is told in one line."""

import errno
import hashlib
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors import SafetensorError

import sbd_core
from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.models import bases
from sbd_core.models.bases import (
    GGUF_FILE,
    SMOLLM2,
    BaseSource,
    base_folder,
    fetch,
    find_base,
    known_base,
    remove,
    require_base,
)
from sbd_core.models.block_adapter import read_block_adapter, write_block_adapter

CONTENT = b"not really a model " * 1000
FAKE = replace(
    SMOLLM2,
    name="fake",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    num_bytes=len(CONTENT),
    wheel="sbd-fake-base==1.0",
    member="sbd_fake_base/base.gguf",
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a package index of the test's own, nothing else."""
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    (tmp_path / "index").mkdir()
    return tmp_path / "cache"


def add_wheel(index: Path, content: bytes) -> None:
    """A wheel of the fake package, as pip finds it."""
    info = "sbd_fake_base-1.0.dist-info"
    metadata = "Metadata-Version: 2.1\nName: sbd-fake-base\nVersion: 1.0\n"
    with zipfile.ZipFile(index / "sbd_fake_base-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(FAKE.member, content)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "bases").iterdir() if path.name != ".lock")


def test_the_wheel_gives_the_file_where_the_hub_does_not(tmp_path: Path) -> None:
    add_wheel(tmp_path / "index", CONTENT)
    assert bases._downloaded(FAKE, tmp_path).read_bytes() == CONTENT


FILES = {"model.safetensors": b"weights " * 4, "chat_template.jinja": b"a template"}


def convert(source: BaseSource, folder: Path) -> None:
    """Stands in for what makes a model folder of a GGUF file."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)


def from_hub_at_once(source: BaseSource, work: Path) -> Path:
    """Stands in for the download."""
    (work / "file").write_bytes(CONTENT)
    return work / "file"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the fake base be known by name, and be downloaded and converted at once."""
    monkeypatch.setattr(bases, "_convert", convert)
    monkeypatch.setattr(bases, "_from_hub", from_hub_at_once)
    monkeypatch.setitem(bases.BASES, FAKE.name, FAKE)


@pytest.mark.usefixtures("fake")
def test_a_base_is_fetched_once_and_again_where_its_file_is_gone(capsys) -> None:
    folder = fetch(FAKE)
    assert require_base(FAKE.name) == folder == find_base(FAKE)
    assert {file.name for file in folder.iterdir()} == {*FILES, GGUF_FILE}
    (folder / GGUF_FILE).unlink()
    with pytest.raises(ModelError, match="base fake is not on this machine: sbd fetch brings it"):
        require_base(FAKE.name)
    for is_new in (True, False):
        assert main(["fetch", "--base", FAKE.name]) == 0
        assert (FAKE.licence in capsys.readouterr().out) == is_new
        assert find_base(FAKE) == folder


@pytest.mark.usefixtures("fake")
def test_of_two_that_fetch_at_once_one_waits_and_takes_what_the_other_made(monkeypatch) -> None:
    converted: list[Path] = []

    def slowly(source: BaseSource, folder: Path) -> None:
        converted.append(folder)
        time.sleep(0.5)
        convert(source, folder)

    monkeypatch.setattr(bases, "_convert", slowly)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fetch, [FAKE, FAKE])) == [base_folder(FAKE)] * 2
    assert len(converted) == 1


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), FULL, SafetensorError("No space left on")])
def test_a_fetch_that_is_stopped_or_fills_the_disk_leaves_nothing(cache, monkeypatch, error):
    def convert_in_part(source: BaseSource, folder: Path) -> None:
        convert(source, folder)
        raise error

    monkeypatch.setattr(bases, "_convert", convert_in_part)
    is_stopped = isinstance(error, KeyboardInterrupt)
    expected = KeyboardInterrupt if is_stopped else ArgumentError
    words = None if is_stopped else "SBD_CACHE: cannot be written: .*No space left on"
    with pytest.raises(expected, match=words):
        fetch(FAKE)
    assert left_in(cache) == []


@pytest.mark.usefixtures("fake")
def test_a_base_that_cannot_be_deleted_is_not_said_to_be(cache, monkeypatch) -> None:
    folder = fetch(FAKE)

    def refuse(place: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))

    monkeypatch.setattr(bases.shutil, "rmtree", refuse)
    with pytest.raises(ModelError, match="cannot be deleted: Permission denied"):
        remove(FAKE)
    monkeypatch.undo()
    monkeypatch.setenv("SBD_CACHE", str(cache))
    assert find_base(FAKE) == folder
    assert remove(FAKE)
    assert not remove(FAKE)


def test_what_is_in_the_cache_of_the_hub_is_not_downloaded(tmp_path, monkeypatch) -> None:
    """A Space has it there by preload_from_hub."""
    folder = tmp_path / f"models--{FAKE.repository.replace('/', '--')}" / "snapshots"
    (folder / FAKE.revision).mkdir(parents=True)
    (folder / FAKE.revision / FAKE.file).write_bytes(CONTENT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert bases._downloaded(FAKE, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No matching distribution"),
        (CONTENT[:-1], "gave another file"),
        (CONTENT + b"x", "gave another file"),
    ],
)
def test_what_cannot_be_fetched_leaves_nothing_behind(tmp_path, cache, content, words) -> None:
    if content is not None:
        add_wheel(tmp_path / "index", content)
    with pytest.raises(ModelError, match="base: fake cannot be fetched") as raised:
        fetch(FAKE)
    assert words in str(raised.value)
    assert "the Hugging Face Hub: " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert left_in(cache) == []


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "file"))
    with pytest.raises(ArgumentError, match=r"SBD_CACHE: .* can be written \(Not a directory\)"):
        fetch(FAKE)


def test_an_unknown_base_is_named() -> None:
    with pytest.raises(ArgumentError, match="base: must be one of SmolLM2-135M-Instruct"):
        known_base("other")


def test_an_adapter_without_its_base_names_the_command(adapter_folder, tmp_path) -> None:
    adapter = read_block_adapter(adapter_folder)
    info = replace(adapter.info, base=SMOLLM2.name)
    write_block_adapter(replace(adapter, info=info), tmp_path)
    with pytest.raises(ModelError, match="is not on this machine: sbd fetch brings it"):
        sbd_core.load(tmp_path)


def test_the_real_base_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SBD_CACHE")
    folder = find_base(SMOLLM2)
    if folder is None:
        pytest.skip("the real base is not fetched")
    model = sbd_core.load(folder)
    config = sbd_core.DecodeConfig(strategy="ntp", max_new_tokens=12)
    trace = sbd_core.generate(model, "What is the capital of France?", config)
    assert trace.text == "The capital of France is Paris."
    assert trace.config.repetition_penalty == 1.1
