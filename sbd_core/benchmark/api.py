"""bench(): one of five measurements of a model, as plain data with machine, load and versions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sbd_core.benchmark import report
from sbd_core.benchmark.dtypes import dtype_costs
from sbd_core.benchmark.forward_passes import (
    against_matrices,
    forwards,
    peak_memory,
    profile,
    share_outside_forward,
)
from sbd_core.benchmark.methods import (
    Times,
    at_best_threads,
    methods,
    other_load,
    ours,
    time_methods,
)
from sbd_core.benchmark.peers import count_all, peers
from sbd_core.benchmark.predrafts import Decodes, Setting, decode_all, rows_data, settings
from sbd_core.benchmark.synthetic_shapes import BLOCK_SIZE, measured_shape, recorded_pattern
from sbd_core.environment import environment
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.tasks import SUITES, held_out

Part = Literal["methods", "dtypes", "profile", "shape", "predrafts", "peers"]
PROFILED_PROMPTS = 5
"""Prompts per task for the profile and the share outside the forward pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is decoded. limit: prompts a task; rounds: runs of each, of which the best counts."""

    limit: int = 50
    rounds: int = 1
    max_new_tokens: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("limit", "rounds", "max_new_tokens"):
            require_integer(name, getattr(self, name), 1)

    def prompts(self, model: HuggingFaceModel, limit: int) -> dict[str, list[tuple[int, ...]]]:
        """{task: token ids of held-out prompts}."""
        return {
            name: [
                model.encode(item.prompt, is_raw=False) for item in held_out(name, limit, self.seed)
            ]
            for name in SUITES
        }

    def few_prompts(self, model: HuggingFaceModel) -> list[tuple[int, ...]]:
        """Some of every task."""
        tasks = self.prompts(model, min(self.limit, PROFILED_PROMPTS))
        return [prompt for items in tasks.values() for prompt in items]


def bench(
    model: HuggingFaceModel,
    workload: Workload,
    part: Part = "methods",
    assistant: HuggingFaceModel | None = None,
    gguf: Path | None = None,
) -> dict[str, Any]:
    """Measure and return plain JSON data; report.text() makes a table of it.

    part: "methods", every strategy and transformers generate() on the same prompts, with cost and
    memory; "dtypes", rows and strategies in each dtype of ONNX Runtime; "profile", the time of a
    forward pass by operation; "shape", forward passes of random weights; "predrafts", verify with
    predrafts; "peers", forward passes of other libraries' decoding methods. assistant: a smaller
    model that drafts for generate(). gguf: of "dtypes", a file of the same weights, which llama.cpp
    decodes beside. Raises ArgumentError.
    """
    result: dict[str, Any] = {"model": model.name, "device": model.device}
    result |= {"dtype": model.dtype, "runs_on": model.runs_on}
    measure: dict[Part, Callable[[], dict[str, Any]]] = {
        "methods": lambda: _methods(model, workload, assistant),
        "dtypes": lambda: dtype_costs(
            model, workload.few_prompts(model), workload.max_new_tokens, gguf
        ),
        "profile": lambda: _profiles(model, workload),
        "shape": lambda: _shapes(model, workload),
        "predrafts": lambda: _predrafts(model, workload),
        "peers": lambda: _peers(model, workload, assistant),
    }
    with other_load() as load_of_others:
        result |= measure[part]()
    return {**result, "other_load": load_of_others, "circumstances": environment(model.folder)}


def _methods(
    model: HuggingFaceModel, workload: Workload, assistant: HuggingFaceModel | None
) -> dict[str, Any]:
    result = _rows(model, workload, assistant)
    result |= {"forwards": forwards(model), "against_matrices": against_matrices(model)}
    prompts = workload.few_prompts(model)
    longest = max(prompts, key=len)
    configs = ours(model, workload.max_new_tokens)
    result["share_outside_forward"] = {
        name: round(share_outside_forward(model, prompts, config), 4)
        for name, config in configs.items()
    }
    result["peak_memory"] = {
        name: peak_memory(model, longest, config) for name, config in configs.items()
    }
    return result


def _rows(
    model: HuggingFaceModel, workload: Workload, assistant: HuggingFaceModel | None
) -> dict[str, Any]:
    """Every method on every prompt of every task, and which methods were left out."""
    from tqdm import tqdm

    found, left_out = methods(model, workload.max_new_tokens, assistant)
    suites = workload.prompts(model, workload.limit)
    found, seconds = at_best_threads(found, next(iter(suites.values()))[0])
    tasks: dict[str, dict[str, Times]] = {}
    with tqdm(total=sum(map(len, suites.values())), unit="prompt") as bar:
        for name, prompts in suites.items():
            for times in time_methods(found, prompts, workload.rounds):
                tasks[name] = times
                bar.update()
    rows = {method.name: report.row(method.name, found[0].name, tasks) for method in found}
    return {"rows": rows, "left_out": left_out, "baseline_seconds_by_threads": seconds}


def _profiles(model: HuggingFaceModel, workload: Workload) -> dict[str, Any]:
    """Milliseconds per forward pass of each strategy by operation."""
    prompts, configs = workload.few_prompts(model), ours(model, workload.max_new_tokens)
    return {"rows": {name: profile(model, prompts, config) for name, config in configs.items()}}


def _shapes(model: HuggingFaceModel, workload: Workload) -> dict[str, Any]:
    """Forward passes of random weights, in the pattern of one of the model's own decodes."""
    place = model.model.device
    configs = ours(model, workload.max_new_tokens).values()
    config = next((config for config in configs if config.strategy == "sbd"), None)
    if config is None or config.block_size != BLOCK_SIZE:
        rule = f"must be trained on blocks of {BLOCK_SIZE} for its decode to be replayed"
        raise ArgumentError("model", rule, model.name)
    [prompt] = workload.prompts(model, 1)["math"]
    shape = "llama-3.1-8b" if place.type == "cuda" else "sbd-nano"
    pattern = recorded_pattern(model, prompt, config)
    found, left_out = measured_shape(shape, place, pattern)
    return {"shapes": found, "left_out": left_out}


def _predrafts(model: HuggingFaceModel, workload: Workload) -> dict[str, Any]:
    """verify at every number of predrafts and threshold, on every prompt of every task."""
    from tqdm import tqdm

    if model.mask_token_id is None or model.block_range is None:
        rule = "must have Set Block Decoding training for verify to be measured"
        raise ArgumentError("model", rule, model.name)
    configs = settings(model.block_range[1], workload.max_new_tokens)
    suites = workload.prompts(model, workload.limit)
    tasks: dict[str, dict[Setting, Decodes]] = {}
    with tqdm(total=sum(map(len, suites.values())), unit="prompt") as bar:
        for name, prompts in suites.items():
            for found in decode_all(model, configs, prompts, workload.rounds):
                tasks[name] = found
                bar.update()
    return {"predrafts": rows_data(tasks)}


def _peers(
    model: HuggingFaceModel, workload: Workload, assistant: HuggingFaceModel | None
) -> dict[str, Any]:
    """Forward passes of every decoding method, on every prompt of every task."""
    from tqdm import tqdm

    found, left_out = peers(model, workload.max_new_tokens, assistant)
    examples = [item for name in SUITES for item in held_out(name, workload.limit, workload.seed)]
    with tqdm(total=len(examples), unit="prompt") as bar:
        rows = count_all(found, model, examples, bar.update)
    assistant_name = None if assistant is None else assistant.name
    return {"peers": rows, "left_out": left_out, "assistant": assistant_name}
