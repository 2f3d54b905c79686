"""The results files, and their numbers as Markdown."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "assets" / "results"


def results(name: str) -> dict[str, Any]:
    """A results file by its stem."""
    data: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return data


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def where(data: dict[str, Any]) -> str:
    """Machine and versions of a results file."""
    facts, processes = data["circumstances"], data.get("processes", 1)
    shared = f"{processes} processes of " if processes > 1 else ""
    return (
        f"Measured on {facts['cores']} cores of {facts['processor']}, {shared}{facts['threads']} "
        f"thread{'s' * (facts['threads'] > 1)}, fp32, "
        f"PyTorch {facts['torch']}, transformers {facts['transformers']}.\n"
    )
