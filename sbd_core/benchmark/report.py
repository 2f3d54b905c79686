"""Shows the results of bench() as text tables."""

from collections.abc import Mapping
from typing import Any, get_args

from sbd_core.config import StrategyName

LOADED_CORES = 0.1
"""Cores kept busy by other processes from which times are marked as not clean."""


def text(result: Mapping[str, Any]) -> str:
    """Show methods, forward passes, the methods left out, and the machine's load as text."""
    rows = result["rows"]
    tasks = next(iter(rows.values()))["families"]
    head = ["times generate() (quartiles)", *tasks, "mean", "times ntp"]
    times = [
        [
            name,
            *(spread(cell["ratio"]) for cell in row["families"].values()),
            f"{row['mean_ratio']:.2f}",
            gain_over_ntp(rows, name),
        ]
        for name, row in rows.items()
    ]
    counts = [
        [
            name,
            f"{row['tokens_per_second']:.1f}",
            f"{row['tokens_per_forward']:.2f}",
            "" if row["rows_per_forward"] is None else f"{row['rows_per_forward']:.1f}",
            str(row["num_draft_forwards"] or ""),
            f"{row['num_right']}/{row['num_prompts']}",
            f"{row['num_equal_to_baseline']}/{row['num_prompts']}",
        ]
        for name, row in rows.items()
    ]
    named = ["", "tokens/s", "tokens/forward", "rows/forward", "assistant's forwards"]
    lines = [*_table([head, *times]), "", *_table([[*named, "right", "as generate()"], *counts])]
    if forwards := result["forwards"]:
        lengths = next(iter(forwards.values()))
        table = [["milliseconds (slowdown)", *(f"{count} rows" for count in lengths)]]
        for cached, cells in forwards.items():
            shown = (f"{c['milliseconds']:.2f} ({c['slowdown']:.2f})" for c in cells.values())
            table.append([f"{cached} cached", *shown])
        lines += ["", *_table(table)]
    for dtype, parts in result.get("parts_by_dtype", {}).items():
        lengths = [f"{count} rows" for count in parts["causal rows"]]
        table = [[f"milliseconds, {dtype}", *lengths]]
        table += [[name, *(f"{ms:.2f}" for ms in each.values())] for name, each in parts.items()]
        lines += ["", *_table(table)]
    lines += ["", *result["left_out"], threads_line(result["baseline_seconds_by_threads"])]
    return "\n".join([*lines, load_line(result["other_load"])])


def spread(cell: Mapping[str, float]) -> str:
    """A median and its quartiles as text, such as "1.20 (1.10-1.35)"."""
    return f"{cell['median']:.2f} ({cell['low']:.2f}-{cell['high']:.2f})"


def gain_over_ntp(rows: Mapping[str, Any], name: str) -> str:
    """Speed-up of a method over our `ntp` in the same dtype; "" for a method that is not ours."""
    prefix = next(
        (name[: name.index(each)] for each in get_args(StrategyName) if each in name), None
    )
    ntp = None if prefix is None else rows.get(f"{prefix}ntp")
    return "" if ntp is None else f"{rows[name]['mean_ratio'] / ntp['mean_ratio']:.2f}"


def _table(rows: list[list[str]]) -> list[str]:
    """Lay out rows of cells as lines. The first column is aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{head:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        for head, *cells in rows
    ]


def threads_line(seconds: Mapping[str, float]) -> str:
    """Say how long the baseline took with each number of threads, and which number was chosen."""
    shown = [f"{s:.3f} s with {n} thread{'s' * (n != '1')}" for n, s in seconds.items()]
    chosen = min(seconds, key=seconds.__getitem__)
    return f"generate() took {', '.join(shown)} on one prompt; all of its runs use {chosen}"


def load_line(load: Mapping[str, float]) -> str:
    """Say how many cores other processes kept busy."""
    if "cores" not in load:
        return "other load on the machine: not known here"
    if load["cores"] > LOADED_CORES:
        return f"warning: other processes kept {load['cores']} cores busy; times are not clean"
    return f"other processes kept {load['cores']} cores busy"
