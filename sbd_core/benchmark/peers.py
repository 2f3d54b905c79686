"""Forward passes of other libraries' decoding methods and ours, on the same prompts: counts only.

Two definitions of tokens a forward pass stand side by side. Ours counts every forward pass of the
model, that which reads the prompt among them. Theirs, as transformers counts for its diffusion
models, counts those alone that gave a token. What an assistant reads is counted apart.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import torch

from sbd_core.benchmark.methods import by_transformers, laid_out_as_usual, methods, ours
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.rules import ConfidenceThreshold
from sbd_core.tasks import Example, task

THRESHOLDS = (0.95, 0.8)
REFINEMENT = "diffusers BlockRefinementScheduler"


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one answer, or of several together. num_draft_forwards: of an assistant."""

    token_ids: tuple[int, ...] = ()
    num_forwards: int = 0
    num_revealing: int = 0
    num_draft_forwards: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.token_ids + other.token_ids,
            self.num_forwards + other.num_forwards,
            self.num_revealing + other.num_revealing,
            self.num_draft_forwards + other.num_draft_forwards,
        )

    def to_data(self) -> dict[str, Any]:
        """For JSON."""
        num_tokens = len(self.token_ids)
        return {
            "num_tokens": num_tokens,
            "num_forwards": self.num_forwards,
            "num_draft_forwards": self.num_draft_forwards,
            "tokens_per_forward": round(num_tokens / self.num_forwards, 4),
            "tokens_per_revealing_forward": round(num_tokens / self.num_revealing, 4),
        }


Peer = Callable[[Sequence[int]], Counts]


def peers(
    model: HuggingFaceModel, max_new_tokens: int, assistant: HuggingFaceModel | None = None
) -> tuple[dict[str, Peer], list[str]]:
    """Every method that the model can run, by name, generate() first; and why others cannot run.

    assistant: see methods(). Raises ArgumentError as it does.
    """
    _, left_out = methods(model, max_new_tokens, assistant)
    own = laid_out_as_usual(model)
    # A model that is its own assistant is still counted separately.
    helper = None if assistant is None else copy.deepcopy(laid_out_as_usual(assistant))
    found: dict[str, Peer] = {
        method.name: _counted(method.answer, own, helper)
        for method in by_transformers(model, own, max_new_tokens, helper)
    }
    configs = ours(model, max_new_tokens)
    if model.mask_token_id is None or model.block_range is None:
        left_out.append(f"{REFINEMENT}: left out, {model.name} has no Set Block Decoding training")
    else:
        if find_spec("diffusers") is None:
            left_out.append(f"{REFINEMENT}: left out, diffusers is not installed")
        else:
            for threshold in THRESHOLDS:
                name = f"{REFINEMENT}, {threshold:g}"
                found[name] = _Refined(model, max_new_tokens, threshold)
        size = model.block_range[1]
        base = replace(configs["ntp"], strategy="sbd", block_size=size)
        for threshold in THRESHOLDS:
            name = f"sbd, confidence {threshold:g}, k={size}"
            configs[name] = replace(base, solver=ConfidenceThreshold(tau=threshold))
    for name, config in configs.items():
        found[name] = _ours(model, config)
    return found, left_out


def count_all(
    found: dict[str, Peer],
    model: HuggingFaceModel,
    examples: Sequence[Example],
    advance: Callable[[], Any],
) -> dict[str, dict[str, Any]]:
    """Counts of each over all examples; how many answers are right, and how many the first's."""
    totals = dict.fromkeys(found, Counts())
    equal, right = dict.fromkeys(found, 0), dict.fromkeys(found, 0)
    for example in examples:
        prompt = model.encode(example.prompt, is_raw=False)
        first: tuple[int, ...] | None = None
        for name, answer in found.items():
            counts = answer(prompt)
            first = counts.token_ids if first is None else first
            equal[name] += counts.token_ids == first
            text = model.decode(counts.token_ids)
            right[name] += task(example.task).check(example, text)
            totals[name] += counts
        advance()
    return {
        name: {
            **counts.to_data(),
            "num_prompts": len(examples),
            "num_right": right[name],
            "num_equal_to_baseline": equal[name],
        }
        for name, counts in totals.items()
    }


