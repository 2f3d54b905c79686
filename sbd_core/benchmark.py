"""bench(): our strategies beside transformers' generate(), by wall-clock and forward passes.

All methods answer the same prompts of the tasks, greedily, in one process and in turns.
"""

import copy
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.environment import environment
from sbd_core.errors import require_integer
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.solvers import EntropyBound
from sbd_core.tasks import TASKS, Example, held_out
from sbd_core.text_table import aligned

GENERATE = "transformers generate()"
LOOK_UP_TOKENS = 10
GAMMAS = (0.1, 0.35)
QUERY_LENGTHS = (1, 2, 4, 8, 16, 32, 64)
CACHE_LENGTHS = (64, 256, 512, 896)
NUM_RUNS, NUM_WARM_UPS = 15, 3
"""Numbers of passes that are timed, and of passes before them that are not."""
LOADED_CORES = 0.1
"""Cores kept busy by other processes from which times are marked as not clean."""

Method = Callable[[Sequence[int]], tuple[tuple[int, ...], int]]
"""Answers a prompt's token ids: (the answer's token ids, number of passes, prefill included)."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One method's answer to one prompt. is_equal: whether its tokens are the baseline's."""

    num_tokens: int
    num_forwards: int
    seconds: float
    is_equal: bool

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.num_tokens / self.seconds


def bench(
    model: HuggingFaceModel, *, limit: int = 50, max_new_tokens: int = 128, seed: int = 0
) -> dict[str, Any]:
    """Time all methods on the first `limit` held-out prompts of each task; returns JSON data.

    seed: chooses the prompts.
    The data describes the model and the machine, and has these keys:
    rows: {method name: result of row()}; the baseline, transformers' generate(), comes first.
    forwards, other_load: results of the functions of these names.
    Raises ArgumentError.
    """
    from tqdm import tqdm

    require_integer("limit", limit, 1)
    require_integer("max_new_tokens", max_new_tokens, 1)
    methods = {**by_transformers(model, max_new_tokens), **by_engine(model, max_new_tokens)}
    examples = [each for name in TASKS for each in held_out(name, limit, seed)]
    with other_load() as load:
        timed = time_methods(methods, model, tqdm(examples, unit="prompt"))
        times = forwards(model)
    return {
        **{name: getattr(model, name) for name in ("device", "dtype", "runs_on")},
        "model": model.name,
        "rows": {name: row(timed[name], timed[GENERATE], examples) for name in methods},
        "forwards": times,
        "other_load": load,
        "circumstances": environment(model.folder),
    }


