"""What bench found, as data and as a table for people. Measures nothing."""

from collections.abc import Mapping
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


def text(result: Mapping[str, Any]) -> str:
    """The results of bench(), and a warning if the machine was busy."""
    if "shapes" in result:
        return _shapes(result)
    if "dtypes" in result:
        return _dtypes(result)
    if "predrafts" in result:
        return _predrafts(result)
    if "peers" in result:
        return _peers(result)
    return _methods(result) if "forwards" in result else _profiles(result)


def _dtypes(result: Mapping[str, Any]) -> str:
    base = next(iter(result["others"].values()))
    lines = [
        f"{name}: {rate:.1f} tokens/s, {rate / base:.2f}x"
        for name, rate in result["others"].items()
    ]
    for dtype, cell in result["dtypes"].items():
        rows = [
            f"{count}: {row['milliseconds']:.2f} ms, {row['over_one_row']:.2f}x one row, "
            f"{row['over_products']:.2f}x its products"
            for count, row in cell["rows"].items()
        ]
        lines += [f"{dtype}, rows", *(f"    {row}" for row in rows)]
        lines += [
            f"    {name}: {rate:.1f} tokens/s, {rate / base:.2f}x"
            for name, rate in cell["tokens_per_second"].items()
        ]
    return "\n".join([*lines, load_line(result["other_load"])])


def _predrafts(result: Mapping[str, Any]) -> str:
    lines = [
        f"{'predrafts':>9}{'threshold':>11}{'tokens/forward':>16}{'rows/forward':>14}"
        f"{'tokens/s':>10}{'seconds':>9}{'roofline':>10}  equal"
    ]
    for row in result["predrafts"]:
        roofline = row["roofline_speedup_over_first"]
        lines.append(
            f"{row['num_predrafts']:>9}{row['draft_threshold']:>11.2f}"
            f"{row['tokens_per_forward']:>16.2f}{row['rows_per_forward']:>14.1f}"
            f"{row['tokens_per_second']:>10.0f}{row['seconds_over_first']:>9.3f}"
            f"{next(iter(roofline.values())):>10.2f}"
            f"  {row['num_equal_to_first']}/{row['num_prompts']}"
        )
    lines.append(
        "seconds: times the first row's; roofline: an 8B model's predicted speed over the first"
    )
    return "\n".join([*lines, load_line(result["other_load"])])


def _peers(result: Mapping[str, Any]) -> str:
    names = ("every", "giving", "drafts", "right", "equal", "of")
    columns = "".join(f"{name:>8}" for name in names)
    lines = [f"{'tokens a forward pass':<48}{columns}"]
    counts = ("num_draft_forwards", "num_right", "num_equal_to_baseline", "num_prompts")
    lines += [
        f"{name:<48}{row['tokens_per_forward']:>8.2f}{row['tokens_per_revealing_forward']:>8.2f}"
        + "".join(f"{row[count]:>8}" for count in counts)
        for name, row in result["peers"].items()
    ]
    lines.append(
        "every: all forward passes of the model count; giving: those that gave a token; drafts: "
        "forward passes of the assistant; right: answers that solve their task; equal: answers "
        "that are those of the first row"
    )
    return "\n".join([*lines, *result["left_out"]])


def _methods(result: Mapping[str, Any]) -> str:
    lines = [*_rows(result["rows"]), *result["left_out"]]
    lines += [threads_line(result["baseline_seconds_by_threads"]), ""]
    for cached, times in result["forwards"].items():
        lines.append(f"forward, {cached} tokens cached: ms (slowdown, roofline's)")
        cells = [f"{n}: {_forward(cell)}" for n, cell in times.items()]
        lines.append("    " + ", ".join(cells))
    for rows, cell in result["against_matrices"].items():
        lines.append(
            f"forward of {rows}: {cell['forward_milliseconds']:.2f} ms, its matrix products "
            f"{cell['matrices_milliseconds']:.2f} ms, {cell['ratio']:.2f}x"
        )
    for name, share in result["share_outside_forward"].items():
        lines.append(f"{name}: {100 * share:.1f} % of a decode outside the forward")
    for name, memory in result["peak_memory"].items():
        lines.append(
            f"{name}: at most {memory['peak'] / 1e6:.1f} MB, weights and cache "
            f"{(memory['weights'] + memory['cache']) / 1e6:.1f} MB, {100 * memory['over']:+.0f} %"
        )
    return "\n".join([*lines, load_line(result["other_load"])])


def _profiles(result: Mapping[str, Any]) -> str:
    lines = []
    for name, row in result["rows"].items():
        lines.append(
            f"{name}: {row['total_milliseconds']:.2f} ms a forward pass, "
            f"{100 * row['share_outside_forward']:.1f} % outside the forward"
        )
        parts = sorted(row["milliseconds"].items(), key=lambda item: -item[1])
        lines += [f"    {part:<36}{milliseconds:>8.3f}" for part, milliseconds in parts]
    return "\n".join([*lines, load_line(result["other_load"])])


def _shapes(result: Mapping[str, Any]) -> str:
    found = result["shapes"]
    lines = [
        f"{found['shape']}: {found['weight_bytes'] / 1e6:.1f} MB of weights read a "
        f"forward pass, copies reach {found['copy_bandwidth'] / 1e9:.1f} GB/s"
    ]
    for batch, rows in found["batches"].items():
        for cached, row in rows.items():
            if cached == "growth":
                lines.append(
                    f"batch {batch}: {row['milliseconds_more']:.3f} ms more with the longest "
                    f"cache, {row['over_roofline']:.2f} of the roofline's "
                    f"{row['roofline_milliseconds_more']:.3f} ms"
                )
                continue
            lines.append(
                f"batch {batch}, {cached} cached: one token {row['milliseconds_1']:.3f} ms, "
                f"{row['one_over_weight_read']:.2f} of reading the weights; "
                f"16 {row['block_over_one']:.2f}x, 32 {row['two_blocks_over_one']:.2f}x"
            )
    replay = found["replay"]
    lines.append(
        f"{replay['num_tokens']} tokens in {replay['num_passes']} forward passes, replayed: "
        f"{replay['nfe_speedup']:.2f}x fewer of them, {replay['wall_clock_speedup']:.2f}x less "
        f"time, {replay['share']:.2f} of it"
    )
    return "\n".join([*lines, *result["left_out"], load_line(result["other_load"])])


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


def _forward(cell: Mapping[str, float | None]) -> str:
    theory = "none" if cell["roofline"] is None else f"{cell['roofline']:.2f}"
    return f"{cell['milliseconds']:.2f} ({cell['slowdown']:.2f}, {theory})"


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}
