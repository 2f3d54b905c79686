"""Estimate of the memory that a training run takes on each GPU, part by part.

A forward pass on tensors without data counts the bytes that autograd saves, so the estimate works
for any architecture in transformers. Attention is counted as in FlexAttention and flash kernels,
which keep queries, keys, values, output and one number per query, but no scores. The estimate is
for the worst case: every packed sequence is full, and every token has a target. PyTorch itself,
CUDA and gaps between tensors take about MARGIN more.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import AttentionInterface, AutoModelForCausalLM

from sbd_core.errors import ArgumentError, one_line, require_integer, require_number, shown
from sbd_core.training.checkpoint import lora_config, widen_trained
from sbd_core.training.new_model import new_config
from sbd_core.training.recipe import Recipe
from sbd_core.training.step import LossModule

ATTENTION = "sbd_dry_run"


@dataclass(frozen=True, slots=True)
class DryRun:
    """Numbers of weights, and bytes that one forward pass keeps for its backward pass.

    num_weights: weights of the model without its adapter. num_trained: trained weights.
    num_of_layer, num_of_rest: weights of one layer, and of everything outside the layers.
    kept_by_layer, kept_by_rest: bytes that one layer keeps, and that everything outside the layers
    keeps; bf16 casts of weights are included.
    layer_input: bytes of one layer's input; with checkpointing the layer keeps nothing else.
    vocabulary_size: number of logits per token.
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
    """Count the weights, and the bytes that a forward pass keeps if every token has a target.

    config: transformers config of a decoder.
    num_rows: number of packed sequences in the pass, each of recipe.row_tokens tokens.
    base_bytes: bytes per weight of the base model, 2 or 4.
    is_bf16: True if the step computes in bf16.
    Raises ArgumentError for a model that cannot be counted.
    """
    try:
        with torch.device("meta"):
            dtype = torch.bfloat16 if base_bytes == 2 else torch.float32
            model = AutoModelForCausalLM.from_config(config, dtype=dtype)
            num_weights = sum(weight.numel() for weight in model.parameters())
            layers = _layers(model)
            num_layers = len(layers)
            num_of_layer = sum(weight.numel() for weight in layers[0].parameters())
            if recipe.lora_rank:
                model.add_adapter(lora_config(recipe, mask_token_id=0))
                widen_trained(model)
        with FakeTensorMode():
            _fake_weights(model)
            vocabulary_size, width = model.get_output_embeddings().weight.shape
            AttentionInterface.register(ATTENTION, _attention)
            model.set_attn_implementation(ATTENTION)
            module, kept = LossModule(model).train(), []
            trained = [weight.numel() for weight in model.parameters() if weight.requires_grad]
            for count in (2, 1):
                del layers[count:]
                kept.append(_kept(module, num_rows, recipe.row_tokens, is_bf16=is_bf16))
            size = next(model.parameters()).element_size()
    except (RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
        rule = f"must be a decoder whose forward pass depends on no data ({one_line(error)})"
        kind = getattr(config, "model_type", "?")
        raise ArgumentError("init", rule, shown(kind)) from error
    return DryRun(
        num_weights=num_weights,
        num_trained=sum(trained),
        num_layers=num_layers,
        num_of_layer=num_of_layer,
        num_of_rest=num_weights - num_layers * num_of_layer,
        kept_by_layer=kept[0] - kept[1],
        kept_by_rest=2 * kept[1] - kept[0],
        layer_input=num_rows * recipe.row_tokens * width * size,
        vocabulary_size=vocabulary_size,
    )


def _layers(model: Any) -> nn.ModuleList:
    count = model.config.get_text_config().num_hidden_layers
    for module in model.base_model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count >= 2:
            return module
    raise ValueError("no list of at least two layers")


def _fake_weights(model: Any) -> None:
    """Replace weights and buffers by CPU tensors without data, so that CPU autocast casts them."""
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
    """Count the bytes that autograd keeps, besides weights. size: tokens per packed sequence."""
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
            held.append(storage)  # so that no other storage reuses its address
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16, enabled=is_bf16),
    ):
        module(ids, mask, ids, indices, indices)
    return sum(sizes.values())


class _Attention(torch.autograd.Function):
    """Stand-in for an attention kernel that keeps no scores: the output has a shape but no data."""

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


