"""Tables of the README and the model card, made from the results files.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `python -m tests.readme_tables`
renews them all.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "assets" / "checkpoints" / "sbd-nano" / "README.md")
RESULTS = ROOT / "assets" / "results"
WITHIN = 0.01
"""Accuracy that a setting may lose against NTP and still count as at parity (one point)."""

MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


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
    facts = data["circumstances"]
    return (
        f"Measured on {facts['cores']} cores of {facts['processor']}, {facts['threads']} "
        f"thread{'s' * (facts['threads'] > 1)}, fp32, "
        f"PyTorch {facts['torch']}, transformers {facts['transformers']}.\n"
    )


def evaluation() -> str:
    """The paper's Table 1 on the bundled checkpoint."""
    data = results("evaluation")
    first = next(iter(data["rows"].values()))["families"]
    rows = []
    for name, row in data["rows"].items():
        cells = [*row["families"], row["mean"]]
        shown = [f"{100 * c['accuracy']:.1f} %, {c['tokens_per_forward']:.2f}x" for c in cells]
        own = data["own_wording"][name]
        own_share = f"{round(own['accuracy'] * own['num_examples'])} of {own['num_examples']}"
        rows.append([f"**{name}**", *shown, own_share])
    head = ["", *(family["family"] for family in first), "mean", "own wording"]
    widest = max(
        family["accuracy_high"] - family["accuracy_low"]
        for row in data["rows"].values()
        for family in row["families"]
    )
    return (
        table(head, rows)
        + f"\n{first[0]['num_examples']} held-out examples a family; the 95 % intervals are in the "
        f"file, at most {100 * widest / 2:.1f} points to either side. {where(data)}"
    )


def perplexity() -> str:
    """Of the next-token head, per family."""
    found = results("evaluation")["perplexity"]
    names = {"model": "SBD-trained", "baseline": "NTP-trained"}
    rows = [[names[who], *(f"{v:.3f}" for v in values.values())] for who, values in found.items()]
    return table(["perplexity, next-token head", *found["model"]], rows)


def sweep() -> str:
    """The fastest setting of every solver that is at parity with NTP."""
    data = results("sweep")["rows"]
    floor = data["NTP"]["mean"]["accuracy"] - WITHIN
    curves: dict[str, list[tuple[str, dict[str, float]]]] = {}
    for name, row in data.items():
        curve, _, parameter = name.partition(" ")
        if parameter:
            curves.setdefault(curve, []).append((parameter, row["mean"]))
    rows = []
    for curve, points in curves.items():
        at_parity = [point for point in points if point[1]["accuracy"] >= floor]
        if not at_parity:
            rows.append([f"`{curve}`", "none", "", ""])
            continue
        parameter, mean = max(at_parity, key=lambda point: point[1]["tokens_per_forward"])
        speed = f"{mean['tokens_per_forward']:.2f}x"
        rows.append([f"`{curve}`", parameter, f"{100 * mean['accuracy']:.1f} %", speed])
    return table(["solver", "fastest setting within a point of NTP", "accuracy", "speed-up"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "evaluation": evaluation,
    "perplexity": perplexity,
    "sweep": sweep,
}


def renewed(text: str) -> str:
    """A document with every table as the results files have it. Raises KeyError."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(renewed(document.read_text("utf-8")), encoding="utf-8")
