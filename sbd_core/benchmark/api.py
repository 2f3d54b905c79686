"""bench() times several methods of decoding in one process and returns plain data."""

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sbd_core.benchmark.forwards import forwards, parts
from sbd_core.benchmark.methods import (
    GENERATE,
    Ask,
    Method,
    TimedAnswer,
    by_engine,
    by_llama_cpp,
    by_transformers,
    in_each_dtype,
    ours,
)
from sbd_core.environment import environment
from sbd_core.errors import require_integer
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.tasks import TASKS, Example, held_out, task

NUM_TRIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The prompts to time.

    limit: number of prompts per task.
    rounds: number of runs per prompt, of which the fastest counts.
    """

    limit: int = 50
    rounds: int = 1
    max_new_tokens: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("limit", "rounds", "max_new_tokens"):
            require_integer(name, getattr(self, name), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalMethods:
    """Methods to time besides transformers' generate() and our strategies.

    assistant: smaller model that drafts for generate(); None leaves this method out.
    gguf: file of the model's weights for llama.cpp; None leaves llama.cpp out.
    with_dtypes: whether to time our strategies in every dtype of ONNX Runtime as well.
    """

    assistant: HuggingFaceModel | None = None
    gguf: Path | None = None
    with_dtypes: bool = False


@dataclass(frozen=True, slots=True)
class Timed:
    """The timing of one method on one prompt.

    is_equal: whether the answer has the same tokens as the baseline's answer.
    is_right: whether the answer passes the task's check.
    """

    answer: TimedAnswer
    seconds: float
    is_equal: bool
    is_right: bool

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return len(self.answer.token_ids) / self.seconds


Timings = dict[str, list[Timed]]
"""Timings by method; every list covers the same prompts."""


def bench(
    model: HuggingFaceModel, workload: Workload, more: OptionalMethods | None = None
) -> dict[str, Any]:
    """Time all methods and return JSON data, which report.text() shows. Raises ArgumentError.

    The data describes the model and the machine, and has these keys:
    rows: {method name: result of row()}; the baseline, transformers' generate(), comes first.
    parts_by_dtype: {dtype: result of parts()}, only with more.with_dtypes.
    left_out: lines that say which methods were not timed, and why.
    baseline_seconds_by_threads: {number of threads: seconds of the baseline on one prompt}.
    forwards, other_load: results of the functions of these names.
    """
    more = more or OptionalMethods()
    result: dict[str, Any] = {"model": model.name, "device": model.device}
    result |= {"dtype": model.dtype, "runs_on": model.runs_on}
    missing = methods_left_out(model, more)
    models_by_dtype = {"": model}
    if more.with_dtypes:
        models_by_dtype, refused = in_each_dtype(model)
        missing += refused
    with other_load() as load_of_others:
        methods, seconds = _methods(model, workload, more, models_by_dtype)
        result["rows"] = _rows(model, workload, methods)
        result["left_out"] = missing
        result["baseline_seconds_by_threads"] = seconds
        result["forwards"] = forwards(model)
        if more.with_dtypes:
            result["parts_by_dtype"] = {name: parts(twin) for name, twin in models_by_dtype.items()}
    return {**result, "other_load": load_of_others, "circumstances": environment(model.folder)}


def methods_left_out(model: HuggingFaceModel, more: OptionalMethods) -> list[str]:
    """List the methods that will not be timed, one line each with the reason."""
    notes = []
    if more.assistant is None:
        notes.append(f"{GENERATE}, assistant: left out, no --assistant was given")
    if model.mask_token_id is None:
        notes.append(f"sbd, verify: left out, {model.name} has no mask token")
    elif model.block_range is None:
        notes.append(f"sbd, verify: left out, {model.name} has no Set Block Decoding training")
    return notes


def _methods(
    model: HuggingFaceModel,
    workload: Workload,
    more: OptionalMethods,
    models_by_dtype: Mapping[str, HuggingFaceModel],
) -> tuple[list[Method], dict[str, float]]:
    """Return (methods to time, baseline's seconds by number of threads)."""
    most = workload.max_new_tokens
    methods = by_transformers(model, most, more.assistant)
    others = []
    if more.gguf is not None:  # refused before anything is timed
        others.append(by_llama_cpp(model, more.gguf, most, torch.get_num_threads()))
    [example] = held_out(next(iter(TASKS)), 1, workload.seed)
    methods, seconds = _at_best_threads(methods, model.encode(example.prompt, is_raw=False))
    methods += others
    configs = ours(model, most)
    for dtype, twin in models_by_dtype.items():
        named = {f"{dtype} {name}".strip(): config for name, config in configs.items()}
        methods += by_engine(twin, named)
    return methods, seconds


def _rows(
    model: HuggingFaceModel, workload: Workload, methods: Sequence[Method]
) -> dict[str, dict[str, Any]]:
    """Time all methods on the prompts of all tasks. Returns {method name: row()}."""
    from tqdm import tqdm

    examples_by_task = {name: held_out(name, workload.limit, workload.seed) for name in TASKS}
    tasks: dict[str, Timings] = {}
    with tqdm(total=sum(map(len, examples_by_task.values())), unit="prompt") as bar:
        for name, examples in examples_by_task.items():
            for rows in time_methods(methods, model, examples, workload.rounds):
                tasks[name] = rows
                bar.update()
    return {method.name: row(method.name, methods[0].name, tasks) for method in methods}


def time_methods(
    methods: Sequence[Method],
    model: HuggingFaceModel,
    examples: Sequence[Example],
    num_rounds: int,
) -> Iterator[Timings]:
    """Time every method on every prompt. After each prompt, yields all timings so far.

    methods: the first method is the baseline. All answers are compared with its answers.
    num_rounds: number of runs per prompt. The fastest counts, as disturbances only slow a run down.

    Each round shuffles the methods, as the caches that a method leaves slow the next method.
    """
    rows: Timings = {method.name: [] for method in methods}
    prompts = [model.encode(example.prompt, is_raw=False) for example in examples]
    for method in methods:
        method.answer(prompts[0])
    for example, prompt in zip(examples, prompts, strict=True):
        best: dict[str, float] = {}
        answers: dict[str, TimedAnswer] = {}
        for turn in range(num_rounds):
            order = random.Random(f"{turn} {example.prompt}")
            for method in order.sample(methods, len(methods)):
                began = time.perf_counter()
                answers[method.name] = method.answer(prompt)
                seconds = time.perf_counter() - began
                best[method.name] = min(seconds, best.get(method.name, seconds))
        first = answers[methods[0].name].token_ids
        for name, answer in answers.items():
            is_right = task(example.task).check(example, model.decode(answer.token_ids))
            rows[name].append(Timed(answer, best[name], answer.token_ids == first, is_right))
        yield rows


def row(name: str, baseline: str, tasks: Mapping[str, Timings]) -> dict[str, Any]:
    """Sum up one method's timings: in total, and by task in a dict under the key "families".

    The figures are the method's rates, their ratios to the baseline's rates, and counts of answers.
    name, baseline: names of the method and of the baseline.
    tasks: {task: timings of all methods}.
    """
    cells: dict[str, dict[str, Any]] = {}
    for task_name, rows in tasks.items():
        pairs = zip(rows[name], rows[baseline], strict=True)
        cells[task_name] = {
            "tokens_per_second": median_and_spread([one.rate for one in rows[name]]),
            "ratio": median_and_spread([one.rate / base.rate for one, base in pairs]),
            "num_prompts": len(rows[name]),
            "num_equal_to_baseline": sum(one.is_equal for one in rows[name]),
        }
    every = [one for rows in tasks.values() for one in rows[name]]
    answers = [one.answer for one in every]
    num_forwards = sum(answer.num_forwards for answer in answers)
    known_rows = [count for answer in answers if (count := answer.num_rows) is not None]
    num_later = num_forwards - len(every)
    return {
        "tokens_per_second": round(statistics.median(one.rate for one in every), 2),
        "mean_ratio": round(statistics.mean(c["ratio"]["median"] for c in cells.values()), 3),
        "tokens_per_forward": round(sum(len(a.token_ids) for a in answers) / num_forwards, 4),
        "rows_per_forward": round(sum(known_rows) / max(num_later, 1), 2) if known_rows else None,
        "num_draft_forwards": sum(answer.num_draft_forwards for answer in answers),
        "num_prompts": len(every),
        "num_right": sum(one.is_right for one in every),
        "num_equal_to_baseline": sum(one.is_equal for one in every),
        "families": cells,
    }


def median_and_spread(values: Sequence[float]) -> dict[str, float]:
    """Return {"median", "low", "high"}: the median of the values and their quartiles."""
    low, middle, high = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * [*values]
    )
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def _at_best_threads(
    methods: Sequence[Method], prompt: Sequence[int]
) -> tuple[list[Method], dict[str, float]]:
    """Make all methods use the number of threads with which the baseline is fastest.

    methods: the first one is the baseline. It is timed on `prompt` with one thread and with as many
        threads as there are cores.
    Returns (methods, {number of threads: the baseline's best seconds}).
    """
    own = torch.get_num_threads()
    best: dict[int, float] = {}
    for _ in range(NUM_TRIALS + 1):
        for count in sorted({1, os.cpu_count() or 1}):
            began = time.perf_counter()
            _with_threads(methods[0].answer, count, own)(prompt)
            best[count] = min(time.perf_counter() - began, best.get(count, float("inf")))
    chosen = min(best, key=best.__getitem__)
    moved = [Method(each.name, _with_threads(each.answer, chosen, own)) for each in methods]
    return moved, {str(count): round(seconds, 4) for count, seconds in best.items()}


def _with_threads(ask: Ask, count: int, afterwards: int) -> Callable[[Sequence[int]], TimedAnswer]:
    def call(prompt: Sequence[int]) -> TimedAnswer:
        torch.set_num_threads(count)
        try:
            return ask(prompt)
        finally:
            torch.set_num_threads(afterwards)

    return call


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
    """Busy seconds since boot, summed over all cores; None if unknown."""
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _, _, irq, soft, *_ = map(int, path.read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
