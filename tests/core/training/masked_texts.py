"""Texts with masked copies, as the tests of noise and loss make them."""

import torch

from sbd_core.training.batches import (
    NO_TARGET,
    TrainingSequence,
    clean_sequence,
    draw_masks,
    noisy_sequence,
    pack,
)
from sbd_core.training.loss import Loss, LossModule, training_loss

PAD, EOS, MASK = 0, 1, 2
VOCABULARY = 60
CPU = torch.device("cpu")

Pair = tuple[list[int], list[int]]


def pairs(seed: int, lengths: list[tuple[int, int]]) -> list[Pair]:
    """(prompt ids, answer ids ending in <eos>) of these lengths."""
    generator = torch.Generator().manual_seed(seed)

    def ids(count: int) -> list[int]:
        return torch.randint(3, VOCABULARY, (count,), generator=generator).tolist()

    return [(ids(prompt), [*ids(answer - 1), EOS]) for prompt, answer in lengths]


def noisy(pair: Pair, block_size: int, phase: int = 0, seed: int = 0) -> TrainingSequence:
    draws = torch.Generator().manual_seed(seed)
    clean = clean_sequence(*pair, prompt_weight=0.0)
    is_masked = draw_masks(len(pair[1]), draws)
    return noisy_sequence(clean, len(pair[0]), is_masked, block_size, phase, MASK)


def loss_of(model, texts: list[TrainingSequence], row_tokens: int = 80) -> Loss:
    return training_loss(LossModule(model), pack(texts, row_tokens, PAD), CPU)


def copy_of(text: TrainingSequence) -> tuple[list[int], list[bool]]:
    """(x_hat, where it has a target)."""
    targets = text.targets[text.is_noisy]
    return text.token_ids[text.is_noisy].tolist(), (targets != NO_TARGET).tolist()