def by_engine(model: HuggingFaceModel, max_new_tokens: int) -> dict[str, Method]:
    """Make a method of each of our strategies that the model was trained for; NTP needs none."""
    shared: dict[str, Any] = {"max_new_tokens": max_new_tokens, "top_k_recorded": 0}
    configs = {"ntp": DecodeConfig(strategy="ntp", **shared)}
    if model.mask_token_id is not None and model.block_range is not None:
        low, high = model.block_range
        for gamma in GAMMAS:
            solver, name = EntropyBound(gamma=gamma), f"sbd, gamma {gamma}, k={high}"
            configs[name] = DecodeConfig(strategy="sbd", solver=solver, block_size=high, **shared)
        size = high if model.adapter is None else max(low, high // 4)
        configs[f"verify, k={size}"] = DecodeConfig(strategy="verify", block_size=size, **shared)

    def answer(config: DecodeConfig, prompt: Sequence[int]) -> tuple[tuple[int, ...], int]:
        trace = generate(model, prompt, config)
        return trace.token_ids, trace.num_forwards

    return {name: partial(answer, config) for name, config in configs.items()}


def by_transformers(model: HuggingFaceModel, max_new_tokens: int) -> dict[str, Method]:
    """Make the methods of transformers' generate(): plain, and with prompt look-up."""
    own = model.model
    if not all(parameter.is_contiguous() for parameter in own.parameters()):
        # Our fused forward pass changes the layout of weights, which would slow generate() down.
        own = copy.deepcopy(own)
        for parameter in own.parameters():
            parameter.data = parameter.data.contiguous()
    options: dict[str, Any] = {"do_sample": False, "max_new_tokens": max_new_tokens}
    if model.mask_token_id is not None:
        options["suppress_tokens"] = [model.mask_token_id]  # as ours does

    def answer(prompt: Sequence[int], **more: Any) -> tuple[tuple[int, ...], int]:
        ids = torch.tensor([list(prompt)], device=own.device)
        passes: list[None] = []
        handle = own.register_forward_pre_hook(lambda *_: passes.append(None))
        try:
            with torch.inference_mode():
                output = own.generate(ids, attention_mask=torch.ones_like(ids), **options, **more)
        finally:
            handle.remove()
        return tuple(output[0, len(prompt) :].tolist()), len(passes)

    look_up = partial(answer, prompt_lookup_num_tokens=LOOK_UP_TOKENS)
    return {GENERATE: answer, f"{GENERATE}, prompt look-up": look_up}


def time_methods(
    methods: Mapping[str, Method], model: HuggingFaceModel, examples: Sequence[Example]
) -> dict[str, list[Timed]]:
    """Time every method on every example's prompt; returns {method name: one Timed per example}.

    methods: the first one is the baseline, with whose answers all answers are compared.
    Each prompt shuffles the methods, as the caches that a method leaves slow the next method.
    """
    timed: dict[str, list[Timed]] = {name: [] for name in methods}
    for index, example in enumerate(examples):
        prompt = model.encode(example.prompt, is_raw=False)
        if not index:
            for method in methods.values():
                method(prompt)
        answers = {}
        for name in random.Random(example.prompt).sample(list(methods), len(methods)):
            began = time.perf_counter()
            answers[name] = *methods[name](prompt), time.perf_counter() - began
        baseline = answers[next(iter(methods))][0]
        for name, (ids, num_forwards, seconds) in answers.items():
            timed[name].append(Timed(len(ids), num_forwards, seconds, ids == baseline))
    return timed


def row(
    timed: Sequence[Timed], baseline: Sequence[Timed], examples: Sequence[Example]
) -> dict[str, Any]:
    """Sum up one method's timings: in total, and by task in a dict under the key "families".

    The figures are the method's rates, their ratios to the baseline's rates, and counts of answers.
    timed, baseline: timings of the method and of the baseline, one for each of `examples`.
    """
    by_task: dict[str, list[list[Timed]]] = {}
    for example, *pair in zip(examples, timed, baseline, strict=True):
        by_task.setdefault(example.task, []).append(pair)
    cells: dict[str, dict[str, Any]] = {
        name: {
            "tokens_per_second": median_and_quartiles([one.rate for one, _ in pairs]),
            "ratio": median_and_quartiles([one.rate / base.rate for one, base in pairs]),
            **_counts([one for one, _ in pairs]),
        }
        for name, pairs in by_task.items()
    }
    speed = sum(one.num_tokens for one in timed) / sum(one.num_forwards for one in timed)
    return {
        "tokens_per_second": round(statistics.median(one.rate for one in timed), 2),
        "mean_ratio": round(statistics.mean(c["ratio"]["median"] for c in cells.values()), 3),
        "tokens_per_forward": round(speed, 4),
        **_counts(timed),
        "families": cells,
    }


def _counts(timed: Sequence[Timed]) -> dict[str, int]:
    equal = sum(one.is_equal for one in timed)
    return {"num_prompts": len(timed), "num_equal_to_baseline": equal}


def median_and_quartiles(values: Sequence[float]) -> dict[str, float]:
    """Return {"median", "low", "high"}: the median of the values and their quartiles."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def forwards(model: HuggingFaceModel) -> dict[str, dict[str, dict[str, float]]]:
    """Time forward passes over blocks of several sizes, after caches of several lengths.

    Returns {cache length: {block size: {"milliseconds", "slowdown"}}}: the median of NUM_RUNS
    passes, and that time divided by the time of block size 1.
    """
    times: dict[str, dict[str, dict[str, float]]] = {}
    for cached in CACHE_LENGTHS:
        if model.max_positions and cached + QUERY_LENGTHS[-1] > model.max_positions:
            continue
        cells = times[str(cached)] = {}
        for queries in QUERY_LENGTHS:
            cache = model.new_cache()
            model.forward(cache, [0] * cached, (), 1)
            taken = []
            for _ in range(NUM_WARM_UPS + NUM_RUNS):
                began = time.perf_counter()
                model.forward(cache, (), [0] * queries, 0)
                if model.device.startswith("cuda"):
                    torch.cuda.synchronize()
                taken.append(1000 * (time.perf_counter() - began))
            each = statistics.median(taken[NUM_WARM_UPS:])
            alone = cells["1"]["milliseconds"] if cells else each
            cells[str(queries)] = {
                "milliseconds": round(each, 4),
                "slowdown": round(each / alone, 3),
            }
    return times


@contextmanager
def other_load() -> Iterator[dict[str, float]]:
    """Yield a dict. After `with`, "cores" in it is the cores that other processes used (Linux)."""
    load: dict[str, float] = {}
    busy, own, began = _busy_seconds(), time.process_time(), time.perf_counter()
    yield load
    elapsed = time.perf_counter() - began
    if busy is not None:
        others = (_busy_seconds() or 0.0) - busy - (time.process_time() - own)
        load["cores"] = round(max(0.0, others) / elapsed, 3)


def _busy_seconds() -> float | None:
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _, _, irq, soft, *_ = map(int, path.read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def as_text(result: Mapping[str, Any]) -> str:
    """Show the methods, the forward passes and the machine's load as text."""
    rows, ntp = result["rows"], result["rows"]["ntp"]["mean_ratio"]
    table = [["", "tokens/s", "times generate()", "times ntp", "tokens/forward", "as generate()"]]
    for name, each in rows.items():
        shown = [f"{each['tokens_per_second']:.1f}", f"{each['mean_ratio']:.2f}"]
        shown += [f"{each['mean_ratio'] / ntp:.2f}", f"{each['tokens_per_forward']:.2f}"]
        table.append([name, *shown, f"{each['num_equal_to_baseline']}/{each['num_prompts']}"])
    lines = aligned(table)
    if times := result["forwards"]:
        lengths = next(iter(times.values()))
        table = [["milliseconds (slowdown)", *(f"{count} rows" for count in lengths)]]
        for cached, cells in times.items():
            shown = [f"{c['milliseconds']:.2f} ({c['slowdown']:.2f})" for c in cells.values()]
            table.append([f"{cached} cached", *shown])
        lines += ["", *aligned(table)]
    return "\n".join([*lines, "", load_line(result["other_load"])])


def load_line(load: Mapping[str, float]) -> str:
    """Say how many cores other processes kept busy."""
    if "cores" not in load:
        return "other load on the machine: not known here"
    if load["cores"] > LOADED_CORES:
        return f"warning: other processes kept {load['cores']} cores busy; times are not clean"
    return f"other processes kept {load['cores']} cores busy"
