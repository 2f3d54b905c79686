"""estimate(): what a run takes of each GPU's memory, part by part.

A sum of what there is at the worst moment: rows full of tokens, each with a target. What PyTorch
itself, CUDA and gaps between tensors take comes on top (MARGIN).
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.training.estimate.dry_run import DryRun, dry_run
from sbd_core.training.recipes.recipe import Recipe

Sharding = Literal["none", "ddp", "fsdp"]
SHARDINGS: tuple[Sharding, ...] = ("none", "ddp", "fsdp")
GIB = 2**30
MARGIN = 1.5 * GIB
KNOWN = Path(__file__).parent / "known"
"""Configs of well-known shapes, for where there is no network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the run is made. num_parts: as --accumulate; is_bf16: the precision of a step."""

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

    def rows_at_once(self, recipe: Recipe) -> int:
        """Rows that a GPU reads in one forward pass, if every example fills one."""
        return -(-recipe.batch_size // (self.num_gpus * self.num_parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEstimate:
    """Bytes of one GPU. See estimate() for the parts; num_rows: read in one forward pass."""

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
        """At the worst moment: in the backward pass, or in the update."""
        held = self.weights + self.gradients + self.optimizer + self.communication
        return held + max(self.activations + self.output_layer, self.update)

    def fits(self, gigabytes: float) -> bool:
        """Whether a GPU of so many GiB has room for it and for MARGIN."""
        return self.total + MARGIN <= gigabytes * GIB

    def to_data(self) -> dict[str, int]:
        """For JSON."""
        return {**asdict(self), "total": self.total}


def estimate(config: Any, recipe: Recipe, setup: Setup) -> MemoryEstimate:
    """The memory of a run of `recipe` on a model of a transformers config.

    weights: in fp32, beside an adapter in bf16 where the step is. gradients and optimizer: fp32,
    of what is trained. communication: DDP's buckets, or what FSDP gathers of other GPUs.
    activations: what the layers keep for the backward pass. output_layer: logits, in both passes,
    and the rest. update: what AdamW holds for a moment. Raises ArgumentError.
    """
    num_rows = setup.rows_at_once(recipe)
    is_sharded = setup.sharding == "fsdp"
    base_bytes = 2 if recipe.lora_rank and setup.is_bf16 and not is_sharded else 4
    found = dry_run(config, recipe, num_rows, base_bytes=base_bytes, is_bf16=setup.is_bf16)
    share = setup.num_gpus if is_sharded else 1
    adapter = found.num_trained if recipe.lora_rank else 0
    weights = found.num_weights * base_bytes + 4 * adapter
    moments = 4 if recipe.optimizer == "muon" else 8
    num_targets = num_rows * recipe.row_tokens
    return MemoryEstimate(
        num_weights=found.num_weights,
        num_trained=found.num_trained,
        num_rows=num_rows,
        row_tokens=recipe.row_tokens,
        weights=weights // share,
        gradients=4 * found.num_trained // share,
        optimizer=moments * found.num_trained // share,
        communication=_communication(found, setup, is_whole=not recipe.lora_rank),
        activations=_activations(found, is_checkpointed=setup.is_checkpointed),
        # Beside what is kept: the logits' gradients of the loss and of its softmax, in fp32.
        output_layer=found.kept_by_rest + 8 * num_targets * found.vocabulary_size,
        update=4 * found.num_trained // share,
    )


def _activations(found: DryRun, *, is_checkpointed: bool) -> int:
    if is_checkpointed:
        return found.num_layers * found.layer_input + found.kept_by_layer
    return found.num_layers * found.kept_by_layer


def _communication(found: DryRun, setup: Setup, *, is_whole: bool) -> int:
    if setup.sharding == "ddp":
        return 4 * found.num_trained
    if setup.sharding == "fsdp":
        # One layer in use and the next under way, embeddings and output layer; their gradients.
        gathered = 2 * found.num_of_layer + found.num_of_rest
        own = found.num_of_layer + found.num_of_rest if is_whole else 0
        return 4 * (gathered + own)
    return 0


def smallest_that_fits(
    config: Any, recipe: Recipe, setup: Setup, gigabytes: float
) -> tuple[Setup, MemoryEstimate] | None:
    """The quickest way to fit: no checkpointing before it, as few parts as do; None if none does.

    gigabytes: GiB of a GPU.
    """
    require_number("gpu_memory", gigabytes, 0)
    for is_checkpointed in (False, True):
        parts = 1
        while True:
            tried = replace(setup, is_checkpointed=is_checkpointed, num_parts=parts)
            found = estimate(config, recipe, tried)
            if found.fits(gigabytes):
                return tried, found
            if tried.rows_at_once(recipe) == 1:
                break
            parts *= 2
    return None
