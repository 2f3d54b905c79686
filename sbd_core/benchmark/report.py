"""What bench found, as data and as a table for people. Measures nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from sbd_core.benchmark.methods import Times, median_and_spread

LOADED_CORES = 0.1
"""Busy cores of other processes from which times are marked as not clean."""


def row(name: str, baseline: str, tasks: Mapping[str, Mapping[str, Times]]) -> dict[str, Any]:
    """Tokens a second and the ratio to the baseline, prompt by prompt, per task and mean."""
    cells: dict[str, dict[str, Any]] = {}
    for task, times in tasks.items():
        ours, base = times[name], times[baseline]
        ratios = [a / b for a, b in zip(ours.rates, base.rates, strict=True)]
        cells[task] = {
            "tokens_per_second": _rounded(median_and_spread(ours.rates)),
            "ratio": _rounded(median_and_spread(ratios)),
            "num_prompts": len(ratios),
            "num_equal_to_baseline": ours.num_equal,
        }
    mean = sum(cell["ratio"]["median"] for cell in cells.values()) / len(cells)
    return {"families": cells, "mean_ratio": round(mean, 3)}


NOTES = ("left_out", "other_load", "circumstances", "baseline_seconds_by_threads")
"""What is no table of the results."""


def text(result: Mapping[str, Any]) -> str:
    """The results of bench() as tables, and a warning if the machine was busy."""
    lines: list[str] = []
    for name, found in result.items():
        if name == "rows" and "forwards" in result:
            lines += _rows(found)
        elif isinstance(found, dict | list) and name not in NOTES:
            lines += _tables(name.replace("_", " "), found)
    lines += result.get("left_out", [])
    if "baseline_seconds_by_threads" in result:
        lines.append(threads_line(result["baseline_seconds_by_threads"]))
    return "\n".join([*lines, load_line(result["other_load"])])


def _tables(title: str, found: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    """What lies nested as one table, where its rows are numbers by name, else as several."""
    rows = found if isinstance(found, Mapping) else {str(i): x for i, x in enumerate(found, 1)}
    own = {name: value for name, value in rows.items() if not isinstance(value, dict | list)}
    lines = _table(title, {"": own}) if own else []
    nested = {name: value for name, value in rows.items() if name not in own}
    numbers = {
        row: {name: value for name, value in cells.items() if not isinstance(value, dict | list)}
        for row, cells in nested.items()
    }
    columns = {tuple(cells) for cells in numbers.values()}
    if len(columns) == 1 and all(columns):
        return [*lines, *_table(title, numbers)]
    for name, value in nested.items():
        lines += _tables(f"{title}, {name}", value)
    return lines


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line a row, the names of the numbers above them."""
    names = list(next(iter(rows.values())))
    shown = [names, *([_shown(cells[name]) for name in names] for cells in rows.values())]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    width = max(map(len, [title, *rows]))
    return [
        f"{head:<{width}}"
        + "".join(f"  {cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
        for head, cells in zip([title, *rows], shown, strict=True)
    ]


def _shown(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.4f}"


def threads_line(seconds: Mapping[str, float]) -> str:
    """How long generate() took with each number of threads."""
    shown = [f"{s:.3f} s with {n} thread{'s' * (n != '1')}" for n, s in seconds.items()]
    chosen = min(seconds, key=seconds.__getitem__)
    return f"generate() took {', '.join(shown)} on one prompt; all of its runs use {chosen}"


def load_line(load: Mapping[str, float]) -> str:
    """How busy other processes kept the machine."""
    if "cores" not in load:
        return "other load on the machine: not known here"
    if load["cores"] > LOADED_CORES:
        return f"warning: other processes kept {load['cores']} cores busy; times are not clean"
    return f"other processes kept {load['cores']} cores busy"


def _rows(rows: Mapping[str, Any]) -> list[str]:
    tasks = list(next(iter(rows.values()))["families"])
    head = f"{'times generate() (quartiles)':<40}" + "".join(f"{name:>19}" for name in tasks)
    lines = [f"{head}   mean"]
    for name, found in rows.items():
        cells = [found["families"][task]["ratio"] for task in tasks]
        shown = [f"{c['median']:.2f} ({c['low']:.2f}-{c['high']:.2f})" for c in cells]
        text = "".join(f"{cell:>19}" for cell in shown)
        lines.append(f"{name:<40}{text}{found['mean_ratio']:>7.2f}")
    return lines


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}
