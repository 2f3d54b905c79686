"""Counts the operations and bytes of a forward pass from the model's shape; measures nothing.

A forward pass multiplies every row by every weight, and every row's query by the keys and values
it may attend to. It reads each weight and each cached key and value once. Norms, activations and
the sum of the embeddings are left out, as is what a batch shares: each text is counted alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sbd_core.cost.model_shape import ModelShape
from sbd_core.events import StepEvent


@dataclass(frozen=True, slots=True)
class ForwardCost:
    """rows: tokens read. flops: a multiplication and an addition are two. Bytes are those read."""

    rows: int
    flops: int
    weight_bytes: int
    cache_bytes: int

    @property
    def bytes_read(self) -> int:
        """Weights and cached keys and values."""
        return self.weight_bytes + self.cache_bytes


def forward_cost(
    shape: ModelShape,
    num_cached: int,
    num_causal: int,
    blocks: Sequence[tuple[int, int] | tuple[int, int, int]] = (),
    num_logits: int = 1,
) -> ForwardCost:
    """The cost of one forward pass.

    num_cached: tokens in the KV cache before it. num_causal: tokens it read causally. blocks:
    (causal tokens seen, size, causal rows of its own) of each block. num_logits: rows for which it
    predicted.
    """
    layer = shape.layer
    num_block = sum(block[1] for block in blocks)
    rows = num_causal + num_block
    pairs = num_causal * num_cached + num_causal * (num_causal + 1) // 2
    for seen, size, *own in blocks:
        pairs += size * (num_cached + seen + size)
        # Of its causal rows the first sees itself alone, the next one more.
        pairs -= sum(size - 1 - index for index in range(sum(own)))
    linear = shape.num_layers * rows * layer.num_weights
    attention = shape.num_layers * 2 * pairs * layer.attention_width
    head = num_logits * layer.hidden_size * shape.vocabulary_size
    cached = 2 * shape.num_layers * num_cached * layer.kv_width
    return ForwardCost(
        rows=rows,
        flops=2 * (linear + attention + head),
        weight_bytes=shape.num_weights * shape.bytes_per_value,
        cache_bytes=cached * shape.bytes_per_value,
    )


def blocks_of(event: StepEvent, strategy: str, num_prompt: int) -> list[tuple[int, int, int]]:
    """(causal tokens seen, size, causal rows) of every block that the pass of `event` read.

    num_prompt: tokens of the prompt, as positions count from the answer's first. Next-token
    prediction reads no block; its event's block is the one position predicted.
    """
    if strategy == "ntp":
        return []
    blocks = [(event.num_causal, event.block.size, 0)] if event.block.size else []
    known = num_prompt - event.num_cached
    for predraft in event.predrafts:
        num_own = predraft.num_rows - predraft.block.size
        blocks.append((known + predraft.block.start - num_own, predraft.num_rows, num_own))
    return blocks


def event_cost(shape: ModelShape, event: StepEvent, strategy: str, num_prompt: int) -> ForwardCost:
    """The cost of the forward pass of `event`; see blocks_of.

    The forward pass that reads the prompt predicts after its last token alone.
    """
    blocks = blocks_of(event, strategy, num_prompt)
    num_causal_logits = 1 if event.kind == "prefill" else event.num_causal
    num_logits = num_causal_logits + sum(size for _, size, _ in blocks)
    return forward_cost(shape, event.num_cached, event.num_causal, blocks, num_logits)


def total_cost(costs: Iterable[ForwardCost]) -> ForwardCost:
    """All of them together."""
    rows = flops = weight_bytes = cache_bytes = 0
    for cost in costs:
        rows += cost.rows
        flops += cost.flops
        weight_bytes += cost.weight_bytes
        cache_bytes += cost.cache_bytes
    return ForwardCost(rows, flops, weight_bytes, cache_bytes)
