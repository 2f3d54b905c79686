"""How long lesson.ipynb takes from its first cell to its last: assets/results/notebook.json.

    python -m scripts.measures.notebook

The notebook runs as it stands, its minute of training too, apart from the installation, which is a
matter of the network. Needs nbclient and ipykernel (tests/requirements.txt).
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbd_core.benchmark.timing import other_load
from sbd_core.circumstances import circumstances
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.package.files import write_text
from scripts.tables.results_files import RESULTS

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 1800
"""For a single cell."""


def measure(notebook: Path) -> dict[str, Any]:
    """Seconds in all, with the start of the kernel, and of each cell of code but the installation.

    Raises nbclient's CellExecutionError for a cell that fails.
    """
    import nbformat
    from nbclient import NotebookClient

    seconds: list[float] = []
    began = began_cell = time.perf_counter()

    def started(cell: Any, cell_index: int) -> None:
        nonlocal began_cell
        began_cell = time.perf_counter()

    def ended(cell: Any, cell_index: int, **_: Any) -> None:
        seconds.append(round(time.perf_counter() - began_cell, 2))
        print(f"{seconds[-1]:>7.1f} s  {cell.source.splitlines()[0]}", flush=True)

    NotebookClient(
        nbformat.read(notebook, as_version=4),
        timeout=MOST_SECONDS,
        skip_cells_with_tag="install",
        resources={"metadata": {"path": str(notebook.parent)}},
        on_cell_execute=started,
        on_cell_executed=ended,
    ).execute()
    whole = round(time.perf_counter() - began, 2)
    return {"seconds": whole, "seconds_by_cell": seconds}


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 130 stopped with Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.measures.notebook", description="Time lesson.ipynb."
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS / "notebook.json", metavar="FILE",
        help="where the results go (assets/results/notebook.json)",
    )  # fmt: skip
    out = parser.parse_args(words).out
    try:
        with other_load() as load_of_others:
            found = measure(ROOT / "lesson.ipynb")
    except KeyboardInterrupt:
        return 130
    found |= {"other_load": load_of_others, "circumstances": circumstances(DEFAULT_CHECKPOINT)}
    write_text(out, json.dumps(found, indent=1) + "\n")
    print(f"{found['seconds']:.0f} s in all, written to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
