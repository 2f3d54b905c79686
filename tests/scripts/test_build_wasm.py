"""The committed sbd.wasm is what the C sources give, and says so without a compiler too."""

import shutil
import subprocess
import sys

import pytest

from scripts.browser import build_wasm


def test_the_committed_file_is_of_the_present_sources() -> None:
    assert build_wasm.is_fresh(build_wasm.FILE.read_bytes())


def test_a_changed_source_makes_it_stale(tmp_path, monkeypatch) -> None:
    for file in build_wasm.SOURCES.glob("*.[ch]"):
        shutil.copy(file, tmp_path)
    with (tmp_path / "forward.c").open("a") as file:
        file.write("/* changed */\n")
    monkeypatch.setattr(build_wasm, "SOURCES", tmp_path)
    assert not build_wasm.is_fresh(build_wasm.FILE.read_bytes())


def test_compiling_gives_the_committed_file() -> None:
    """Byte for byte with the compiler that made it, which the file names; else not comparable."""
    if not shutil.which("clang") or not shutil.which("wasm-ld"):
        pytest.skip("needs clang and wasm-ld: apt install clang lld")
    said = subprocess.run(["clang", "--version"], capture_output=True, text=True, check=True).stdout
    version = said.splitlines()[0].split()[-1]
    built, committed = build_wasm.build(), build_wasm.FILE.read_bytes()
    if version.encode() not in committed:
        pytest.skip(f"the committed file was made by another clang than {version}")
    assert built == committed


def test_the_check_needs_no_compiler() -> None:
    words = [sys.executable, "-m", "scripts.browser.build_wasm", "--check"]
    assert subprocess.run(words, env={"PATH": ""}, check=False).returncode == 0
