"""The methods that are timed side by side, and how: ours and those of transformers generate()."""

import copy
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from sbd_core.config import DecodeConfig, RowPolicy, Strategy
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.rules import EntropyBound

Answer = Callable[[Sequence[int]], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Method:
    """A name for the table, and the call that is timed."""

    name: str
    answer: Answer


@dataclass(slots=True)
class Times:
    """One method over all prompts: seconds and tokens of each answer, and how many equal NTP's."""

    seconds: list[float] = field(default_factory=list)
    num_tokens: list[int] = field(default_factory=list)
    num_equal: int = 0

    @property
    def rates(self) -> list[float]:
        """Tokens a second, answer by answer."""
        return [tokens / s for tokens, s in zip(self.num_tokens, self.seconds, strict=True)]


def time_methods(
    methods: Sequence[Method], prompts: Sequence[Sequence[int]], num_rounds: int
) -> Iterator[dict[str, Times]]:
    """Time every method on every prompt, one after the other, yielding after each prompt.

    The first method is the baseline the answers are compared with. Best of `num_rounds` rounds
    of A B A B counts for each prompt: what disturbs a run only ever makes it longer.
    """
    times = {method.name: Times() for method in methods}
    for method in methods:
        method.answer(prompts[0])
    for prompt in prompts:
        best: dict[str, float] = {}
        answers: dict[str, tuple[int, ...]] = {}
        for _ in range(num_rounds):
            for method in methods:
                seconds, answers[method.name] = _timed(method, prompt)
                best[method.name] = min(seconds, best.get(method.name, seconds))
        for method in methods:
            row = times[method.name]
            row.seconds.append(best[method.name])
            row.num_tokens.append(len(answers[method.name]))
            row.num_equal += answers[method.name] == answers[methods[0].name]
        yield times


def _timed(method: Method, prompt: Sequence[int]) -> tuple[float, tuple[int, ...]]:
    began = time.perf_counter()
    answer = method.answer(prompt)
    return time.perf_counter() - began, answer


def median_and_spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    if len(values) < 2:
        return {"median": values[0], "low": values[0], "high": values[0]}
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": middle, "low": low, "high": high}


@contextmanager
def other_load() -> Iterator[dict[str, float]]:
    """Fill in "cores": processor cores that other processes kept busy meanwhile (Linux)."""
    found: dict[str, float] = {}
    busy, own, began = _busy_seconds(), time.process_time(), time.perf_counter()
    yield found
    elapsed = time.perf_counter() - began
    if busy is not None:
        others = (_busy_seconds() or 0.0) - busy - (time.process_time() - own)
        found["cores"] = round(max(0.0, others) / elapsed, 3)


def _busy_seconds() -> float | None:
    """Processor seconds spent on anything since boot, over all cores; None where unknown."""
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _, _, irq, soft, *_ = map(int, path.read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


BASELINE = "transformers generate()"
LOOK_UP_TOKENS = 10
GAMMAS = (0.1, 0.35)
NUM_TRIALS = 3


def methods(
    model: HuggingFaceModel, max_new_tokens: int, assistant: HuggingFaceModel | None = None
) -> tuple[list[Method], list[str]]:
    """Every method the model can run, the baseline first; and why others were left out.

    assistant: a smaller model that drafts for generate(). Raises ArgumentError if its tokenizer
    is not the model's.
    """
    helper = None if assistant is None else laid_out_as_usual(assistant)
    if assistant is not None and assistant.tokenizer.get_vocab() != model.tokenizer.get_vocab():
        raise ArgumentError("assistant", f"must have the tokenizer of {model.name}", assistant.name)
    found = by_transformers(model, laid_out_as_usual(model), max_new_tokens, helper)
    left_out = []
    if assistant is None:
        left_out.append(f"{BASELINE}, assistant: left out, no --assistant was given")
    configs = ours(model, max_new_tokens)
    found += [Method(name, by_engine(model, config)) for name, config in configs.items()]
    if model.mask_token_id is None:
        left_out.append(f"sbd, verify: left out, {model.name} has no mask token")
    elif model.block_range is None:
        left_out.append(f"sbd, verify: left out, {model.name} has no Set Block Decoding training")
    return found, left_out


def by_transformers(
    model: HuggingFaceModel, own: Any, max_new_tokens: int, helper: Any
) -> list[Method]:
    """generate() of transformers, alone, with prompt look-up and with an assistant.

    own, helper: the transformers models of `model` and of the assistant, None for none.
    """
    ways: dict[str, dict[str, Any]] = {
        BASELINE: {},
        f"{BASELINE}, prompt look-up": {"prompt_lookup_num_tokens": LOOK_UP_TOKENS},
    }
    if helper is not None:
        ways[f"{BASELINE}, assistant"] = {"assistant_model": helper}
    return [
        Method(name, _transformers(model, own, max_new_tokens, options))
        for name, options in ways.items()
    ]


def ours(model: HuggingFaceModel, max_new_tokens: int) -> dict[str, DecodeConfig]:
    """Our strategies that the model can run, by display name; verify with an adapter by policy."""

    def config(strategy: Strategy, block_size: int = 16, gamma: float = 0.1) -> DecodeConfig:
        return DecodeConfig(
            strategy=strategy,
            solver=EntropyBound(gamma=gamma),
            block_size=block_size,
            max_new_tokens=max_new_tokens,
            top_k_recorded=0,
        )

    found = {"ntp": config("ntp")}
    if model.mask_token_id is None or model.block_range is None:
        return found
    low, high = model.block_range
    for gamma in GAMMAS:
        found[f"sbd, gamma {gamma}, k={high}"] = config("sbd", high, gamma)
    if model.adapter is not None:
        small = config("verify", max(low, high // 4))
        policies: tuple[RowPolicy, ...] = ("fewest-passes", "fastest")
        return found | {
            f"verify, {policy}, k={small.block_size}": replace(small, row_policy=policy)
            for policy in policies
        }
    for size in sorted({max(low, high // 4), max(low, high // 2), high}):
        found[f"verify, k={size}"] = config("verify", size)
    return found


def at_best_threads(
    found: Sequence[Method], prompt: Sequence[int]
) -> tuple[list[Method], dict[str, float]]:
    """The methods; those of transformers use the number of threads that is fastest for generate().

    Tried are one thread and every core, turn by turn on `prompt`; also gives back the best
    seconds by number. Our own keep to the threads that are set.
    """
    own = torch.get_num_threads()
    best: dict[int, float] = {}
    for _ in range(NUM_TRIALS + 1):
        for count in sorted({1, os.cpu_count() or 1}):
            began = time.perf_counter()
            _with_threads(found[0].answer, count, own)(prompt)
            best[count] = min(time.perf_counter() - began, best.get(count, float("inf")))
    chosen = min(best, key=best.__getitem__)
    moved = [
        Method(method.name, _with_threads(method.answer, chosen, own))
        if BASELINE in method.name
        else method
        for method in found
    ]
    return moved, {str(count): round(seconds, 4) for count, seconds in best.items()}


def _with_threads(answer: Answer, count: int, afterwards: int) -> Answer:
    def call(prompt_ids: Sequence[int]) -> tuple[int, ...]:
        torch.set_num_threads(count)
        try:
            return answer(prompt_ids)
        finally:
            torch.set_num_threads(afterwards)

    return call


def laid_out_as_usual(model: HuggingFaceModel) -> Any:
    """The transformers model with every weight contiguous, as it comes from disk.

    The lean forward lays weights out for itself; generate() must not be slower for that, so it
    gets a copy.
    """
    if all(parameter.is_contiguous() for parameter in model.model.parameters()):
        return model.model
    own = copy.deepcopy(model.model)
    for parameter in own.parameters():
        parameter.data = parameter.data.contiguous()
    return own


def by_engine(model: HuggingFaceModel, config: DecodeConfig) -> Answer:
    """What our engine answers."""
    return lambda prompt_ids: generate(model, prompt_ids, config).token_ids


def _transformers(
    model: HuggingFaceModel,
    own: Any,
    max_new_tokens: int,
    options: dict[str, Any] | None = None,
) -> Answer:
    """generate() of `own`, greedy, with the mask token suppressed as in ours."""
    arguments: dict[str, Any] = {"do_sample": False, "max_new_tokens": max_new_tokens}
    arguments |= options or {}
    if model.mask_token_id is not None:
        arguments["suppress_tokens"] = [model.mask_token_id]

    def answer(prompt_ids: Sequence[int]) -> tuple[int, ...]:
        ids = torch.tensor([list(prompt_ids)], device=own.device)
        with torch.inference_mode():
            output = own.generate(ids, attention_mask=torch.ones_like(ids), **arguments)
        return tuple(output[0, len(prompt_ids) :].tolist())

    return answer
