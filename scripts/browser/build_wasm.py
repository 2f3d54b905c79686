"""Compiles the C backend to WebAssembly: assets/dist/sbd.wasm, which decodes in the browser.

python -m scripts.browser.build_wasm           needs clang and wasm-ld (apt install clang lld)
python -m scripts.browser.build_wasm --check   exit status 1 if the file is of other sources

The file carries a digest of its sources, so that --check needs no compiler.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sbd_core.models.backends.c import compiler
from sbd_core.package.files import ASSETS

FILE = ASSETS / "dist" / "sbd.wasm"
FLAGS = (
    "--target=wasm32",
    "-O3",
    "-msimd128",
    "-mbulk-memory",
    "-mnontrapping-fptoint",
    "-ffreestanding",
    "-nostdlib",
    *compiler.STEADY,
)
EXPORTS = ("forward", "logit_stats", "exponentials", "__heap_base")
SECTION = b"sbd-sources"
SOURCES = Path(compiler.__file__).parent


def digest() -> bytes:
    """SHA-256 of everything that the compiled file depends on but the compiler."""
    found = hashlib.sha256(repr((FLAGS, compiler.SOURCES, EXPORTS)).encode())
    for file in sorted(SOURCES.glob("*.[ch]")):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.digest()


def build() -> bytes:
    """The file's content, compiled now. Raises FileNotFoundError without a compiler."""
    for tool in ("clang", "wasm-ld"):
        if shutil.which(tool) is None:
            raise FileNotFoundError(f"{tool} is not on the PATH (Debian: apt install clang lld)")
    with TemporaryDirectory() as folder:
        objects = []
        for name, own in compiler.SOURCES.items():
            objects.append(str(Path(folder, f"{name}.o")))
            command = ["clang", *FLAGS, *own, "-c", name, "-o", objects[-1]]
            subprocess.run(command, cwd=SOURCES, check=True)
        linked = Path(folder, "sbd.wasm")
        exports = [f"--export={name}" for name in EXPORTS]
        words = ["wasm-ld", "--no-entry", "--strip-debug", *exports, *objects, "-o", str(linked)]
        subprocess.run(words, check=True)
        return linked.read_bytes() + custom_section(SECTION, digest())


def custom_section(name: bytes, content: bytes) -> bytes:
    """A custom section of a WebAssembly file; lengths below 128 are one byte of LEB128."""
    body = bytes([len(name)]) + name + content
    assert len(body) < 128
    return bytes([0, len(body)]) + body


def is_fresh(content: bytes) -> bool:
    """Whether a compiled file is of the present sources and flags."""
    return content.endswith(custom_section(SECTION, digest()))


def main() -> int:
    """The command line. Exit status: 0 done or fresh, 1 the file is stale, 2 no compiler."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if parser.parse_args().check:
        if is_fresh(FILE.read_bytes()):
            return 0
        print(f"{FILE} is stale: run python -m scripts.browser.build_wasm", file=sys.stderr)
        return 1
    try:
        content = build()
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        print(f"build_wasm: {error}", file=sys.stderr)
        return 2
    FILE.write_bytes(content)
    print(f"{FILE.name}: {len(content) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
