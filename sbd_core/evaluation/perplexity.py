"""Perplexity of the next-token head on held-out answers (paper Fig. 4). Decodes nothing."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from sbd_core.training.checkpoint import load_model
from sbd_core.training.corpus import Example
from sbd_core.training.data import encode_example
from sbd_core.training.loss import Trainee, training_loss
from sbd_core.training.noising import clean_text, pack

TEXTS_PER_FORWARD = 64


def perplexity(folder: Path, suites: Mapping[str, Sequence[Example]]) -> dict[str, float]:
    """exp of the mean cross-entropy of each suite's answer tokens, <eos> included, given prompts.

    folder: a model folder, read in fp32. suites: none empty. Raises TrainingError.
    """
    model, tokenizer = load_model(folder)
    trainee = Trainee(model).eval()
    return {name: _perplexity(trainee, tokenizer, items) for name, items in suites.items()}


@torch.no_grad()
def _perplexity(
    trainee: Trainee, tokenizer: PreTrainedTokenizerBase, items: Sequence[Example]
) -> float:
    total = count = 0.0
    for start in range(0, len(items), TEXTS_PER_FORWARD):
        pairs = [
            encode_example(tokenizer, item) for item in items[start : start + TEXTS_PER_FORWARD]
        ]
        texts = [clean_text(prompt, answer, prompt_weight=0.0) for prompt, answer in pairs]
        longest = max(len(text) for text in texts)
        rows = pack(texts, longest, tokenizer.pad_token_id)
        weight = sum(text.ntp_weight for text in texts)
        total += float(training_loss(trainee, rows, torch.device("cpu")).ntp) * weight
        count += weight
    return math.exp(total / count)
