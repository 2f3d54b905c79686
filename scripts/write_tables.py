"""Write the tables of README, docs/ and the model card: python -m scripts.write_tables

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. Its numbers come from the files in
assets/results; docs/ gives the commands that write these files.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from sbd_core.benchmark import GENERATE, load_line
from sbd_core.plots.solver_curves import CurvePoint, curves
from sbd_core.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "assets" / "results"
DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "assets" / "checkpoints" / "sbd-nano" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
ADAPTER = ROOT / "assets" / "checkpoints" / "sbd-smollm2-135m" / "block_adapter.json"
SPACING = 1.15
"""Least ratio of masked tokens between two rows of the table of the adapter's training."""
SPEEDS = (1.5, 2, 3, 4)

FEW_ROWS = ("NTP", "SBD gamma 0.1", "SBD from the left, gamma 0.1", "verify")
"""Rows of the table of the README."""

MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def evaluation(names: Sequence[str] = ()) -> str:
    """Table of nano's accuracy and speed by method. names: methods to show, () for all."""
    data = results("evaluation")
    chosen = {name: row for name, row in data["rows"].items() if not names or name in names}
    rows = []
    for name, row in chosen.items():
        own = data["own_wording"][name]
        cells = [*row["families"], row["mean"]]
        shown = [f"{100 * c['accuracy']:.1f} %, {c['tokens_per_forward']:.2f}x" for c in cells]
        own_share = f"{round(own['accuracy'] * own['num_examples'])} of {own['num_examples']}"
        unseen = fmean(task["accuracy_unseen"] for task in row["families"])
        speed = f"{row['mean']['tokens_per_second']:.0f}"
        rows.append([f"**{name}**", *shown, f"{100 * unseen:.1f} %", own_share, speed])
    every = [task for row in data["rows"].values() for task in row["families"]]
    widest = max(cell["accuracy_high"] - cell["accuracy_low"] for cell in every)
    tasks = data["rows"]["NTP"]["families"]
    counts = ", ".join(str(task["num_unseen"]) for task in tasks)
    head = ["", *(task["family"] for task in tasks), "mean", "unseen", "handwritten", "tokens/s"]
    return (
        table(head, rows)
        + f"\n{every[0]['num_examples']:,} held-out examples a task; 95 % intervals reach at most "
        f"{100 * widest / 2:.1f} points to either side. Unseen: mean accuracy on the prompts "
        f"({counts}) in phrasings that training never has. Tokens/s are those of one process, in "
        f"batches of {data['batch_size']}. {measured_on(data)}"
    )


def sweep() -> str:
    """Accuracy of every solver at equal speed, interpolated between the measured settings."""
    data = results("sweep")
    rows = []
    for solver, points in curves(data["rows"]).items():
        best = max(points, key=lambda point: (point.accuracy, point.speed))
        shares = [accuracy_at_speed(points, speed) for speed in SPEEDS]
        shown = ["" if share is None else f"{100 * share:.1f} %" for share in shares]
        most = f"{100 * best.accuracy:.1f} %, {best.speed:.2f}x, at {best.parameter}"
        rows.append([f"`{solver}`", most, *shown])
    ntp = data["rows"]["NTP"]
    head = ["solver", "its most accurate setting", *(f"at {speed:g}x" for speed in SPEEDS)]
    return (
        table(head, rows)
        + f"\nMean accuracy of the tasks, {ntp['families'][0]['num_examples']} examples each, "
        f"interpolated linearly between settings; empty at a speed outside of a solver's settings. "
        f"NTP: {100 * ntp['mean']['accuracy']:.1f} %. {measured_on(data)}"
    )


def accuracy_at_speed(points: list[CurvePoint], speed: float) -> float | None:
    """Interpolate the accuracy at `speed` tokens per forward pass; None outside the range."""
    in_order = sorted(points, key=lambda point: point.speed)
    for slow, fast in pairwise(in_order):
        if slow.speed <= speed <= fast.speed:
            share = (speed - slow.speed) / max(fast.speed - slow.speed, 1e-9)
            return slow.accuracy + share * (fast.accuracy - slow.accuracy)
    return None


