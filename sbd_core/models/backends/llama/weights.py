"""Fuses the weights of a Llama-shaped transformers model for the fused forward pass.

No weight is stored twice: the transformers modules become views of the fused tensors. A block
adapter becomes separate low-rank matrices, which apply to the rows of blocks only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import Linear, Parameter

from sbd_core.models.block_adapter import GROUPS, BlockAdapter, side_by_side

MODEL_TYPES = ("llama", "mistral", "qwen2", "qwen3")
STEADY_ROTARY_TYPES = ("default", "linear", "llama3")
"""Rotary embeddings whose angles do not depend on the length of the text."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A linear layer x @ weight + bias: contiguous weight (in, out), bias (out,) or None."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the layer to x (rows, in); returns (rows, out)."""
        if self.bias is None:
            return torch.mm(x, self.weight)
        return torch.addmm(self.bias, x, self.weight)

    def add_to(self, residual: Tensor, x: Tensor) -> None:
        """Add the layer's output for x (rows, in) to `residual` (rows, out), in place."""
        residual.addmm_(x, self.weight)
        if self.bias is not None:
            residual.add_(self.bias)


class Norm:
    """RMSNorm of n values, computed as x / sqrt(|x|^2 + n eps) * sqrt(n) weight."""

    def __init__(self, module: Any) -> None:
        weight = module.weight.detach().float()
        self.scale = weight * len(weight) ** 0.5
        self.eps = weight.new_tensor((len(weight) * module.variance_epsilon) ** 0.5)

    def __call__(self, x: Tensor) -> Tensor:
        """Normalize x along its last dimension, computing in fp32."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        return (x / length.hypot_(self.eps)).mul_(self.scale).to(x.dtype)


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one transformer layer; q, k and v are one matrix, and so are gate and up."""

    attention_norm: Norm
    query_key_value: Matrix
    query_norm: Norm | None
    key_norm: Norm | None
    out: Matrix
    feed_forward_norm: Norm
    gate_up: Matrix
    down: Matrix


@dataclass(frozen=True, slots=True)
class Weights:
    """All weights of a model, and the sizes of its heads.

    embedding: (vocab, hidden). head: the output layer (hidden, vocab).
    rotary: the transformers module that computes rotary cosines and sines.
    """

    embedding: Tensor
    layers: list[Layer]
    norm: Norm
    head: Tensor
    num_heads: int
    num_kv_heads: int
    head_size: int
    rotary: Any


def can_fuse(model: Any) -> bool:
    """Whether the fused forward pass may replace a transformers model's own forward pass.

    The model must be Llama-shaped. On a CPU it must also be in fp32, where the two forward passes
    agree up to rounding.
    """
    return has_known_shape(model) and (model.device.type != "cpu" or model.dtype == torch.float32)


def has_known_shape(model: Any) -> bool:
    """Whether a model is Llama-shaped: the fused forward pass can compute all of its layers."""
    config = model.config
    if config.model_type not in MODEL_TYPES or not type(model).__name__.endswith("ForCausalLM"):
        return False
    rotary = (getattr(config, "rope_parameters", None) or {}).get("rope_type")
    modules = list(model.modules())
    return (
        config.hidden_act == "silu"
        and rotary in STEADY_ROTARY_TYPES
        and all(type(each) is Linear for each in modules if isinstance(each, Linear))
        # The layers of a peft adapter hold plain ones, but compute more than these.
        and {type(m).__module__.split(".")[0] for m in modules} <= {"torch", "transformers"}
        and model.lm_head.bias is None
    )


@torch.no_grad()
def fuse_weights(model: Any) -> Weights:
    """Fuse the weights of a Llama-shaped model, whose modules become views of the fused weights."""
    layers, attention = model.model.layers, model.model.layers[0].self_attn
    embedding, head_size = model.model.embed_tokens, attention.head_dim
    is_tied = embedding.weight is model.lm_head.weight
    head = _fused([model.lm_head]).weight
    if is_tied:
        embedding.weight = model.lm_head.weight
    return Weights(
        embedding=embedding.weight.detach(),
        layers=[_layer(module) for module in layers],
        norm=Norm(model.model.norm),
        head=head,
        num_heads=attention.q_proj.out_features // head_size,
        num_kv_heads=attention.k_proj.out_features // head_size,
        head_size=head_size,
        rotary=model.model.rotary_emb,
    )


def _layer(module: Any) -> Layer:
    attention, feed_forward = module.self_attn, module.mlp
    query_norm, key_norm = (getattr(attention, name, None) for name in ("q_norm", "k_norm"))
    return Layer(
        attention_norm=Norm(module.input_layernorm),
        query_key_value=_fused([attention.q_proj, attention.k_proj, attention.v_proj]),
        query_norm=Norm(query_norm) if query_norm else None,
        key_norm=Norm(key_norm) if key_norm else None,
        out=_fused([attention.o_proj]),
        feed_forward_norm=Norm(module.post_attention_layernorm),
        gate_up=_fused([feed_forward.gate_proj, feed_forward.up_proj]),
        down=_fused([feed_forward.down_proj]),
    )


def _fused(linears: Sequence[Linear]) -> Matrix:
    """Join linear layers that share an input into one Matrix, and make the layers views of it."""
    weight = torch.cat([linear.weight for linear in linears]).t().contiguous()
    has_bias = linears[0].bias is not None
    bias = torch.cat([linear.bias for linear in linears]) if has_bias else None
    start = 0
    for linear in linears:
        stop = start + linear.out_features
        linear.weight = Parameter(weight[:, start:stop].t(), linear.weight.requires_grad)
        if bias is not None:
            linear.bias = Parameter(bias[start:stop], linear.bias.requires_grad)
        start = stop
    return Matrix(weight, bias)


@dataclass(frozen=True, slots=True)
class LowRank:
    """A block adapter's term x @ down @ up for fused linear layers: down (in, r), up (r, out)."""

    down: Tensor
    up: Tensor

    def add_to(self, out: Tensor, x: Tensor, rows: Tensor) -> None:
        """Add x @ down @ up to `out` in place, but only in the rows of blocks.

        rows: the indices of these rows, or a bool tensor (rows, 1).
        """
        if rows.dtype == torch.bool:
            out.add_(torch.mm(torch.mm(x, self.down), self.up).mul_(rows))
        else:
            out.index_add_(0, rows, torch.mm(torch.mm(x[rows], self.down), self.up))


LowRankLayer = Sequence[LowRank]
"""A block adapter's terms for one transformer layer, in the order of GROUPS."""


def low_rank_layers(adapter: BlockAdapter, like: Tensor) -> list[LowRankLayer]:
    """Convert an adapter to LowRank terms per layer, in the dtype and on the device of `like`."""
    return [
        [
            LowRank(*(part.t().contiguous().to(like) for part in side_by_side(pairs)))
            for pairs in ([layer[name] for name in names] for names in GROUPS.values())
        ]
        for layer in adapter.layers
    ]