Sharding = Literal["none", "ddp", "fsdp"]
SHARDINGS: tuple[Sharding, ...] = ("none", "ddp", "fsdp")
GIB = 2**30
MARGIN = 1.5 * GIB
KNOWN = Path(__file__).parent / "known"
"""Folder of configs of well-known shapes, for machines without a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Settings of a training run that determine how much memory it takes.

    num_parts: number of forward passes per batch (--accumulate).
    is_checkpointed: True for gradient checkpointing. is_bf16: True if a step computes in bf16.
    """

    num_gpus: int = 1
    sharding: Sharding = "none"
    num_parts: int = 1
    is_checkpointed: bool = False
    is_bf16: bool = True

    def __post_init__(self) -> None:
        require_integer("gpus", self.num_gpus, 1)
        require_integer("accumulate", self.num_parts, 1)
        if self.sharding not in SHARDINGS:
            raise ArgumentError("sharding", f"must be one of {', '.join(SHARDINGS)}", self.sharding)
        if self.num_gpus > 1 and self.sharding == "none":
            raise ArgumentError("sharding", "must be ddp or fsdp with several GPUs", self.sharding)

    def sequences_at_once(self, recipe: Recipe) -> int:
        """Packed sequences in a GPU's forward pass if each holds one example, which is the most."""
        return -(-recipe.batch_size // (self.num_gpus * self.num_parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Memory of one GPU in bytes; estimate() explains each part.

    num_weights: weights of the model without its adapter. num_trained: trained weights.
    num_rows: packed sequences per forward pass. row_tokens: tokens per packed sequence.
    """

    num_weights: int
    num_trained: int
    num_rows: int
    row_tokens: int
    weights: int
    gradients: int
    optimizer: int
    communication: int
    activations: int
    output_layer: int
    update: int

    @property
    def total(self) -> int:
        """Bytes at the moment of greatest use, in the backward pass or in the update."""
        held = self.weights + self.gradients + self.optimizer + self.communication
        return held + max(self.activations + self.output_layer, self.update)

    def to_data(self) -> dict[str, int]:
        """Return the fields and the total as plain data for JSON."""
        return {**asdict(self), "total": self.total}


def estimate(config: Any, recipe: Recipe, setup: Setup) -> MemoryEstimate:
    """Estimate the memory of a run on each GPU. config: the model's transformers config.

    The parts of the result, in bytes:
    weights: all weights, in fp32. With setup.is_bf16 and no FSDP, an adapter's base is in bf16.
    gradients, optimizer: gradients and optimizer state of the trained weights, in fp32.
    communication: DDP's buckets, or the weights and gradients that FSDP gathers.
    activations: tensors that the layers keep for the backward pass.
    output_layer: logits, their gradients, and all tensors that are kept outside the layers.
    update: temporary memory of the optimizer during the update.
    Raises ArgumentError for a model that dry_run() cannot count.
    """
    num_rows = setup.sequences_at_once(recipe)
    is_sharded = setup.sharding == "fsdp"
    base_bytes = 2 if recipe.lora_rank and setup.is_bf16 and not is_sharded else 4
    sizes = dry_run(config, recipe, num_rows, base_bytes=base_bytes, is_bf16=setup.is_bf16)
    share = setup.num_gpus if is_sharded else 1
    adapter = sizes.num_trained if recipe.lora_rank else 0
    weights = sizes.num_weights * base_bytes + 4 * adapter
    moments = 4 if recipe.optimizer == "muon" else 8
    num_targets = num_rows * recipe.row_tokens
    is_checkpointed = setup.is_checkpointed
    kept_by_layer = sizes.layer_input if is_checkpointed else sizes.kept_by_layer
    communication = 4 * sizes.num_trained if setup.sharding == "ddp" else 0
    if is_sharded:
        # One layer in use and the next under way, embeddings and output layer; their gradients.
        own = 0 if recipe.lora_rank else sizes.num_of_layer + sizes.num_of_rest
        communication = 4 * (2 * sizes.num_of_layer + sizes.num_of_rest + own)
    return MemoryEstimate(
        num_weights=sizes.num_weights,
        num_trained=sizes.num_trained,
        num_rows=num_rows,
        row_tokens=recipe.row_tokens,
        weights=weights // share,
        gradients=4 * sizes.num_trained // share,
        optimizer=moments * sizes.num_trained // share,
        communication=communication,
        activations=sizes.num_layers * kept_by_layer + sizes.kept_by_layer * is_checkpointed,
        # Beside what is kept: the logits' gradients of the loss and of its softmax, in fp32.
        output_layer=sizes.kept_by_rest + 8 * num_targets * sizes.vocabulary_size,
        update=4 * sizes.num_trained // share,
    )


def fastest_that_fits(
    config: Any, recipe: Recipe, setup: Setup, gigabytes: float
) -> tuple[Setup, MemoryEstimate] | None:
    """Return the fastest setup that fits into a GPU, and the setup's estimate; None if none fits.

    Only is_checkpointed and num_parts are changed; False and small numbers are tried first.
    gigabytes: memory of the GPU in GiB.
    Raises ArgumentError if gigabytes is negative, or for a model that dry_run() cannot count.
    """
    require_number("gpu_memory", gigabytes, 0)
    for is_checkpointed in (False, True):
        parts = 1
        while True:
            tried = replace(setup, is_checkpointed=is_checkpointed, num_parts=parts)
            needed = estimate(config, recipe, tried)
            if needed.total + MARGIN <= gigabytes * GIB:
                return tried, needed
            if tried.sequences_at_once(recipe) == 1:
                break
            parts *= 2
    return None


LAUNCH = Path(__file__).parent / "launch"
PARTS = [item.name for item in fields(MemoryEstimate) if item.name[:4] not in ("num_", "row_")]


def read_config(source: str | None, recipe: Recipe) -> tuple[Any, str]:
    """Read a transformers config; return the config, and the model's name for the report.

    source: folder, config.json or hub id; None takes the recipe's new model. If a hub id cannot be
    reached, the folder KNOWN is searched. Raises ArgumentError if no config is found.
    """
    from transformers import AutoConfig

    if source is None:
        return new_config(recipe, recipe.vocabulary_size), "the recipe's new model"
    try:
        is_here = Path(source).exists()
        config = AutoConfig.from_pretrained(
            source, trust_remote_code=False, local_files_only=is_here
        )
        return config, source
    except (OSError, ValueError, RecursionError) as error:
        known = {file.stem.lower(): file for file in KNOWN.glob("*.json")}
        file = known.get(source.rpartition("/")[2].lower())
        if file is None:
            rule = "must be a folder, a config.json or a hub id of a transformers model"
            raise ArgumentError("init", rule, shown(source)) from error
        return AutoConfig.from_pretrained(file), f"{source}, by the shape that is known here"


def as_text(name: str, recipe: Recipe, setup: Setup, needed: MemoryEstimate) -> str:
    """Write the estimate as text, one line per part in GiB. name: the model's name in the text."""
    kind = f"an adapter of rank {recipe.lora_rank}" if recipe.lora_rank else "all weights"
    gpus = "1 GPU" if setup.num_gpus == 1 else f"{setup.num_gpus} GPUs ({setup.sharding})"
    lines = [
        f"{name}: {needed.num_weights:,} weights, {needed.num_trained:,} trained ({kind})",
        f"{gpus}, {'bf16' if setup.is_bf16 else 'fp32'}, batch of {recipe.batch_size} rows of "
        f"{needed.row_tokens} tokens, {needed.num_rows} at once on a GPU, "
        f"{'with' if setup.is_checkpointed else 'without'} gradient checkpointing",
    ]
    lines += [
        f"{part.replace('_', ' '):>14} {getattr(needed, part) / GIB:8.2f} GiB" for part in PARTS
    ]
    margin = f"and {MARGIN / GIB:g} GiB for CUDA and gaps"
    return "\n".join([*lines, f"{'total':>14} {needed.total / GIB:8.2f} GiB, {margin}"])


def command(init: str | None, recipe_name: str, recipe: Recipe, setup: Setup) -> str:
    """The command line that starts a run with this recipe and setup."""
    launch = "python -m sbd_core train"
    if setup.num_gpus > 1:
        file = LAUNCH / f"{setup.sharding}.yaml"
        launch = f"accelerate launch --config_file {file} --num_processes {setup.num_gpus}"
        launch += " -m sbd_core train"
    words = [launch, f"--stage {recipe.stage} --recipe {recipe_name}"]
    words += [] if init is None else [f"--init {init}"]
    words += [f"--accumulate {setup.num_parts}"] if setup.num_parts > 1 else []
    words += ["--gradient-checkpointing"] if setup.is_checkpointed else []
    return " ".join(words)
