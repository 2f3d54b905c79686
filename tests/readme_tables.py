"""Tables of the README and the model card, made from the results files.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; `python -m tests.readme_tables`
renews them all.
"""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from sbd_core.benchmark.report import load_line, threads_line
from sbd_core.evaluation.report import BASELINE_ROW
from ui.charts.solvers import CurvePoint, curves

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "assets" / "checkpoints" / "sbd-nano" / "README.md")
RESULTS = ROOT / "assets" / "results"
SPEEDS = (1.5, 2, 3, 4)
"""Tokens a pass at which the README compares the solvers."""

OWN_ROWS = ("NTP", "SBD gamma 0.1")
"""Rows whose answers to prompts of our own wording are told."""

PROFILED = ("ntp", "sbd, gamma 0.1, k=16", "verify, k=16")
"""Strategies whose passes the README takes apart."""

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
    facts, processes = data["circumstances"], data.get("processes", 1)
    shared = f"{processes} processes of " if processes > 1 else ""
    return (
        f"Measured on {facts['cores']} cores of {facts['processor']}, {shared}{facts['threads']} "
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
        rows.append([f"**{name}**", *shown, own_share, f"{row['mean']['tokens_per_second']:.0f}"])
    head = ["", *(family["family"] for family in first), "mean", "own wording", "tokens/s"]
    widest = max(
        family["accuracy_high"] - family["accuracy_low"]
        for row in data["rows"].values()
        for family in row["families"]
    )
    return (
        table(head, rows)
        + f"\n{first[0]['num_examples']} held-out examples a family; the 95 % intervals are in the "
        f"file, at most {100 * widest / 2:.1f} points to either side. "
        f"Tokens/s are those of one process, in batches of {data['batch_size']}. {where(data)}"
    )


def own_answers() -> str:
    """Prompts that no generator made, and what came back."""
    rows = []
    for one in results("evaluation")["own_answers"]:
        answers = [one["answers"][name] for name in OWN_ROWS]
        shown = [f"{'right' if a['is_right'] else 'wrong'}: {quoted(a['text'])}" for a in answers]
        rows.append([one["family"], quoted(one["prompt"]), *shown])
    return table(["family", "prompt", *OWN_ROWS], rows)


def quoted(text: str) -> str:
    """Any text in a cell of a table, as it is but for line breaks."""
    plain = re.sub(r"\s*\n\s*", " ⏎ ", text.strip()).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain else "nothing"


def parity() -> str:
    """What SBD training costs NTP: two models from one base, after the same number of steps."""
    data = results("parity")
    names = {
        "baseline": ("NTP-trained", data["rows"][BASELINE_ROW]),
        "model": ("SBD-trained", data["rows"]["NTP"]),
    }
    rows = []
    for who, (name, row) in names.items():
        perplexities = data["perplexity"][who].values()
        cells = [
            f"{100 * family['accuracy']:.1f} %, {value:.3f}"
            for family, value in zip(row["families"], perplexities, strict=True)
        ]
        rows.append([f"**{name}**", *cells, f"{100 * row['mean']['accuracy']:.1f} %"])
    head = ["NTP decoding", *data["perplexity"]["model"], "mean"]
    return table(head, rows) + f"\n{where(data)}"


def perplexity() -> str:
    """Of the next-token head, per family."""
    found = results("evaluation")["perplexity"]["model"]
    head = ["perplexity", *found]
    return table(head, [["next-token head", *(f"{value:.3f}" for value in found.values())]])


def trials() -> str:
    """Losses tried against the paper's, from the same start: the first model is the paper's."""
    data = results("trials")
    first = next(iter(data["models"].values()))
    named = {}
    for name, model in data["models"].items():
        changed = [
            f"{field} {value}"
            for field, value in model["recipe"].items()
            if value != first["recipe"][field] and field not in ("steps", "decay_steps")
        ]
        recipe = ", ".join(changed) or "the paper's loss"
        named[name] = [f"`{name}`", recipe, str(model["recipe"]["steps"])]
    return compared(data, ["trial", "recipe", "steps"], named)


def curve() -> str:
    """Accuracy against training steps: models along the bundled one's way."""
    data = results("curve")
    named = {}
    for name, model in data["models"].items():
        recipe = model["recipe"]
        steps, falling = recipe["steps"], recipe["decay_steps"]
        ours = max(0, steps - recipe["paper_loss_steps"]) if recipe["full_mask_share"] else 0
        named[name] = [f"{steps:,}", f"{falling:,}", f"{ours:,}"]
    return compared(data, ["steps", "with the rate falling", "with texts masked whole"], named)


def compared(data: dict[str, Any], head: list[str], named: dict[str, list[str]]) -> str:
    """Models side by side: their loss on the same masked answers, and means of the families."""
    rows = []
    for name, model in data["models"].items():
        losses = model["masked_loss"].values()
        means = [row["mean"] for row in model["rows"].values()]
        rows.append(
            [
                *named[name],
                f"{sum(losses) / len(losses):.3f}",
                *(f"{100 * m['accuracy']:.1f} %, {m['tokens_per_forward']:.2f}x" for m in means),
            ]
        )
    first = next(iter(data["models"].values()))["rows"]
    num_examples = next(iter(first.values()))["families"][0]["num_examples"]
    return (
        table([*head, "nats a masked token", *first], rows)
        + f"\nMeans of the families, {num_examples} held-out examples each, the same for all. "
        f"{where(data)}"
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
        + f"\nMean accuracy of the families, {ntp['families'][0]['num_examples']} examples each, "
        f"between two settings as a straight line; empty where no setting is as fast or as slow. "
        f"NTP: {100 * ntp['mean']['accuracy']:.1f} %. {where(data)}"
    )


def at_speed(points: list[CurvePoint], speed: float) -> float | None:
    """Accuracy of a curve at so many tokens a pass, or None where it does not reach."""
    in_order = sorted(points, key=lambda point: point.speed)
    for slow, fast in pairwise(in_order):
        if slow.speed <= speed <= fast.speed:
            share = (speed - slow.speed) / max(fast.speed - slow.speed, 1e-9)
            return slow.accuracy + share * (fast.accuracy - slow.accuracy)
    return None


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
        left_out += "Our passes ran in C (`--native`). "
    num_prompts = next(iter(first.values()))["num_prompts"]
    return (
        table(["times generate()", *first, "mean"], rows)
        + f"\nPrompts a family: {num_prompts}; median and quartiles. {left_out}"
        + f"{load_of(data)} {where(data)}"
    )


def forwards() -> str:
    """What a pass over more tokens costs, against theory and against its matrix products."""
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
    return (
        table(["cached", *(f"{n} token{'s' * (n != '1')}" for n in lengths)], rows)
        + f"\nA pass takes {against} what its bare matrix products take.\n"
    )


def shape() -> str:
    """What a pass costs as the cache grows, against the roofline."""
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
    """Milliseconds of a pass by part, before and after the lean forward."""
    before, after = results("profile_before")["rows"], results("profile_after")["rows"]
    both = [name for name in PROFILED if name in after]
    runs = [run["milliseconds"] for name in both for run in (before[name], after[name])]
    parts = sorted(
        set().union(*runs), key=lambda part: (-max(run.get(part, 0) for run in runs), part)
    )
    rows = [[part, *(f"{run.get(part, 0):.2f}" for run in runs)] for part in parts]
    rows.append(["sum", *(f"{sum(run.values()):.2f}" for run in runs)])
    head = [f"`{name}` {when}" for name in both for when in ("before", "after")]
    data = results("profile_after")
    return table(["ms a pass", *head], rows) + f"\n{load_of(data)} {where(data)}"


def page() -> str:
    """What the browser measured of the page."""
    data = results("page")
    rows = [
        [row["what"], str(row["value"]), row["wanted"], "" if row["is_met"] else "missed"]
        for row in data["rows"].values()
    ]
    return table(["figure", "measured", "wanted", ""], rows) + f"\n{where(data)}"


TABLES: dict[str, Callable[[], str]] = {
    "evaluation": evaluation,
    "own_answers": own_answers,
    "parity": parity,
    "perplexity": perplexity,
    "trials": trials,
    "curve": curve,
    "sweep": sweep,
    "shape": shape,
    "bench": bench,
    "forwards": forwards,
    "costs": costs,
    "profile": profile,
    "page": page,
}


def renewed(text: str) -> str:
    """A document with every table as the results files have it. Raises KeyError."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(renewed(document.read_text("utf-8")), encoding="utf-8")
