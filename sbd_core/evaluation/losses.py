"""Losses on held-out answers, computed without decoding.

They are the perplexity of the causal head (Fig. 4) and the cross-entropy of the masked head.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch.nn.functional import cross_entropy

from sbd_core.models.chat import encode_turn
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest
from sbd_core.tasks import Example

TEXTS_PER_FORWARD = 64


@torch.inference_mode()
def perplexity(
    model: HuggingFaceModel, examples_by_task: Mapping[str, Sequence[Example]]
) -> dict[str, float]:
    """Compute the perplexity of each task's answer tokens, <eos> included, given the prompts.

    examples_by_task: {task: examples}, with at least one example each.
    Returns {task: perplexity}. Raises ModelError for an example that the model cannot read.
    """
    found = {}
    for name, examples in examples_by_task.items():
        total, count = 0.0, 0
        for pairs in _encoded(model, examples):
            requests = [
                ForwardRequest(cache, [*prompt, *answer[:-1]], (), len(answer))
                for cache, (prompt, answer) in zip(model.new_caches(len(pairs)), pairs, strict=True)
            ]
            for logits, (_, answer) in zip(model.forward_batch(requests), pairs, strict=True):
                wanted = torch.tensor(answer, device=logits.device)
                total += float(cross_entropy(logits, wanted, reduction="sum"))
                count += len(answer)
        found[name] = math.exp(total / count)
    return found


@torch.inference_mode()
def masked_loss(
    model: HuggingFaceModel,
    examples_by_task: Mapping[str, Sequence[Example]],
    block_size: int,
    seed: int = 0,
) -> dict[str, float]:
    """Compute the mean cross-entropy, in nats, of each task's masked answer tokens (MATP, Eq. 14).

    Every answer is masked once as in Alg. 1: each token with probability eta ~ U(0, 1). Equal seeds
    give equal masks for all models. The first block starts at the first answer token, and the last
    one is filled up with masks. The model must have a mask token. Raises ModelError.
    """
    mask_id = model.mask_token_id
    assert mask_id is not None
    found, draws = {}, torch.Generator()
    for name, examples in examples_by_task.items():
        total, count = 0.0, 0
        draws.manual_seed(seed)
        for pairs in _encoded(model, examples):
            caches = model.new_caches(len(pairs))
            masks = []
            for _, answer in pairs:
                eta = torch.rand((), generator=draws)
                masks.append(torch.rand(len(answer), generator=draws) < eta)
            for start in range(0, max(len(answer) for _, answer in pairs), block_size):
                requests, wanted = [], []
                for cache, (prompt, answer), is_masked in zip(caches, pairs, masks, strict=True):
                    tokens = torch.tensor(answer[start : start + block_size])
                    if not len(tokens):
                        continue
                    hidden = is_masked[start : start + block_size]
                    block = torch.full((block_size,), mask_id)
                    block[: len(tokens)] = tokens.masked_fill(hidden, mask_id)
                    before = answer[start - block_size : start] if start else prompt
                    requests.append(ForwardRequest(cache, before, block.tolist(), 0))
                    wanted.append((hidden, tokens))
                for logits, (hidden, tokens) in zip(
                    model.forward_batch(requests), wanted, strict=True
                ):
                    rows = logits[: len(tokens)].cpu()[hidden]
                    total += float(cross_entropy(rows, tokens[hidden], reduction="sum"))
                    count += int(hidden.sum())
        found[name] = total / count
    return found


def _encoded(
    model: HuggingFaceModel, examples: Sequence[Example]
) -> Iterator[list[tuple[list[int], list[int]]]]:
    """Yield (prompt ids, answer ids) of TEXTS_PER_FORWARD examples at a time."""
    for start in range(0, len(examples), TEXTS_PER_FORWARD):
        yield [
            encode_turn(model.tokenizer, (("user", one.prompt),), one.answer, model.name)
            for one in examples[start : start + TEXTS_PER_FORWARD]
        ]
