"""Blocks behind some of the causal tokens get what a forward pass of their own would give them."""

import random
from collections.abc import Sequence

import pytest
import torch

from sbd_core.models.protocol import ForwardRequest, PredraftBlock
from tests.conftest import in_onnx
from tests.core.decoding.reference import keys_and_values
from tests.core.decoding.test_laws import assert_near
from tests.core.models.test_cuda_graph import still

LONGEST = 9


def ids(draw: random.Random, count: int) -> list[int]:
    return [draw.randrange(5, 250) for _ in range(count)]


def drawn_request(draw: random.Random, cache, num_blocks: int) -> ForwardRequest:
    """Causal tokens, mostly a block behind them, and blocks behind any prefix of them."""
    causal = ids(draw, draw.randint(1, LONGEST))
    predrafts = [
        PredraftBlock(
            draw.randint(0, len(causal)),
            ids(draw, draw.randint(1, LONGEST)),
            is_alternative=draw.random() < 0.5,
        )
        for _ in range(num_blocks)
    ]
    block = ids(draw, draw.choice([0, 1, LONGEST]))
    return ForwardRequest(cache, causal, block, draw.randint(1, len(causal)), predrafts)


def alone(model, text: Sequence[int], request: ForwardRequest) -> torch.Tensor:
    """The logits of the request, each block by a forward pass of its own over the whole text."""

    def read(causal: Sequence[int], block: Sequence[int], num_causal_logits: int) -> torch.Tensor:
        return model.forward(model.new_cache(), [*text, *causal], block, num_causal_logits)

    found = [read(request.causal_ids, request.block_ids, request.num_causal_logits)]
    for block in request.predrafts:
        num_own = int(block.is_alternative)
        causal = [*request.causal_ids[: block.num_causal], *block.token_ids[:num_own]]
        found.append(read(causal, block.token_ids[num_own:], num_own))
    return torch.cat(found)


def check(model, texts, requests, plain) -> None:
    """The requests of one forward pass against forward passes of their own, and the caches."""
    lengths = [request.cache.length for request in requests]
    for logits, text, request, length in zip(
        model.forward_batch(requests), texts, requests, lengths, strict=True
    ):
        assert logits.shape[0] == request.num_logits
        assert_near(logits, alone(plain, text, request))
        assert request.cache.length == length + len(request.causal_ids)
        cache = plain.new_cache()
        plain.forward(cache, [*text, *request.causal_ids], (), 1)
        for ours, theirs in zip(
            keys_and_values(request.cache), keys_and_values(cache), strict=True
        ):
            for found, expected in zip(ours, theirs, strict=True):
                assert_near(found, expected)


def check_some(model) -> None:
    for seed in range(12):
        draw = random.Random(seed)
        text, cache = ids(draw, draw.choice([0, 1, 20])), model.new_cache()
        if text:
            model.forward(cache, text, (), 1)
        check(model, [text], [drawn_request(draw, cache, draw.randint(1, 4))], model)


def test_every_block_is_as_in_a_forward_pass_of_its_own(tiny) -> None:
    check_some(tiny)


def test_an_adapter_reads_every_block_as_in_a_forward_pass_of_its_own(adapted) -> None:
    check_some(adapted)


@pytest.mark.parametrize(
    "make", [lambda model: model, lambda model: still(model, LONGEST), in_onnx]
)
def test_a_batch_gives_each_text_its_own_blocks(llama, make) -> None:
    """Texts with predrafts beside texts without, shorter and longer than what is padded."""
    draw, model = random.Random(3), make(llama)
    for _ in range(3):
        caches = model.new_caches(4)
        texts = [ids(draw, count) for count in (3, 18, 70, 9)]
        model.forward_batch(
            [ForwardRequest(*each, (), 1) for each in zip(caches, texts, strict=True)]
        )
        counts = zip(caches, (3, 0, 1, 4), strict=True)
        requests = [drawn_request(draw, cache, count) for cache, count in counts]
        check(model, texts, requests, llama)
