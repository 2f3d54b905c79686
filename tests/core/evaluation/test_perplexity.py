"""The perplexity is what a slow loop over the tokens gives."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.evaluation import api
from sbd_core.evaluation.api import perplexity
from sbd_core.tasks import held_out
from sbd_core.training.data import encode_examples


def test_perplexity_is_exp_of_the_mean_cross_entropy_of_answer_tokens(monkeypatch, nano) -> None:
    monkeypatch.setattr(api, "TEXTS_PER_FORWARD", 4)
    items = held_out("math", 9, 0, "test")
    model, tokenizer = nano.model, nano.tokenizer
    total = count = 0.0
    for prompt, answer in encode_examples(tokenizer, items):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *answer]])).logits[0]
        wanted = logits[len(prompt) - 1 : -1]
        total += cross_entropy(wanted, torch.tensor(answer), reduction="sum").item()
        count += len(answer)
    found = perplexity(nano, {"math": items})["math"]
    assert found == pytest.approx(math.exp(total / count), rel=1e-4)
    assert found > 1
