"""Times a forward pass of the browser's engine beside those of the Python backends, in turns.

python -m scripts.browser.time_forward --rounds 5      a short form
python -m scripts.browser.time_forward --out assets/results/browser/forward.json

Each backend runs on one thread but sbd-threads.wasm, which has as many as a browser would start
here, at most 4; a browser takes it where the host lets the page share memory. The best of all
rounds counts, as what disturbs a round only makes it longer: a busy machine needs more rounds. The
engine runs in Node, whose WebAssembly is that of Chromium. "default" is what load() chose here,
which also serves the page. The last line is one JSON object.
Exit status: 0 the target is met by each file with fused multiply-add, 1 it is not, 2 no Node.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from shutil import which
from typing import Any

import torch

import sbd_core
from sbd_core.models.hf_model import HuggingFaceModel
from scripts.browser.build_wasm import FILES
from scripts.browser.node import node_flags, node_version
from scripts.browser.report import parser_of, report

TIME = Path(__file__).parents[2] / "ui" / "web" / "tests" / "engine" / "time.js"
ROWS = (1, 16)
NUM_CACHED = 60
REPEATS = 4
MOST = 1.5
"""Times the default backend that the engine may take."""
NUM_THREADS = min(4, os.cpu_count() or 1)
"""Of sbd-threads.wasm; as ui/web/engine/threads.js."""


class InPython:
    """A backend of sbd_core with a text in its cache."""

    def __init__(self, model: HuggingFaceModel) -> None:
        """Reads the text."""
        self.model = model
        self.cache = model.new_cache()
        model.forward(self.cache, range(3, 3 + NUM_CACHED), (), 1)

    def round(self) -> dict[str, float]:
        """{rows: best milliseconds}."""
        best = dict.fromkeys(map(str, ROWS), float("inf"))
        for count in ROWS:
            for _ in range(REPEATS):
                began = time.perf_counter()
                self.model.forward(self.cache, (), range(3, 3 + count), 0)
                best[str(count)] = min(best[str(count)], (time.perf_counter() - began) * 1000)
        return best


class InNode:
    """The engine with one of the compiled files, with the same text in its cache."""

    def __init__(self, folder: Path, wasm: str) -> None:
        """Starts Node."""
        sizes = {"rows": ROWS, "numCached": NUM_CACHED, "repeats": REPEATS}
        setting = json.dumps({**sizes, "numThreads": NUM_THREADS})
        words = ["node", *node_flags(), str(TIME), str(folder), wasm, setting]
        self.node = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def round(self) -> dict[str, float]:
        """{rows: best milliseconds}."""
        assert self.node.stdin is not None
        assert self.node.stdout is not None
        self.node.stdin.write("\n")
        self.node.stdin.flush()
        found: dict[str, float] = json.loads(self.node.stdout.readline())
        return found

    def end(self) -> None:
        """Let Node go."""
        self.node.communicate()


def measured(folder: Path, num_rounds: int) -> dict[str, Any]:
    """The figures, and which Python backend is the default."""
    torch.set_num_threads(1)
    default = sbd_core.load(folder, device="cpu")
    plain = sbd_core.load(folder, device="cpu", native=False)
    engines = {name: InNode(folder, name) for name in FILES}
    backends: dict[str, InPython | InNode] = {"PyTorch": InPython(plain), **engines}
    if default.is_native:
        backends["C"] = InPython(default)
    best: dict[str, dict[str, float]] = {name: {} for name in backends}
    try:
        for _ in range(num_rounds):
            for name, backend in backends.items():
                for rows, ms in backend.round().items():
                    best[name][rows] = min(ms, best[name].get(rows, ms))
    finally:
        for engine in engines.values():
            engine.end()
    gigaflops = {rows: 2 * default.num_parameters * int(rows) / 1e9 for rows in best["PyTorch"]}
    return {
        "default": "C" if default.is_native else "PyTorch",
        "engine_threads": NUM_THREADS,
        "milliseconds": {n: {r: round(ms, 3) for r, ms in of.items()} for n, of in best.items()},
        "gigaflops_a_second": {
            n: {r: round(gigaflops[r] / ms * 1000, 1) for r, ms in of.items()}
            for n, of in best.items()
        },
    }


def main() -> int:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="how many (default %(default)s)")
    flags = parser.parse_args()
    if which("node") is None:
        print("time_forward: needs Node, which is not on the PATH", file=sys.stderr)
        return 2
    found = measured(flags.model, flags.rounds)
    times = found["milliseconds"]
    ratios = {
        f"{name}, {rows} rows": round(ms / times[found["default"]][rows], 2)
        for name in FILES
        for rows, ms in times[name].items()
    }
    for name, of in times.items():
        print(f"{name:17}" + "".join(f"{ms:9.2f} ms of {rows} rows" for rows, ms in of.items()))
    is_met = all(ratio <= MOST for name, ratio in ratios.items() if not name.startswith("sbd.wasm"))
    result = {**found, "times_default": ratios, "target": MOST}
    return report(result, flags, {"node": node_version()}, is_met=is_met)


if __name__ == "__main__":
    sys.exit(main())