@contextmanager
def _calls(model: Any) -> Iterator[list[None]]:
    """A list that grows by one with each forward pass of a transformers model."""
    seen: list[None] = []
    handle = model.register_forward_pre_hook(lambda *_: seen.append(None))
    try:
        yield seen
    finally:
        handle.remove()


def _counted(answer: Callable[[Sequence[int]], tuple[int, ...]], own: Any, helper: Any) -> Peer:
    """A method of transformers: each forward pass of the model gives at least one token."""

    def call(prompt: Sequence[int]) -> Counts:
        with _calls(own) as forwards, _calls(own if helper is None else helper) as drafts:
            token_ids = answer(prompt)
        num_drafts = 0 if helper is None else len(drafts)
        return Counts(token_ids, len(forwards), len(forwards), num_drafts)

    return call


def _ours(model: HuggingFaceModel, config: DecodeConfig) -> Peer:
    def call(prompt: Sequence[int]) -> Counts:
        trace = generate(model, prompt, config)
        num_revealing = sum(bool(event.reveals) for event in trace.events)
        return Counts(trace.token_ids, trace.num_forwards, num_revealing)

    return call


class _Refined:
    """Blocks of the largest size, filled as the scheduler says, one token a step at the least."""

    def __init__(self, model: HuggingFaceModel, max_new_tokens: int, threshold: float) -> None:
        from diffusers import BlockRefinementScheduler

        mask_id, block_range = model.mask_token_id, model.block_range
        assert mask_id is not None
        assert block_range is not None
        self._model, self._max_new_tokens = model, max_new_tokens
        self._mask_id, self._size = mask_id, block_range[1]
        self._scheduler: Any = BlockRefinementScheduler(
            block_length=self._size, threshold=threshold
        )

    def __call__(self, prompt: Sequence[int]) -> Counts:
        model, cache, num_forwards = self._model, self._model.new_cache(), 1
        answer: list[int] = []
        model.forward(cache, prompt, (), 1)
        pending: Sequence[int] = ()
        is_done = False
        while len(answer) < self._max_new_tokens and not is_done:
            self._scheduler.set_timesteps(self._size)
            block, number = torch.full((1, self._size), self._mask_id), 0
            while bool((block == self._mask_id).any()) and not is_done:
                logits = model.forward(cache, pending, block[0].tolist(), 0).cpu().clone()
                logits[:, self._mask_id] = -torch.inf
                step = self._scheduler.step(
                    logits[None], number, block, mask_token_id=self._mask_id
                )
                block = step.prev_sample
                is_done = self._has_ended(block, step)
                pending, number, num_forwards = (), number + 1, num_forwards + 1
            pending = block[0].tolist()
            answer += pending
        return Counts(_ended(answer, self._max_new_tokens, model), num_forwards, num_forwards - 1)

    def _has_ended(self, block: torch.Tensor, step: Any) -> bool:
        """As in the pipelines of diffusers: at an end token with nothing masked before it."""
        ended = torch.zeros(1, dtype=torch.bool)
        for end_id in self._model.end_token_ids:
            tokens, revealed = step.sampled_tokens, step.transfer_index
            ended = self._scheduler.check_eos_finished(
                block, tokens, revealed, ended, end_id, self._mask_id, prompt_length=0
            )
        return bool(ended.all())


def _ended(answer: list[int], most: int, model: HuggingFaceModel) -> tuple[int, ...]:
    """The answer to its end token, that included."""
    ends = [place for place, token in enumerate(answer) if token in model.end_token_ids]
    return tuple(answer[: min(most, ends[0] + 1 if ends else most)])
