"""Costs of a forward pass, counted again from masks and from the models' own matrices."""

import re
from typing import Any

import pytest

from sbd_core import DecodeConfig, generate
from sbd_core.cost import LayerShape, ModelShape, blocks_of, forward_cost, shape_or_none
from sbd_core.masks import decoding_mask
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from tests.core.decoding.doubles import used_alternative
from tests.core.models.tiny_models import MAKERS, tiny_model

LAYER = LayerShape(hidden_size=8, feed_forward_size=24, num_heads=4, num_kv_heads=2, head_size=2)
SHAPE = ModelShape(layer=LAYER, num_layers=3, vocabulary_size=11, bytes_per_value=2)


def counted_again(cached: int, causal: int, block: int, predrafts: list[tuple[int, ...]]) -> int:
    """Floating-point operations, from the mask itself and the matrices one by one."""
    mask = decoding_mask(cached, causal, block, predrafts)
    rows = mask.shape[0]
    matrices = [(8, 8), (8, 4), (8, 4), (8, 8), (8, 24), (8, 24), (24, 8)]
    linear = 3 * rows * sum(a * b for a, b in matrices)
    attention = 3 * int(mask.sum()) * 4 * 2 * 2  # QK^T and PV, 4 heads of 2
    return 2 * (linear + attention)


@pytest.mark.parametrize(
    ("cached", "causal", "block", "predrafts"),
    [(0, 5, 0, []), (9, 4, 4, []), (9, 0, 6, []), (7, 3, 4, [(1, 2), (2, 4, 1)])],
)
def test_operations_are_those_of_the_mask_and_the_matrices(cached, causal, block, predrafts):
    blocks = ([(causal, block)] if block else []) + predrafts
    found = forward_cost(SHAPE, cached, causal, blocks, num_logits=3)
    assert found.rows == causal + block + sum(size for _, size, *_ in predrafts)
    assert found.flops == counted_again(cached, causal, block, predrafts) + 2 * 3 * 8 * 11
    assert found.cache_bytes == 3 * 2 * cached * 2 * 2 * 2
    assert found.bytes_read == found.weight_bytes + found.cache_bytes


@pytest.mark.parametrize("name", MAKERS)
def test_the_weights_of_a_shape_are_those_of_the_models_matrices(name) -> None:
    model = tiny_model(name, 300)
    shape = shape_or_none(model.config, 4)
    if "moe" in name:
        assert shape is None
        return
    assert shape is not None
    own = [
        parameter.numel()
        for path, parameter in model.named_parameters()
        if parameter.dim() == 2 and not re.search(r"embed|\.wte|\.wpe", path)
    ]
    head = model.get_output_embeddings().weight
    is_tied = head is model.get_input_embeddings().weight
    assert shape.num_weights == sum(own) + (head.numel() if is_tied else 0)


SETTINGS: dict[str, dict[str, Any]] = {
    "ntp": {"strategy": "ntp"},
    "sbd": {"strategy": "sbd", "solver": EntropyBound(4.0)},
    "verify": {"strategy": "verify", "max_rows": 12},
    "alternatives": {"strategy": "verify", "block_size": 4},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_event_counts_the_rows_that_the_model_was_given(llama, name) -> None:
    rows: list[tuple[int, int]] = []
    forward_batch = llama.forward_batch

    def counting(requests):
        rows.extend((request.num_rows, request.num_logits) for request in requests)
        return forward_batch(requests)

    llama.forward_batch = counting
    try:
        config = DecodeConfig(max_new_tokens=40, **SETTINGS[name])
        trace = generate(llama, "ab", config)
    finally:
        del llama.forward_batch
    assert trace.shape is not None
    assert trace.costs is not None
    num_prompt, strategy = len(trace.prompt_token_ids), trace.config.strategy
    for event, cost, (num_rows, num_logits) in zip(trace.events, trace.costs, rows, strict=True):
        blocks = blocks_of(event, strategy, num_prompt)
        assert cost.rows == num_rows
        assert cost == forward_cost(
            trace.shape, event.num_cached, event.num_causal, blocks, num_logits
        )
    if name == "alternatives":
        assert used_alternative(trace)
    assert Trace.from_json(trace.to_json()).costs == trace.costs
