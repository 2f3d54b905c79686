"""Perplexity is that of a slow reading, token by token."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.errors import TrainingError
from sbd_core.evaluation.perplexity import perplexity
from sbd_core.evaluation.scoring import held_out
from sbd_core.models.huggingface import DEFAULT_CHECKPOINT
from sbd_core.training.checkpoint import load_model
from sbd_core.training.data import encode_example


def test_perplexity_is_exp_of_the_mean_cross_entropy_of_answer_tokens() -> None:
    items = held_out("math", 70, 0, "test")
    model, tokenizer = load_model(DEFAULT_CHECKPOINT)
    total = count = 0.0
    for item in items:
        prompt, answer = encode_example(tokenizer, item)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0]
        wanted = logits[len(prompt) - 1 : -1]
        total += cross_entropy(wanted, torch.tensor(answer), reduction="sum").item()
        count += len(answer)
    found = perplexity(DEFAULT_CHECKPOINT, {"math": items})["math"]
    assert found == pytest.approx(math.exp(total / count), rel=1e-4)
    assert found > 1


def test_a_missing_folder_is_named(tmp_path) -> None:
    with pytest.raises(TrainingError, match="nowhere"):
        perplexity(tmp_path / "nowhere", {"math": held_out("math", 1, 0, "test")})
