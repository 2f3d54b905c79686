"""Tables of the README, docs/ and the model card, made from the results files.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `python -m scripts.write_tables`
renews them all.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from sbd_core.plots.solver_curves import CurvePoint, curves
from scripts.tables.aims import aims
from scripts.tables.browser import browser
from scripts.tables.faults import campaign
from scripts.tables.memory import memory
from scripts.tables.models import (
    continued,
    curve,
    further,
    masked_weight,
    sizes,
    stretches,
    trials,
    wider,
)
from scripts.tables.peers import peers
from scripts.tables.predrafts import exactness, predrafts, predrafts_many
from scripts.tables.presets import presets
from scripts.tables.results_files import results, table, where
from scripts.tables.tiny_qwen3 import tiny_qwen3
from scripts.tables.wall_clock import (
    bench,
    costs,
    forwards,
    gains,
    notebook,
    page,
    profile,
    shape,
    wall_clock,
)

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "assets" / "checkpoints" / "sbd-nano" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
SPEEDS = (1.5, 2, 3, 4)
"""Tokens per forward pass at which the solvers are compared."""

FEW_ROWS = ("NTP", "SBD gamma 0.1", "SBD from the left, gamma 0.1", "verify")
"""Rows of the table of the README."""

WORDED_ROWS = ("NTP", "SBD gamma 0.1", "verify")
"""Rows of the table of seen and unseen wordings."""

OWN_ROWS = ("NTP", "SBD gamma 0.1")
"""Rows whose answers to handwritten prompts are shown."""

MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def evaluation() -> str:
    """The paper's Table 1 on the bundled checkpoint."""
    data = results("evaluation")
    return _evaluation(data, list(data["rows"])) + _held_out(data)


def wordings() -> str:
    """Accuracy on prompts told in words that training draws too, and in words it never does."""
    data = results("evaluation")
    rows = []
    for name in WORDED_ROWS:
        tasks = data["rows"][name]["families"]
        for kind in ("seen", "unseen"):
            shares = [task[f"accuracy_{kind}"] for task in tasks]
            told = [share for share in shares if share is not None]
            cells = ["" if share is None else f"{100 * share:.1f} %" for share in shares]
            rows.append(
                [f"**{name}**, {kind}", *cells, f"{100 * sum(told) / max(len(told), 1):.1f} %"]
            )
    counts = ", ".join(f"{task['num_unseen']} in {task['family']}" for task in tasks)
    return (
        table(["", *(task["family"] for task in tasks), "mean"], rows)
        + f"\nUnseen, of {tasks[0]['num_examples']} examples a task: {counts}. {where(data)}"
    )


def accuracy() -> str:
    """The same in a few rows."""
    data = results("evaluation")
    return _evaluation(data, [row for row in data["rows"] if row in FEW_ROWS]) + _held_out(data)


def _evaluation(data: dict[str, Any], names: list[str]) -> str:
    first = data["rows"][names[0]]["families"]
    rows = []
    for name in names:
        row, own = data["rows"][name], data["own_wording"][name]
        cells = [*row["families"], row["mean"]]
        shown = [f"{100 * c['accuracy']:.1f} %, {c['tokens_per_forward']:.2f}x" for c in cells]
        own_share = f"{round(own['accuracy'] * own['num_examples'])} of {own['num_examples']}"
        rows.append([f"**{name}**", *shown, own_share, f"{row['mean']['tokens_per_second']:.0f}"])
    head = ["", *(task["family"] for task in first), "mean", "handwritten", "tokens/s"]
    return table(head, rows)


def _held_out(data: dict[str, Any]) -> str:
    cells = [task for row in data["rows"].values() for task in row["families"]]
    widest = max(cell["accuracy_high"] - cell["accuracy_low"] for cell in cells)
    return (
        f"\n{cells[0]['num_examples']} held-out examples a task; 95 % intervals reach at most "
        f"{100 * widest / 2:.1f} points to either side. "
        f"Tokens/s are those of one process, in batches of {data['batch_size']}. {where(data)}"
    )


