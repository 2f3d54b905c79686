"""Losses on held-out answers, computed without decoding.

They are the perplexity of the causal head (Fig. 4) and the cross-entropy of the masked head.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from sbd_core.tasks import Example
from sbd_core.training.batches import (
    TrainingSequence,
    clean_sequence,
    draw_masks,
    noisy_sequence,
    pack,
    padding_id,
)
from sbd_core.training.checkpoint import load_model
from sbd_core.training.data import Pair, encode_examples, require_tokens
from sbd_core.training.step import LossModule, training_loss

TEXTS_PER_FORWARD = 64


def perplexity(folder: Path, examples_by_task: Mapping[str, Sequence[Example]]) -> dict[str, float]:
    """Compute the perplexity of each task's answer tokens, <eos> included, given the prompts.

    folder: a model folder, which is read in fp32.
    examples_by_task: {task: examples}, with at least one example each.
    Returns {task: perplexity}. Raises TrainingError for an unfit folder.
    """
    model, tokenizer = load_model(folder)
    require_tokens(tokenizer, folder.name, needs_mask=False)

    def clean(pair: Pair) -> TrainingSequence:
        return clean_sequence(*pair, prompt_weight=0.0)

    return {
        name: math.exp(float(sums[0] / sums[1]))
        for name, items in examples_by_task.items()
        for sums in [_loss_sums(model, tokenizer, items, clean)]
    }


def masked_loss(
    folder: Path, examples_by_task: Mapping[str, Sequence[Example]], block_size: int, seed: int = 0
) -> dict[str, float]:
    """Compute the mean cross-entropy, in nats, of each task's masked answer tokens (MATP, Eq. 14).

    Every answer is masked once as in Alg. 1 (eta ~ U(0, 1)). Equal seeds give equal masks for all
    models. The first block starts at the first answer token. Raises TrainingError.
    """
    model, tokenizer = load_model(folder)
    require_tokens(tokenizer, folder.name, needs_mask=True)
    draws, mask_id = torch.Generator(), tokenizer.mask_token_id

    def noisy(pair: Pair) -> TrainingSequence:
        prompt, answer = pair
        clean = clean_sequence(prompt, answer, prompt_weight=0.0)
        is_masked = draw_masks(len(answer), draws)
        return noisy_sequence(clean, len(prompt), is_masked, block_size, 0, mask_id)

    means = {}
    for name, items in examples_by_task.items():
        draws.manual_seed(seed)
        sums = _loss_sums(model, tokenizer, items, noisy)
        means[name] = float(sums[2] / sums[3])
    return means


@torch.no_grad()
def _loss_sums(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    items: Sequence[Example],
    sequence_of: Callable[[Pair], TrainingSequence],
) -> Tensor:
    """Add up Loss.sums over all items. sequence_of: makes the training sequence of an item."""
    module, total = LossModule(model).eval(), torch.zeros(4, dtype=torch.float64)
    for start in range(0, len(items), TEXTS_PER_FORWARD):
        part = items[start : start + TEXTS_PER_FORWARD]
        sequences = [sequence_of(pair) for pair in encode_examples(tokenizer, part)]
        batch = pack(sequences, max(map(len, sequences)), padding_id(tokenizer))
        total += training_loss(module, batch, torch.device("cpu")).sums
    return total
