"""Losses without decoding are what a slow loop over the tokens gives."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.evaluation import losses
from sbd_core.evaluation.losses import masked_loss, perplexity
from sbd_core.masks import decoding_mask
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.tasks import held_out
from sbd_core.training.batches import draw_masks
from sbd_core.training.checkpoint import load_model
from sbd_core.training.data import encode_examples


def test_perplexity_is_exp_of_the_mean_cross_entropy_of_answer_tokens(monkeypatch, nano) -> None:
    monkeypatch.setattr(losses, "TEXTS_PER_FORWARD", 4)
    items = held_out("math", 9, 0, "test")
    model, tokenizer = load_model(DEFAULT_CHECKPOINT)
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


def test_masked_loss_is_the_mean_cross_entropy_of_what_the_masks_hide(nano) -> None:
    items = held_out("json", 5, 0, "test")
    model, tokenizer = load_model(DEFAULT_CHECKPOINT)
    draws = torch.Generator().manual_seed(3)
    total = count = 0.0
    for prompt, answer in encode_examples(tokenizer, items):
        is_masked = draw_masks(len(answer), draws)
        for start in range(0, len(answer), 8):
            part = torch.tensor(answer[start : start + 8])
            hidden = is_masked[start : start + 8]
            # What a block holds behind the end of an answer is masked, and asked of nobody.
            shown = torch.full((8,), tokenizer.mask_token_id)
            shown[: len(part)] = part.masked_fill(hidden, tokenizer.mask_token_id)
            seen = [*prompt, *answer[:start]]
            with torch.no_grad():
                logits = model(
                    input_ids=torch.tensor([[*seen, *shown.tolist()]]),
                    attention_mask=decoding_mask(0, len(seen), 8)[None, None],
                    use_cache=False,
                ).logits[0, len(seen) : len(seen) + len(part)]
            total += cross_entropy(logits[hidden], part[hidden], reduction="sum").item()
            count += int(hidden.sum())
    found = masked_loss(nano, {"json": items}, block_size=8, seed=3)["json"]
    assert found == pytest.approx(total / count, rel=1e-4)
