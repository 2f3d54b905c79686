"""The committed sbd.wasm is what the C sources give, and says so without a compiler too."""

import shutil

import pytest

from scripts import build_wasm


def is_fresh(name: str) -> bool:
    """Whether the committed file is of the present sources and flags."""
    own = build_wasm.custom_section(build_wasm.SECTION, build_wasm.digest(name))
    return (build_wasm.DIST / name).read_bytes().endswith(own)


@pytest.mark.parametrize("name", build_wasm.FILES)
def test_the_committed_file_is_of_the_present_sources(name) -> None:
    assert is_fresh(name)


def test_a_changed_source_makes_it_stale(tmp_path, monkeypatch) -> None:
    for file in build_wasm.KERNEL.glob("*.[ch]"):
        shutil.copy(file, tmp_path)
    with (tmp_path / "forward.c").open("a") as file:
        file.write("/* changed */\n")
    monkeypatch.setattr(build_wasm, "KERNEL", tmp_path)
    for name in build_wasm.FILES:
        assert not is_fresh(name)


@pytest.mark.parametrize("name", build_wasm.FILES)
def test_compiling_gives_the_committed_file(name) -> None:
    """Byte for byte with the compiler that made it, which the file names; else not comparable."""
    try:
        _, _, version = build_wasm.tools()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    committed = (build_wasm.DIST / name).read_bytes()
    if version.encode() not in committed:
        pytest.skip(f"the committed file was made by another clang than {version}")
    assert build_wasm.build(name) == committed
