"""Counts the operations and bytes of a forward pass from a model's shape, without tensors.

The shape is read from a transformers config or a config.json. Only decoders of equal dense layers
are accepted. Each row (input position) is multiplied by all weights of the layers and attends to
keys and values. Rows with logits are also multiplied by the output layer. Each weight and each
cached key and value is read once. Norms, activations and the embedding lookup are left out. Each
text of a batch is counted as if it were alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from functools import partial
from typing import Any

from sbd_core.errors import ArgumentError, require_integer
from sbd_core.events import StepEvent

MAX_SIZE = 10**9
NAMES = {
    "hidden_size": ("hidden_size", "n_embd", "d_model"),
    "num_layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "num_heads": ("num_attention_heads", "n_head", "num_heads"),
    "vocabulary_size": ("vocab_size",),
}
"""Names that model families give to a size that every decoder has."""
WITHOUT_GATE = ("gpt2", "gpt_neox", "gptj", "opt", "bloom", "phi", "starcoder2", "nemotron")
"""Families with two feed-forward matrices, 4 * hidden_size wide if the config does not say."""
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerShape:
    """Sizes of one transformer layer. All layers of a model have the same sizes.

    num_feed_forward_matrices: 3 if the feed-forward has a gate (up, gate, down), else 2.
    """

    hidden_size: int
    feed_forward_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    num_feed_forward_matrices: int = 3

    @classmethod
    def of(cls, config: Any) -> "LayerShape":
        """Read the shape from a decoder's config. Raises ArgumentError for any other config."""
        if _get(config, "is_encoder_decoder"):
            raise _wrong("is of an encoder and a decoder", config)
        if any((_get(config, name) or 0) for name in EXPERTS):
            raise _wrong("has several experts, of which a token uses some", config)
        hidden = _size(config, "hidden_size")
        num_heads = _size(config, "num_heads")
        has_gate = _get(config, "model_type") not in WITHOUT_GATE
        wide = _get(config, "intermediate_size", "n_inner", "ffn_dim")
        if wide is None and has_gate:
            raise _wrong("has no intermediate_size", config)
        kv_heads = _get(config, "num_key_value_heads")
        return cls(
            hidden_size=hidden,
            feed_forward_size=_whole("intermediate_size", 4 * hidden if wide is None else wide),
            num_heads=num_heads,
            num_kv_heads=_whole("num_key_value_heads", num_heads if kv_heads is None else kv_heads),
            head_size=_whole("head_dim", _get(config, "head_dim") or hidden // num_heads),
            num_feed_forward_matrices=3 if has_gate else 2,
        )

    def __post_init__(self) -> None:
        for name in self.__slots__:
            require_integer(name, getattr(self, name), 1, MAX_SIZE)
        require_integer("num_feed_forward_matrices", self.num_feed_forward_matrices, 2, 3)

    @property
    def kv_width(self) -> int:
        """Size of one token's keys in one layer, over all heads. Values have the same size."""
        return self.num_kv_heads * self.head_size

    @property
    def attention_width(self) -> int:
        """Size of one token's queries in one layer, over all heads."""
        return self.num_heads * self.head_size

    @property
    def num_weights(self) -> int:
        """Number of weights in one layer's matrices. Norms and biases are left out."""
        feed_forward = self.num_feed_forward_matrices * self.feed_forward_size
        return self.hidden_size * (feed_forward + 2 * self.attention_width + 2 * self.kv_width)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """Sizes of a whole decoder. bytes_per_value: bytes of one number, in weights and KV cache."""

    layer: LayerShape
    num_layers: int
    vocabulary_size: int
    bytes_per_value: int

    def __post_init__(self) -> None:
        for name in ("num_layers", "vocabulary_size"):
            require_integer(name, getattr(self, name), 1, MAX_SIZE)
        require_integer("bytes_per_value", self.bytes_per_value, 1, 8)

    @classmethod
    def of(cls, config: Any, bytes_per_value: int) -> "ModelShape":
        """Read the shape from a decoder's config. Raises ArgumentError for any other config."""
        return cls(
            layer=LayerShape.of(config),
            num_layers=_size(config, "num_layers"),
            vocabulary_size=_size(config, "vocabulary_size"),
            bytes_per_value=bytes_per_value,
        )

    @property
    def num_weights(self) -> int:
        """Number of weights that a forward pass multiplies by, output layer included."""
        of_output = self.vocabulary_size * self.layer.hidden_size
        return self.num_layers * self.layer.num_weights + of_output

    def as_json(self) -> dict[str, int]:
        """The sizes of the layer and of the model in one flat dict."""
        whole = asdict(self)
        return {**whole.pop("layer"), **whole}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelShape":
        """Read the output of as_json(). Raises ArgumentError naming the first thing wrong."""
        of_layer, (_, *own) = ([f.name for f in fields(part)] for part in (LayerShape, cls))
        for name in (*of_layer, *own):
            if name not in data:
                raise ArgumentError(name, "must be given", None)
        layer = LayerShape(**{name: data[name] for name in of_layer})
        return cls(layer=layer, **{name: data[name] for name in own})


def shape_or_none(config: Any, bytes_per_value: int) -> ModelShape | None:
    """Read the shape from a config; None if the model is not a decoder of equal dense layers."""
    try:
        return ModelShape.of(config, bytes_per_value)
    except ArgumentError:
        return None


def _size(config: Any, name: str) -> int:
    value = _get(config, *NAMES[name])
    if value is None:
        raise _wrong(f"has no {NAMES[name][0]}", config)
    return _whole(NAMES[name][0], value)


def _whole(name: str, value: Any) -> int:
    require_integer(name, value, 1, MAX_SIZE)
    return int(value)


def _get(config: Any, *names: str) -> Any:
    """The value of the config's first field in `names` that exists and is not None; else None."""
    read = config.get if isinstance(config, Mapping) else partial(getattr, config)
    return next((value for name in names if (value := read(name, None)) is not None), None)


def _wrong(why: str, config: Any) -> ArgumentError:
    rule = f"must be the config of a decoder of dense layers; this one {why}"
    return ArgumentError("model", rule, _get(config, "model_type") or "?")


@dataclass(frozen=True, slots=True)
class ForwardCost:
    """Rows (input positions) of a forward pass, its operations, and the bytes that it reads.

    flops: number of operations; a multiplication and an addition count as two.
    """

    rows: int
    flops: int
    weight_bytes: int
    cache_bytes: int

    @property
    def bytes_read(self) -> int:
        """Bytes read of weights and of cached keys and values, together."""
        return self.weight_bytes + self.cache_bytes


def forward_cost(
    shape: ModelShape,
    num_cached: int,
    num_causal: int,
    blocks: Sequence[tuple[int, int] | tuple[int, int, int]] = (),
    num_logits: int = 1,
) -> ForwardCost:
    """The cost of one forward pass.

    num_cached: number of tokens in the KV cache before the pass.
    num_causal: number of tokens that the pass reads causally.
    blocks: (num_seen, size) or (num_seen, size, num_causal) of each block; see masks.SeenBlock.
    num_logits: number of rows for which the pass computes logits.
    """
    layer = shape.layer
    num_block = sum(block[1] for block in blocks)
    rows = num_causal + num_block
    pairs = num_causal * num_cached + num_causal * (num_causal + 1) // 2
    for seen, size, *own in blocks:
        pairs += size * (num_cached + seen + size)
        # The block's causal row `index` sees index + 1 of its rows, not all of them.
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
    """List the blocks that the forward pass of `event` read, as forward_cost() takes them.

    strategy: name of the strategy that decoded. For ntp the list is empty, as ntp reads no block.
    num_prompt: number of prompt tokens. An event counts positions from the end of the prompt.
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
    """The cost of the forward pass of `event`. For the arguments see blocks_of().

    Of the prompt's tokens, only the last one has its logits computed.
    """
    blocks = blocks_of(event, strategy, num_prompt)
    num_causal_logits = 1 if event.kind == "prefill" else event.num_causal
    num_logits = num_causal_logits + sum(size for _, size, _ in blocks)
    return forward_cost(shape, event.num_cached, event.num_causal, blocks, num_logits)


def total_cost(costs: Iterable[ForwardCost]) -> ForwardCost:
    """Add up costs, field by field."""
    columns = zip((0, 0, 0, 0), *map(astuple, costs), strict=True)
    return ForwardCost(*map(sum, columns))
