"""Measures what a step keeps for its backward pass: a forward pass of tensors without data.

Whatever autograd saves is counted, layer by layer, so any architecture of transformers counts
itself. Attention keeps what FlexAttention and flash kernels keep: queries, keys, values, its output
and a number a query; no scores.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import AttentionInterface, AutoModelForCausalLM

from sbd_core.errors import ArgumentError, shown
from sbd_core.training.recipes.recipe import Recipe
from sbd_core.training.step.loss import LossModule

ATTENTION = "sbd_dry_run"


@dataclass(frozen=True, slots=True)
class DryRun:
    """Counts of a model and bytes that one forward pass keeps for its backward pass.

    num_weights, num_trained; num_of_layer, num_of_rest: weights of one layer, and of embeddings,
    last norm and output layer. kept_by_layer, kept_by_rest: bytes; casts of weights to bf16 are
    among them. layer_input: bytes of what a layer reads, all that checkpointing keeps of it.
    vocabulary_size: rows of the output layer.
    """

    num_weights: int
    num_trained: int
    num_layers: int
    num_of_layer: int
    num_of_rest: int
    kept_by_layer: int
    kept_by_rest: int
    layer_input: int
    vocabulary_size: int


def dry_run(
    config: Any, recipe: Recipe, num_rows: int, *, base_bytes: int, is_bf16: bool
) -> DryRun:
    """Count for rows of recipe.row_tokens, every token of which has a target.

    config: of a transformers decoder. base_bytes: of a weight beside an adapter, 2 or 4. is_bf16:
    the precision of the step. Raises ArgumentError for a model that cannot be counted.
    """
    try:
        with torch.device("meta"):
            dtype = torch.bfloat16 if base_bytes == 2 else torch.float32
            model = AutoModelForCausalLM.from_config(config, dtype=dtype)
            num_weights = sum(weight.numel() for weight in model.parameters())
            num_of_layer = sum(weight.numel() for weight in _layers(model)[0].parameters())
            if recipe.lora_rank:
                _add_lora(model, recipe)
        with FakeTensorMode():
            _fake_weights(model)
            found = _count(model, recipe, num_rows, num_weights, num_of_layer, is_bf16=is_bf16)
    except (RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
        kind = getattr(config, "model_type", "?")
        reason = " ".join(str(error).split())[:200]
        rule = f"must be a decoder whose forward pass depends on no data ({reason})"
        raise ArgumentError("init", rule, shown(kind)) from error
    return found


def _count(
    model: Any, recipe: Recipe, num_rows: int, num_weights: int, num_of_layer: int, *, is_bf16: bool
) -> DryRun:
    vocabulary_size, width = model.get_output_embeddings().weight.shape
    layers = _layers(model)
    num_layers = len(layers)
    num_trained = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    AttentionInterface.register(ATTENTION, _attention)
    model.set_attn_implementation(ATTENTION)
    module = LossModule(model).train()
    kept = []
    for count in (2, 1):
        del layers[count:]
        kept.append(_kept(module, num_rows, recipe.row_tokens, is_bf16=is_bf16))
    return DryRun(
        num_weights=num_weights,
        num_trained=num_trained,
        num_layers=num_layers,
        num_of_layer=num_of_layer,
        num_of_rest=num_weights - num_layers * num_of_layer,
        kept_by_layer=kept[0] - kept[1],
        kept_by_rest=2 * kept[1] - kept[0],
        layer_input=num_rows * recipe.row_tokens * width * next(model.parameters()).element_size(),
        vocabulary_size=vocabulary_size,
    )


def _layers(model: Any) -> nn.ModuleList:
    count = model.config.get_text_config().num_hidden_layers
    for module in model.base_model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count >= 2:
            return module
    raise ValueError("no list of at least two layers")


def _add_lora(model: Any, recipe: Recipe) -> None:
    from sbd_core.training.checkpoints.lora import lora_config

    model.add_adapter(lora_config(recipe, mask_token_id=0))
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()


def _fake_weights(model: Any) -> None:
    """Have every weight and buffer be on the CPU, where autocast sees them, still without data."""
    fakes: dict[int, Any] = {}
    for module in model.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                fake = torch.empty(weight.shape, dtype=weight.dtype)
                made = nn.Parameter(fake, requires_grad=weight.requires_grad)
                module._parameters[name] = fakes.setdefault(id(weight), made)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype)


def _kept(module: LossModule, num_rows: int, size: int, *, is_bf16: bool) -> int:
    """Bytes that autograd keeps of one forward pass, weights apart, each storage once."""
    ids = torch.zeros((num_rows, size), dtype=torch.long)
    indices = torch.zeros(num_rows * size, dtype=torch.long)
    mask = torch.zeros((num_rows, 1, size, size), dtype=torch.bool)
    own = {weight.untyped_storage()._cdata for weight in module.parameters()}
    own |= {buffer.untyped_storage()._cdata for buffer in module.buffers()}
    sizes: dict[int, int] = {}
    held = []

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            sizes[storage._cdata] = storage.nbytes()
            held.append(storage)  # or another might take its place, and its number
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16, enabled=is_bf16),
    ):
        module(ids, mask, ids, indices, indices)
    return sum(sizes.values())


class _Attention(torch.autograd.Function):
    """The shapes of an attention kernel that writes no scores; it is never computed."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        out = query.new_empty((*query.shape[:-1], value.shape[-1]))
        sums = torch.empty(query.shape[:-1], dtype=torch.float32, device=query.device)
        ctx.save_for_backward(query, key, value, out, sums)
        return out


def _attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **_: Any
) -> tuple[Tensor, None]:
    return _Attention.apply(query, key, value).transpose(1, 2).contiguous(), None
