"""Tables of measured time and memory."""

from typing import Any

from sbd_core.benchmark.report import load_line, threads_line
from scripts.tables.results_files import results, table, where

BASELINE = "transformers generate()"
PROFILED = ("ntp", "sbd, gamma 0.1, k=16", "verify, k=16")
"""Strategies whose forward passes the profile takes apart."""


def load_of(data: dict[str, Any]) -> str:
    """How busy others kept the machine meanwhile."""
    return f"{load_line(data['other_load']).capitalize()}."


def bench() -> str:
    """Tokens a second as a ratio to generate(), with quartiles."""
    data = results("bench")
    first = next(iter(data["rows"].values()))["families"]
    rows = []
    for name, row in data["rows"].items():
        cells = [cell["ratio"] for cell in row["families"].values()]
        shown = [f"{c['median']:.2f} ({c['low']:.2f}-{c['high']:.2f})" for c in cells]
        rows.append([f"`{name}`", *shown, f"{row['mean_ratio']:.2f}"])
    left_out = "".join(f"{line}. " for line in data["left_out"])
    if "baseline_seconds_by_threads" in data:
        left_out += f"{threads_line(data['baseline_seconds_by_threads'])}. "
    if data.get("is_native"):
        left_out += "Our forward passes ran in C (`--native`). "
    num_prompts = next(iter(first.values()))["num_prompts"]
    return (
        table(["times generate()", *first, "mean"], rows)
        + f"\nPrompts a task: {num_prompts}; median and quartiles. {left_out}"
        + f"{load_of(data)} {where(data)}"
    )


def wall_clock() -> str:
    """`bench` for a few methods: mean, slowest and fastest task, and the gain over `ntp`."""
    data = results("bench")
    rows = []
    for name, row in data["rows"].items():
        if "prompt look-up" not in name and name not in ("ntp", *PROFILED) and name != BASELINE:
            continue
        medians = {task: cell["ratio"]["median"] for task, cell in row["families"].items()}
        low, high = (pick(medians, key=medians.__getitem__) for pick in (min, max))
        gain = row["mean_ratio"] / data["rows"]["ntp"]["mean_ratio"]
        ends = [f"{medians[task]:.2f} ({task})" for task in (low, high)]
        is_ours = "transformers" not in name
        shown = [f"{row['mean_ratio']:.2f}", *ends, f"{gain:.2f}" if is_ours else ""]
        rows.append([f"`{name}`", *shown])
    num_prompts = next(iter(data["rows"]["ntp"]["families"].values()))["num_prompts"]
    head = ["tokens per second", "times generate()", "lowest task", "highest task", "times `ntp`"]
    native = "our forward passes in C (`--native`). " if data.get("is_native") else ""
    return (
        table(head, rows)
        + f"\nMedians over {num_prompts} prompts a task, one at a time, {native}{where(data)}"
    )


def gains() -> str:
    """What fewer forward passes alone gain: medians of `bench` as ratios to `ntp`."""
    rows = results("bench")["rows"]
    ntp = rows["ntp"]
    shown = []
    for name, row in rows.items():
        if name.startswith(("sbd", "verify")):
            cells = [
                cell["ratio"]["median"] / ntp["families"][task]["ratio"]["median"]
                for task, cell in row["families"].items()
            ]
            cells.append(row["mean_ratio"] / ntp["mean_ratio"])
            shown.append([f"`{name}`", *(f"{cell:.2f}" for cell in cells)])
    return table(["times `ntp`", *ntp["families"], "ratio of the means"], shown)


def forwards() -> str:
    """What a forward pass over more tokens costs, beside theory and its matrix products."""
    data = results("bench")
    lengths = list(next(iter(data["forwards"].values())))
    rows = [
        [cached, *(f"{c['milliseconds']:.2f} ms, {c['slowdown']:.2f} ({theory(c)})" for c in cells)]
        for cached, cells in ((cached, row.values()) for cached, row in data["forwards"].items())
    ]
    against = ", ".join(
        f"{cell['ratio']:.2f} times of {count} token{'s' * (count != '1')}"
        for count, cell in data["against_matrices"].items()
    )
    own = "; it makes them in C itself" if data.get("is_native") else ""
    return (
        table(["cached", *(f"{n} token{'s' * (n != '1')}" for n in lengths)], rows)
        + f"\nA forward pass takes {against} what its bare matrix products take in PyTorch{own}.\n"
    )


def shape() -> str:
    """What a forward pass costs as the cache grows, against the roofline."""
    data = results("shape")
    rows = []
    for batch, cells in data["shapes"]["batches"].items():
        growth = cells["growth"]
        rows += [
            [batch, cached, *(f"{cell[f'milliseconds_{n}']:.2f}" for n in (1, 16, 32)), ""]
            for cached, cell in cells.items()
            if cached != "growth"
        ]
        rows[-1][-1] = f"{growth['over_roofline']:.2f}"
    head = ["batch", "cached tokens", "ms, 1 token", "ms, 16 tokens", "ms, 32 tokens"]
    return (
        table([*head, "growth of 1 token / roofline's"], rows)
        + f"\nRandom weights of the shape of {data['shapes']['shape']}; "
        f"{'; '.join(data['left_out'])}. {load_of(data)} {where(data)}"
    )


def theory(cell: dict[str, float | None]) -> str:
    """The roofline's slowdown."""
    return "none" if cell["roofline"] is None else f"{cell['roofline']:.2f}"


def costs() -> str:
    """What a decode spends outside the forward, and the memory it takes at most."""
    data = results("bench")
    rows = [
        [
            f"`{name}`",
            f"{100 * share:.1f} %",
            f"{data['peak_memory'][name]['peak'] / 1e6:.1f} MB",
            f"{100 * data['peak_memory'][name]['over']:.0f} %",
        ]
        for name, share in data["share_outside_forward"].items()
    ]
    return table(["", "time outside the forward", "peak memory", "above weights and cache"], rows)


def profile() -> str:
    """Milliseconds of a forward pass by part, through the lean forward and in C."""
    data = results("profile_native")
    lean, native = results("profile_lean")["rows"], data["rows"]
    runs = [run["milliseconds"] for name in PROFILED for run in (lean[name], native[name])]
    parts = sorted(
        set().union(*runs), key=lambda part: (-max(run.get(part, 0) for run in runs), part)
    )
    rows = [[part, *(f"{run.get(part, 0):.2f}" for run in runs)] for part in parts]
    rows.append(["sum", *(f"{sum(run.values()):.2f}" for run in runs)])
    head = [f"`{name}` {how}" for name in PROFILED for how in ("lean", "in C")]
    return table(["ms per forward pass", *head], rows) + f"\n{load_of(data)} {where(data)}"


def page() -> str:
    """What the browser measured of the page."""
    data = results("page")
    rows = [
        [row["what"], str(row["value"]), row["wanted"], "" if row["is_met"] else "missed"]
        for row in data["rows"].values()
    ]
    return table(["figure", "measured", "wanted", ""], rows) + f"\n{where(data)}"


def notebook() -> str:
    """How long lesson.ipynb takes."""
    data = results("notebook")
    minutes, cells = data["seconds"] / 60, data["seconds_by_cell"]
    return (
        f"{minutes:.1f} minutes for all cells but the installation, of which {max(cells) / 60:.1f} "
        f"minutes are the training. {load_of(data)} {where(data)}"
    )