def own_answers() -> str:
    """Prompts that no generator made, and what came back."""
    rows = []
    for one in results("evaluation")["own_answers"]:
        answers = [one["answers"][name] for name in OWN_ROWS]
        shown = [f"{'right' if a['is_right'] else 'wrong'}: {quoted(a['text'])}" for a in answers]
        rows.append([one["family"], quoted(one["prompt"]), *shown])
    return table(["task", "prompt", *OWN_ROWS], rows)


def quoted(text: str) -> str:
    """Any text in a cell of a table, as it is but for line breaks."""
    plain = re.sub(r"\s*\n\s*", " ⏎ ", text.strip()).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain else "nothing"


def parity() -> str:
    """What SBD training costs NTP: two models from nothing, after the same number of steps."""
    rows = []
    for who in ("NTP", "SBD"):
        data = results(f"parity_{who.lower()}")
        row = data["rows"]["ntp"]
        tasks = row["families"]
        shares = [task["accuracy"] for task in (*tasks, row["mean"])]
        rows.append([f"**{who}-trained**", *(f"{100 * share:.1f} %" for share in shares)])
    widest = max(task["accuracy_high"] - task["accuracy_low"] for task in tasks)
    return (
        table(["NTP decoding", *(task["family"] for task in tasks), "mean"], rows)
        + f"\n{tasks[0]['num_examples']:,} held-out examples a task; 95 % intervals reach at most "
        f"{100 * widest / 2:.1f} points to either side. {where(data)}"
    )


def sweep() -> str:
    """Every solver's accuracy at equal speeds, read off its curve."""
    data = results("sweep")
    rows = []
    for solver, points in curves(data["rows"]).items():
        best = max(points, key=lambda point: (point.accuracy, point.speed))
        shares = [at_speed(points, speed) for speed in SPEEDS]
        rows.append(
            [
                f"`{solver}`",
                f"{100 * best.accuracy:.1f} %, {best.speed:.2f}x, at {best.parameter}",
                *("" if share is None else f"{100 * share:.1f} %" for share in shares),
            ]
        )
    ntp = data["rows"]["NTP"]
    head = ["solver", "its most accurate setting", *(f"at {speed:g}x" for speed in SPEEDS)]
    return (
        table(head, rows)
        + f"\nMean accuracy of the tasks, {ntp['families'][0]['num_examples']} examples each, "
        f"between two settings as a straight line; empty where no setting is as fast or as slow. "
        f"NTP: {100 * ntp['mean']['accuracy']:.1f} %. {where(data)}"
    )


def at_speed(points: list[CurvePoint], speed: float) -> float | None:
    """Accuracy of a curve at so many tokens a forward pass, or None where it does not reach."""
    in_order = sorted(points, key=lambda point: point.speed)
    for slow, fast in pairwise(in_order):
        if slow.speed <= speed <= fast.speed:
            share = (speed - slow.speed) / max(fast.speed - slow.speed, 1e-9)
            return slow.accuracy + share * (fast.accuracy - slow.accuracy)
    return None


TABLES: dict[str, Callable[[], str]] = {
    "evaluation": evaluation,
    "wordings": wordings,
    "accuracy": accuracy,
    "own_answers": own_answers,
    "parity": parity,
    "trials": trials,
    "continued": continued,
    "masked_weight": masked_weight,
    "further": further,
    "wider": wider,
    "sizes": sizes,
    "aims": aims,
    "curve": curve,
    "stretches": stretches,
    "sweep": sweep,
    "shape": shape,
    "bench": bench,
    "wall_clock": wall_clock,
    "gains": gains,
    "forwards": forwards,
    "costs": costs,
    "profile": profile,
    "page": page,
    "browser": browser,
    "predrafts": predrafts,
    "predrafts_many": predrafts_many,
    "exactness": exactness,
    "campaign": campaign,
    "memory": memory,
    "notebook": notebook,
    "presets": presets,
    "peers": peers,
    "tiny_qwen3": tiny_qwen3,
}


def renewed(text: str) -> str:
    """A document with every table as the results files have it. Raises KeyError."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(renewed(document.read_text("utf-8")), encoding="utf-8")