def bench() -> str:
    """Tokens per second of each method relative to generate(), with quartiles."""
    data = results("bench")
    methods = data["rows"]
    tasks = methods["ntp"]["families"]
    rows = []
    for name, row in methods.items():
        ratios = [cell["ratio"] for cell in row["families"].values()]
        gain = row["mean_ratio"] / methods["ntp"]["mean_ratio"]
        shown = [f"{each['median']:.2f} ({each['low']:.2f}-{each['high']:.2f})" for each in ratios]
        shown += [f"{row['mean_ratio']:.2f}", "" if name.startswith(GENERATE) else f"{gain:.2f}"]
        rows.append([f"`{name}`", *shown])
    num_prompts = next(iter(tasks.values()))["num_prompts"]
    return (
        table(["times generate()", *tasks, "mean", "times `ntp`"], rows)
        + f"\nPrompts a task: {num_prompts}; median and quartiles. Our forward passes "
        f"ran in {data['runs_on']}. {load_sentence(data)} {measured_on(data)}"
    )


def speeds() -> str:
    """Tokens per second of SmolLM2 in transformers and in ours, one prompt at a time."""
    by_dtype = {"float32": results("bench-smollm2"), "int8": results("bench-smollm2-int8")}
    data = by_dtype["float32"]
    rows = [[f"`{GENERATE}`", f"{data['rows'][GENERATE]['tokens_per_second']:.1f}", ""]]
    for name in data["rows"]:
        if not name.startswith((GENERATE, "sbd,")):
            rates = [
                [of["rows"][each]["tokens_per_second"] for each in (name, "ntp")]
                for of in by_dtype.values()
            ]
            rows.append([f"`{name}`", *(f"{rate:.1f} ({rate / ntp:.2f})" for rate, ntp in rates)])
    return (
        table(["tokens/s", *by_dtype], rows)
        + f"\nMedians over {data['rows'][GENERATE]['num_prompts']} prompts of nano's tasks; in "
        f"parentheses, as a multiple of `ntp`. {load_sentence(data)} "
        f"{measured_on(data, 'each dtype')}"
    )


def forwards() -> str:
    """Milliseconds of a forward pass by number of new and of cached tokens."""
    data = results("bench")
    lengths = list(next(iter(data["forwards"].values())))
    rows = [
        [cached, *(f"{c['milliseconds']:.2f} ms, {c['slowdown']:.2f}" for c in row.values())]
        for cached, row in data["forwards"].items()
    ]
    head = ["cached", *(f"{n} token{'s' * (n != '1')}" for n in lengths)]
    return table(head, rows) + f"\nIn {data['runs_on']}. {load_sentence(data)} {measured_on(data)}"


def solvers() -> str:
    """Table of all solvers, each with the first line of its class's docstring."""
    rows = [
        [f"`{name}`", str(rule.__doc__).partition("\n")[0].rstrip(".")]
        for name, rule in SOLVERS.items()
    ]
    return table(["solver", "reveals"], rows)


def requests() -> str:
    """Tokens per forward pass and answer quality of each decoding method on real prompts."""
    data = results("requests")
    sets = data["requests"]
    head, columns = [""], [[f"**{score['row']}**" for score in next(iter(sets.values()))]]
    for name, scores in sets.items():
        if scores[0]["accuracy"] is not None:
            head += [f"{name}: follows", "against NTP"]
            columns.append([f"{100 * score['accuracy']:.1f} %" for score in scores])
            pairs = [(100 * s["difference"], 100 * s["difference_interval"]) for s in scores]
            columns.append([f"{difference:+.1f} ± {half:.1f}" for difference, half in pairs])
        head += [f"{name}: tokens a pass", "agrees", "loops"]
        columns.append([f"{score['tokens_per_forward']:.2f}" for score in scores])
        columns.append([f"{100 * score['agreement']:.1f} %" for score in scores])
        columns.append([str(score["num_loops"]) for score in scores])
    rows = [list(cells) for cells in zip(*columns, strict=True)]
    counts = [scores[0]["num_answers"] + scores[0]["num_loops"] for scores in sets.values()]
    shown = ", ".join(f"{count} of {name}" for count, name in zip(counts, sets, strict=True))
    digests = " beside ".join(f"{name} ({each[:8]})" for name, each in data["weights"].items())
    chosen = (
        f" Each γ was chosen beforehand on {data['gammas_on']}: the one with most tokens per "
        f"forward pass among those with at least {100 * data['least_agreement']:.0f} % agreement, "
        "or, if there is none, the smallest."
    )
    verified = [s for scores in sets.values() for s in scores if s["row"] == "verify"]
    other = sum(round(s["num_answers"] * (1 - s["same_as_ntp"])) for s in verified)
    num_verified = sum(score["num_answers"] for score in verified)
    kept = (
        f"{num_verified - other:,} of the {num_verified:,} answers of `verify` that do not loop "
        "are NTP's, token for token. "
    )
    return (
        table(head, rows)
        + f"\n{shown}; answers of at most {data['max_new_tokens']} tokens, greedy, blocks of "
        f"{data['block_size']}, {data['runs_on']}, in batches of {data['batch_size']}. "
        "Agrees: share of tokens that next-token prediction, reading them afterwards, would have "
        'chosen. Loops: answers that repeat themselves without end; they count in "follows" and '
        '"against NTP" alone. ± is half the width of the 95 % interval of the difference, '
        "request by request."
        f"{chosen if data['gammas'] else ''} {kept}"
        f"Weights: {digests}. {measured_on(data)}"
    )


