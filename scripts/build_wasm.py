"""Compiles the kernel of the browser's engine to WebAssembly: assets/dist/sbd.wasm.

python -m scripts.build_wasm, which needs clang and wasm-ld, 16 or newer.

sbd-fma.wasm is the same with fused multiply-add (relaxed SIMD), for browsers that have it;
sbd-threads.wasm is that with threads, for pages whose host lets them share memory. The files carry
a digest of their sources, so that a test without a compiler sees whether they are fresh.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sbd_core.files import ASSETS

DIST = ASSETS / "dist"
KERNEL = Path(__file__).parents[1] / "ui" / "web" / "engine" / "kernel"
SOURCES = {
    "forward.c": ("-ffinite-math-only", "-fno-signed-zeros"),
    # NaN and infinity mean something here.
    "logit_stats.c": (),
}
"""Files of KERNEL and the flags each has of its own."""
MOST_MEMORY = 2**30
"""Bytes; shared memory must say. As ui/web/engine/threads.js."""
SHARED = (
    "--shared-memory",
    "--import-memory",
    "--export-memory=memory",
    f"--initial-memory={2**20}",
    f"--max-memory={MOST_MEMORY}",
    *(f"--export={name}" for name in ("help", "set_num_helpers", "num_helped", "__stack_pointer")),
)
FUSED = "-mrelaxed-simd"
FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sbd.wasm": ((), ()),
    "sbd-fma.wasm": ((FUSED,), ()),
    "sbd-threads.wasm": ((FUSED, "-matomics"), SHARED),
}
"""Compiled files and the flags each has of its own, of the compiler and of the linker."""
OLDEST, NEWEST = 16, 30
"""Versions of clang: older ones write relaxed SIMD in a way that browsers no longer read."""
FLAGS = (
    "--target=wasm32",
    "-O3",
    "-msimd128",
    "-mbulk-memory",
    "-mnontrapping-fptoint",
    "-ffreestanding",
    "-nostdlib",
    "-fno-math-errno",
    "-fno-trapping-math",
)
EXPORTS = ("forward", "logit_stats", "exponentials", "__heap_base")
SECTION = b"sbd-sources"


def digest(name: str) -> bytes:
    """SHA-256 of everything that a compiled file depends on but the compiler."""
    found = hashlib.sha256(repr((FLAGS, FILES[name], SOURCES, EXPORTS)).encode())
    for file in sorted(KERNEL.glob("*.[ch]")):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.digest()


def tools() -> tuple[str, str, str]:
    """clang, wasm-ld and their version, such as "16.0.6". Raises FileNotFoundError without."""
    for suffix in ("", *(f"-{number}" for number in range(NEWEST, OLDEST - 1, -1))):
        clang, linker = shutil.which(f"clang{suffix}"), shutil.which(f"wasm-ld{suffix}")
        if clang is None or linker is None:
            continue
        said = subprocess.run([clang, "--version"], capture_output=True, text=True, check=True)
        version = re.search(r"version (\d+)[\d.]*", said.stdout)
        if version and int(version[1]) >= OLDEST:
            return clang, linker, version[0].removeprefix("version ")
    raise FileNotFoundError(
        f"clang and wasm-ld {OLDEST} or newer are not on the PATH "
        f"(Debian: apt install clang-{OLDEST} lld-{OLDEST})"
    )


def build(name: str) -> bytes:
    """The content of one of FILES, compiled now. Raises FileNotFoundError without a compiler."""
    clang, linker, _ = tools()
    compiling, linking = FILES[name]
    with TemporaryDirectory() as folder:
        objects = []
        for source, own in SOURCES.items():
            objects.append(str(Path(folder, f"{source}.o")))
            command = [clang, *FLAGS, *compiling, *own, "-c", source, "-o", objects[-1]]
            subprocess.run(command, cwd=KERNEL, check=True)
        linked = Path(folder, "sbd.wasm")
        exports = [f"--export={function}" for function in EXPORTS]
        words = [linker, "--no-entry", "--strip-debug", *linking, *exports, *objects]
        subprocess.run([*words, "-o", str(linked)], check=True)
        return linked.read_bytes() + custom_section(SECTION, digest(name))


def custom_section(name: bytes, content: bytes) -> bytes:
    """A custom section of a WebAssembly file; lengths below 128 are one byte of LEB128."""
    body = bytes([len(name)]) + name + content
    assert len(body) < 128
    return bytes([0, len(body)]) + body


def main() -> int:
    """Compile every file. Exit status: 0 done, 2 no compiler."""
    try:
        for name in FILES:
            content = build(name)
            (DIST / name).write_bytes(content)
            print(f"{name}: {len(content) / 1000:.0f} kB")
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        print(f"build_wasm: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
