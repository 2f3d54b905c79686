"""The README's numbers are those of the results file, and its paths exist."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.readme_tables import MARKED, renewed

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
RESULTS = ROOT / "assets" / "results" / "evaluation.json"
BENCH = ROOT / "assets" / "results" / "bench.json"


def rows_of_the_table() -> dict[str, list[str]]:
    rows = [line.split("|")[1:-1] for line in README.splitlines() if line.startswith("| **")]
    return {cells[0].strip(" *"): [cell.strip() for cell in cells[1:]] for cells in rows}


def test_the_table_shows_the_results_file() -> None:
    results = json.loads(RESULTS.read_text("utf-8"))
    expected = {}
    for name, row in results["rows"].items():
        cells = [(f["accuracy"], f["tokens_per_forward"]) for f in row["families"]]
        cells.append((row["mean"]["accuracy"], row["mean"]["tokens_per_forward"]))
        shown = [f"{100 * accuracy:.1f} %, {speed:.2f}x" for accuracy, speed in cells]
        expected[name] = [*shown, f"{row['mean']['tokens_per_second']:.0f}"]
    assert rows_of_the_table() == expected


def test_the_marked_tables_are_those_of_the_results_files() -> None:
    assert {"bench", "forwards", "costs", "profile"} <= {
        name for _, name, _ in MARKED.findall(README)
    }
    assert renewed(README) == README, "run python -m tests.readme_tables"


@pytest.mark.parametrize("results", [RESULTS, BENCH], ids=["evaluation", "bench"])
def test_the_results_are_of_the_bundled_weights(results) -> None:
    weights = ROOT / "assets" / "checkpoints" / "sbd-nano" / "model.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert json.loads(results.read_text("utf-8"))["circumstances"]["weights_sha256"] == digest


def test_every_file_the_readme_names_exists() -> None:
    named = re.findall(r"\]\(([^)]+)\)|`((?:sbd_core|ui|assets|tests)/[^`*]*)`", README)
    paths = [first or second for first, second in named]
    local = [path for path in paths if not path.startswith("http")]
    assert len(local) > 5
    assert [path for path in local if not (ROOT / path).exists()] == []


def test_no_file_is_too_large_for_a_space() -> None:
    large = [
        path
        for folder in ("assets", "sbd_core", "ui", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.stat().st_size >= 10_000_000
    ]
    assert large == []