def adapter_training() -> str:
    """Progress of the bundled adapter's training, by number of masked tokens trained on."""
    curve = json.loads(ADAPTER.read_text("utf-8"))["trained"]["curve"]
    shown = [curve[0]]
    for before, point in pairwise(curve[:-1]):
        seen = point["masked_tokens"]
        # Measured again on other texts: both rows are shown.
        if seen == before["masked_tokens"]:
            shown += [point] if shown[-1] is before else [before, point]
        elif seen >= SPACING * shown[-1]["masked_tokens"]:
            shown.append(point)
    shown += curve[-1:] if len(curve) > 1 else []
    head = ["masked tokens", "steps", "minutes", "nats", "nats, token before known"]
    head += ["`lead`", "`drafted`"]
    rows = [
        [
            f"{point['masked_tokens']:,}",
            f"{point['steps']:,}",
            f"{point['minutes']:,.0f}",
            *(f"{point[name]:.2f}" for name in ("nats", "nats_with_before", "lead", "drafted")),
        ]
        for point in shown
    ]
    return table(head, rows)


def results(name: str) -> dict[str, Any]:
    """Read the results file assets/results/NAME.json."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text("utf-8")))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Format a header and rows as a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def measured_on(data: dict[str, Any], dtype: str = "fp32") -> str:
    """A sentence that names the machine and the library versions of a measurement."""
    facts, processes = data["circumstances"], data.get("processes", 1)
    shared = f"{processes} processes of " if processes > 1 else ""
    return (
        f"Measured on {cores(facts)}, {shared}"
        f"{facts['threads']} thread{'s' * (facts['threads'] > 1)}, {dtype}, "
        f"PyTorch {facts['torch']}, transformers {facts['transformers']}.\n"
    )


def cores(facts: dict[str, Any]) -> str:
    """The cores of the machine of a measurement, such as "2 cores of NAME (AVX-512)"."""
    vectors = f" ({facts['vectors']})" if facts.get("vectors") else ""
    return f"{facts['cores']} cores of {facts['processor']}{vectors}"


def load_sentence(data: dict[str, Any]) -> str:
    """A sentence that says how busy other programs kept the machine."""
    return f"{load_line(data['other_load']).capitalize()}."


def gpu() -> str:
    """Tokens per second on a GPU, and milliseconds of forward passes by number of rows."""
    data, large, counts = results("gpu"), "Llama 8B shape", (1, 2, 4, 8, 16, 17, 32, 64)
    ways = []
    for name, of in data.items():
        kind, _, way = name.partition(", ")
        if kind == "tokens a second":
            shown = large if way.endswith(large) else "SmolLM2"
            speed = of["tokens"] / (of["forwards"] or of["tokens"])
            rates = [f"{of['tokens'] / of['seconds']:.0f}", f"{speed:.2f}"]
            ways.append([shown, f"`{way.removesuffix(f', {large}')}`", *rates])
    cells = {
        model: [data[f"{model}: {count} rows, 512 cached"] for count in counts]
        for model in ("SmolLM2", large)
    }
    head = ["a forward pass", *(f"{count} row{'s' * (count > 1)}" for count in counts)]
    times = [
        [model, *(f"{each['ms']:.2f} ms" for each in row), f"{row[0]['floor_ms']:.2f} ms"]
        for model, row in cells.items()
    ]
    differing = next(of for name, of in data.items() if name.startswith("verify differs"))
    facts, of_one, of_17 = data["circumstances"], cells[large][0], cells[large][counts.index(17)]
    return (
        f"{table(['model', 'way', 'tokens/s', 'tokens a forward pass'], ways)}\n"
        f"{table([*head, 'weights and cache read once'], times)}\n"
        f"17 rows over the 8B shape take {of_17['ms'] / of_one['ms']:.2f} times as long "
        "as one. 512 cached tokens, bf16, in CUDA graphs, but for SmolLM2's 64 rows, "
        "which are more than a block and its check. In bf16 `verify` and `ntp` part in "
        f"{differing['differing answers']} of {differing['answers']} answers, as products of one "
        "row and of many round differently. Each way was timed once, in this order, after one "
        f"prompt. Measured on {facts['cuda']}, {facts['cores']} cores of {facts['processor']}, "
        f"PyTorch {facts['torch']}, transformers {facts['transformers']}.\n"
    )


def browser() -> str:
    """Speed and memory of the bundled models in a browser that decodes on the CPU."""
    data = results("browser")
    facts = data["circumstances"]
    shown = ("1", "4", "16")
    rows = [
        [
            f"{run['model']}, {run['engine']}",
            *(f"{run['ms_by_rows'][count]:.1f} ms" for count in shown),
            *(f"{run['tokens_per_second'][way]:.0f}" for way in ("ntp", "verify")),
            f"{run['memory_bytes']['wasm'] / 1e6:.0f} MB",
        ]
        for row in data["rows"].values()
        for run in row["runs"]
    ]
    head = ["", *(f"{count} row{'s' * (count != '1')}" for count in shown)]
    rates = table([*head, "`ntp`, tokens/s", "`verify`, tokens/s", "memory"], rows)
    on_gpu = [
        f"{row['runs'][0]['model']} {row['gpu_memory_bytes']['gpu'] / 1e6:.0f} MB of the GPU's and "
        f"{row['gpu_memory_bytes']['wasm'] / 1e6:.0f} MB of the page's"
        for row in data["rows"].values()
    ]
    return (
        f"{rates}\nMemory where a GPU decodes (an emulated one): {'; '.join(on_gpu)}. Measured in "
        f"Chromium {facts['chromium']} on {cores(facts)}.\n"
    )


def vllm() -> str:
    """Answers of vLLM's engine beside those of this one, and what else was tried with it."""
    data = results("vllm")
    rows = []
    for way, row in data["rows"].items():
        counts = ["", ""]
        if "passes" in row:
            counts = [f"{row['tokens'] / row[name]:.2f}" for name in ("passes", "engine_passes")]
        rows.append([way, f"{row['same']} of {row['answers']}", *counts])
    head = ["", "the engine's tokens", "tokens a pass", "the engine's"]
    found, facts = data["checks"], data["circumstances"]
    return (
        f"{table(head, rows)}\n"
        f"Asked twice, {found['asked_twice_same']} of {found['asked_twice']} answers are the same, "
        f"with {found['asked_twice_cached_tokens']:.0f} tokens from the prefix cache; "
        f"{found['second_turns_same']} of {found['second_turns']} second turns, which got "
        f"{found['answer_tokens_from_cache']:.0f} tokens of first answers from it, are the "
        f"engine's. Stop strings cut {found['stop_strings_right']} of {found['stop_strings']} "
        f"answers rightly. Chunks of {found['chunk']} tokens read prompts of up to "
        f"{found['longest_prompt']}, with {found['preemptions']:.0f} preemptions. Over HTTP, "
        f"{found['http_same']} of {found['http_requests']} answers to {found['clients']} clients "
        f"are the engine's; {found['bad_refused']} of {found['bad_requests']} wrong requests were "
        f"refused and {found['aborted']} clients left amid theirs. A pass over the prompt counts. "
        f"vLLM {facts['vllm']}, {data['model']}, blocks of {data['block_size']}, on "
        f"{facts['processor']}, PyTorch {facts['torch']}, transformers {facts['transformers']}. "
        "Other work kept the machine busy, so nothing was timed.\n"
    )


MAKERS = (evaluation, sweep, bench, speeds, forwards, gpu, browser, solvers, adapter_training)
TABLES: dict[str, Callable[[], str]] = {"accuracy": partial(evaluation, FEW_ROWS)}
TABLES |= {made.__name__: made for made in (*MAKERS, requests, vllm)}
"""Functions that make the tables, by name."""


def with_new_tables(text: str) -> str:
    """Replace every table in a document's text. Raises KeyError for an unknown table."""
    return MARKED.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}{match[3]}", text)


if __name__ == "__main__":
    for document in DOCUMENTS:
        document.write_text(with_new_tables(document.read_text("utf-8")), encoding="utf-8")
