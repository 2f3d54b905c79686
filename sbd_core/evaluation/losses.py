"""The perplexity of the causal head on held-out answers (Fig. 4)."""

import math
from collections.abc import Mapping, Sequence

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
        for start in range(0, len(examples), TEXTS_PER_FORWARD):
            pairs = [
                encode_turn(model.tokenizer, (("user", one.prompt),), one.answer, model.name)
                for one in examples[start : start + TEXTS_PER_FORWARD]
            ]
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
