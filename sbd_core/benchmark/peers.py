"""What is timed: each peer turns prompt ids into answer ids, by its own way, on one model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from sbd_core.config import DecodeConfig, EntropyBound, Strategy
from sbd_core.decoder import generate
from sbd_core.models.huggingface import HuggingFaceModel

Answer = Callable[[Sequence[int]], tuple[int, ...]]

BASELINE = "transformers generate()"
LOOK_UP_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Peer:
    """A name for the table, and the call that is timed."""

    name: str
    answer: Answer


def peers(model: HuggingFaceModel, max_new_tokens: int) -> tuple[list[Peer], list[str]]:
    """Every peer the model can run, the baseline first; and why others were left out."""
    found = [
        Peer(BASELINE, _transformers(model, max_new_tokens)),
        Peer(
            "transformers generate(), prompt look-up",
            _transformers(model, max_new_tokens, prompt_lookup_num_tokens=LOOK_UP_TOKENS),
        ),
    ]
    found += [
        Peer(name, _ours(model, config)) for name, config in ours(model, max_new_tokens).items()
    ]
    if model.mask_token_id is None or model.block_range is None:
        reason = (
            "no mask token" if model.mask_token_id is None else "no Set Block Decoding training"
        )
        return found, [f"sbd, verify: left out, {model.name} has {reason}"]
    return found, []


def ours(model: HuggingFaceModel, max_new_tokens: int) -> dict[str, DecodeConfig]:
    """Our strategies that the model can run, by the name they are shown under."""

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
    for gamma in (0.1, 0.35):
        found[f"sbd, gamma {gamma}, k={high}"] = config("sbd", high, gamma)
    for size in sorted({max(low, high // 2), high}):
        found[f"verify, k={size}"] = config("verify", size)
    return found


def _ours(model: HuggingFaceModel, config: DecodeConfig) -> Answer:
    return lambda prompt_ids: generate(model, prompt_ids, config).token_ids


def _transformers(model: HuggingFaceModel, max_new_tokens: int, **options: int) -> Answer:
    """generate() of the very model, greedy, with the mask token suppressed as in ours."""
    if model.mask_token_id is not None:
        options = {**options, "suppress_tokens": [model.mask_token_id]}  # type: ignore[dict-item]

    def answer(prompt_ids: Sequence[int]) -> tuple[int, ...]:
        ids = torch.tensor([list(prompt_ids)], device=model.model.device)
        with torch.inference_mode():
            output = model.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                max_new_tokens=max_new_tokens,
                **options,
            )
        return tuple(output[0, len(prompt_ids) :].tolist())

    return answer
