"""Perplexity of the next-token head on held-out answers (Fig. 4), and loss of the masked one.

Decodes nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from sbd_core.tasks import Example
from sbd_core.training.checkpoints.checkpoint import load_model
from sbd_core.training.data.examples import Pair, encode_example
from sbd_core.training.data.masking import (
    NO_TARGET,
    clean_sequence,
    draw_masks,
    noisy_sequence,
    pack,
)
from sbd_core.training.data.tokenizer import padding_id, require_tokens
from sbd_core.training.loss import LossModule, training_loss

TEXTS_PER_FORWARD = 64
CPU = torch.device("cpu")


def perplexity(folder: Path, suites: Mapping[str, Sequence[Example]]) -> dict[str, float]:
    """exp of the mean cross-entropy of each suite's answer tokens, <eos> included, given prompts.

    folder: a model folder, read in fp32. suites: none empty. Raises TrainingError.
    """
    model, tokenizer = load_model(folder)
    require_tokens(tokenizer, folder.name, needs_mask=False)
    module = LossModule(model).eval()
    return {name: _perplexity(module, tokenizer, items) for name, items in suites.items()}


def masked_loss(
    folder: Path, suites: Mapping[str, Sequence[Example]], block_size: int, seed: int = 0
) -> dict[str, float]:
    """Mean cross-entropy in nats of each suite's masked answer tokens, the MATP sum of Eq. 14.

    Every text is masked once as Alg. 1 does (eta ~ U(0,1)), the same for every model with this
    seed; blocks of block_size start at the answer. Raises TrainingError.
    """
    model, tokenizer = load_model(folder)
    require_tokens(tokenizer, folder.name, needs_mask=True)
    module = LossModule(model).eval()
    return {
        name: _masked_loss(module, tokenizer, items, block_size, seed)
        for name, items in suites.items()
    }


def _parts(tokenizer: PreTrainedTokenizerBase, items: Sequence[Example]) -> Iterator[list[Pair]]:
    for start in range(0, len(items), TEXTS_PER_FORWARD):
        yield [encode_example(tokenizer, item) for item in items[start : start + TEXTS_PER_FORWARD]]


@torch.no_grad()
def _perplexity(
    module: LossModule, tokenizer: PreTrainedTokenizerBase, items: Sequence[Example]
) -> float:
    total = count = 0.0
    for pairs in _parts(tokenizer, items):
        sequences = [clean_sequence(prompt, answer, prompt_weight=0.0) for prompt, answer in pairs]
        longest = max(len(sequence) for sequence in sequences)
        batch = pack(sequences, longest, padding_id(tokenizer))
        weight = sum(sequence.ntp_weight for sequence in sequences)
        total += float(training_loss(module, batch, CPU).ntp) * weight
        count += weight
    return math.exp(total / count)


@torch.no_grad()
def _masked_loss(
    module: LossModule,
    tokenizer: PreTrainedTokenizerBase,
    items: Sequence[Example],
    block_size: int,
    seed: int,
) -> float:
    draws = torch.Generator().manual_seed(seed)
    total = count = 0.0
    for pairs in _parts(tokenizer, items):
        sequences = [
            noisy_sequence(
                clean_sequence(prompt, answer, prompt_weight=0.0),
                len(prompt),
                draw_masks(len(answer), draws),
                block_size,
                0,
                tokenizer.mask_token_id,
            )
            for prompt, answer in pairs
        ]
        batch = pack(sequences, max(len(sequence) for sequence in sequences), padding_id(tokenizer))
        num_masked = int((batch.layout.is_noisy & (batch.targets != NO_TARGET)).sum())
        total += float(training_loss(module, batch, CPU).matp) * num_masked
        count += num_masked
    return total / count
