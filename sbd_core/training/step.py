"""A training step on the model as accelerate wraps it: forward and backward passes, and the update.

It computes in bf16 where the processor is quick at it, else in fp32. Weights, gradients and
optimizers stay fp32 either way; autocast lowers the forward pass and what it leaves for the
backward pass.
"""

import math
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from transformers import PreTrainedModel

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.models.devices import has_bf16
from sbd_core.training.data.batch_builder import Batch
from sbd_core.training.loss import Loss, LossModule, training_loss
from sbd_core.training.recipe import Recipe

if TYPE_CHECKING:
    pass

Precision = Literal["bf16", "fp32"]
PRECISIONS = ("auto", "bf16", "fp32")
NUM_TIMED = 3
TOKENS_TIMED = 256
PART_TOKENS = 2048
"""Tokens that a CPU takes at once. More take no less time each, but memory, 2 MB a token for a
model of 135 million parameters.
"""


def require_precision(precision: object, device: torch.device) -> None:
    """ArgumentError unless `precision` is auto, bf16 or fp32 and `device` computes in it."""
    if precision not in PRECISIONS:
        raise ArgumentError("precision", f"must be one of {', '.join(PRECISIONS)}", precision)
    if precision == "bf16" and not has_bf16(device):
        rule = f"must be auto or fp32 on this {device.type}, which has no fast bf16"
        raise ArgumentError("precision", rule, precision)


def autocast(
    precision: Precision, device: torch.device, *, keeps_casts: bool = True
) -> torch.autocast:
    """The context of a forward pass in this precision. keeps_casts: of weights, to its end."""
    enabled = precision == "bf16"
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled, cache_enabled=keeps_casts)


def seconds_of(step: Callable[[], None], device: torch.device) -> float:
    """The fastest of a few calls of `step`, after one that may compile it."""
    seconds = []
    for _ in range(1 + NUM_TIMED):
        began = perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(perf_counter() - began)
    return min(seconds[1:])


def faster(seconds: Mapping[Precision, float]) -> Precision:
    """The precision of the least seconds."""
    return min(seconds, key=lambda precision: seconds[precision])


ATTENTIONS = ("auto", "eager", "sdpa", "flex_attention")


def require_attention(attention: object, device: torch.device) -> None:
    """ArgumentError unless `attention` is one that can train on `device`."""
    if attention not in ATTENTIONS:
        raise ArgumentError("attention", f"must be one of {', '.join(ATTENTIONS)}", attention)
    if attention == "flex_attention" and device.type != "cuda":
        raise ArgumentError("attention", "must be auto, eager or sdpa without CUDA", attention)


def chosen_attention(
    attention: str, device: torch.device, precision: Precision, *, is_compiled: bool
) -> str:
    """The attention meant, as transformers names it.

    On a CPU plain products of matrices have the faster backward pass in bf16, once compiled:
    uncompiled they write every score to memory several times. In fp32 PyTorch's own is faster.
    """
    if attention != "auto":
        return attention
    if device.type == "cuda":
        return "flex_attention"
    return "eager" if is_compiled and precision == "bf16" else "sdpa"


WITH_BUCKETS = (DistributedType.MULTI_GPU, DistributedType.MULTI_CPU)
"""Where every backward pass would send its gradients to the other processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run's speed and memory, which change nothing that it learns.

    is_compiled: True runs the forward pass through torch.compile: minutes of waiting at the
    start, then less time a step. precision: auto times some steps of each. attention: see
    chosen_attention(). num_workers: processes that build batches ahead; None: as many
    as pay. is_checkpointed: True keeps of each layer its input alone and runs it again in the
    backward pass, which takes less memory and a third more time. num_parts: forward and backward
    passes that the batch of a process is parted into, whose gradients add up; on a CPU more where
    a part would have more than PART_TOKENS.
    """

    is_compiled: bool = False
    precision: str = "auto"
    attention: str = "auto"
    num_workers: int | None = None
    is_checkpointed: bool = False
    num_parts: int = 1


def base_dtype(precision: str, accelerator: Accelerator) -> torch.dtype:
    """The dtype of the frozen weights beside an adapter.

    Sharded ones are fp32, as weights that are sharded together must be of one dtype.
    """
    device = accelerator.device
    may_be_bf16 = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    is_sharded = accelerator.distributed_type == DistributedType.FSDP
    is_bf16 = may_be_bf16 and has_bf16(device) and not is_sharded
    return torch.bfloat16 if is_bf16 else torch.float32


class StepRunner:
    """Steps of a recipe on one model. model: as it came; module, optimizers: as wrapped."""

    def __init__(
        self,
        model: PreTrainedModel,
        recipe: Recipe,
        settings: RunSettings,
        accelerator: Accelerator,
    ) -> None:
        self.model, self._recipe, self._settings = model, recipe, settings
        self._accelerator = accelerator
        self.precision: Precision = "fp32"
        self._attention = "sdpa"
        if settings.is_checkpointed:
            model.activation_checkpointing_enable({"use_reentrant": False})
        optimizers = make_optimizers(model, recipe)
        self.module, *wrapped = accelerator.prepare(
            LossModule(model, distils_base=recipe.distils_base), *optimizers
        )
        self.optimizers: list[Any] = [item.optimizer for item in wrapped]
        if settings.is_compiled:
            self.module.compile()
        for parameter in model.parameters():
            if parameter.requires_grad:
                # A signal is heard between lines of Python, of which a backward pass has no other.
                parameter.register_hook(lambda gradient: None)

    def backward(
        self, batch: Batch, tell: Callable[[int, int], None] = lambda done, count: None
    ) -> Loss:
        """The loss of a batch, part by part, its gradients added to those there are.

        tell: hears after each part how many are done, and of how many.
        """
        count = self._num_parts(batch)
        parts = batch.packed.parts(count) if count > 1 else [batch.packed]
        losses = []
        for number, part in enumerate(parts, start=1):
            is_kept = number < count and self._accelerator.distributed_type in WITH_BUCKETS
            with self._accelerator.no_sync(self.module) if is_kept else nullcontext():
                with self._autocast():
                    device = self._accelerator.device
                    loss = training_loss(
                        self.module, part, device, batch.ntp_weight, self._attention
                    )
                self._accelerator.backward(loss.total)
            losses.append(Loss(loss.total.detach(), loss.sums))
            tell(number, count)
        return sum(losses[1:], start=losses[0])

    def _num_parts(self, batch: Batch) -> int:
        """At most one a row. Several processes part their batches alike, as sharding needs."""
        shape, accelerator = batch.packed.token_ids.shape, self._accelerator
        count = self._settings.num_parts
        if accelerator.device.type == "cpu" and accelerator.num_processes == 1:
            count = max(count, -(-shape.numel() // PART_TOKENS))
        return min(count, shape[0])

    def update(self, rate: float, step: int) -> None:
        """Follow the gradients, at that learning rate. Raises TrainingError if they are not finite.

        step: steps before this one.
        """
        most = self._recipe.max_gradient_norm
        norm = float(self._accelerator.clip_grad_norm_(self.module.parameters(), most))
        if not math.isfinite(norm):
            raise TrainingError(f"the gradient's norm is {norm} at step {step + 1}; stopped")
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
        self.forget()

    def forget(self) -> None:
        """Throw the gradients away."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def choose_precision(self, saved: str | None, make_batch: Callable[[], Batch]) -> None:
        """Take the precision asked for or saved, or time some forward and backward passes."""
        device, asked = self._accelerator.device, self._settings.precision
        if asked == "auto" and saved is not None:
            asked = saved
        if not has_bf16(device):
            asked = "fp32"
        elif asked == "auto" and device.type == "cuda":
            asked = "bf16"
        if asked != "auto":
            self._use("bf16" if asked == "bf16" else "fp32")
            return
        if self._accelerator.is_main_process:
            print("precision: timing fp32 and bf16 ...", file=sys.stderr)
        batch = make_batch()
        if not self._settings.is_compiled:
            batch = Batch(batch.packed.beginning(TOKENS_TIMED), batch.ntp_weight)
        seconds: dict[Precision, float] = {}
        for precision in ("fp32", "bf16"):
            self._use(precision)
            own = seconds_of(lambda: self._try(batch), device)
            total = self._accelerator.reduce(torch.tensor([own], device=device), "sum")
            seconds[precision] = float(total) / self._accelerator.num_processes
        self._use(faster(seconds))
        if self._accelerator.is_main_process:
            told = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
            size = f"{batch.packed.token_ids.numel()} tokens"
            print(f"precision: {self.precision} ({told} for {size})", file=sys.stderr)

    def _use(self, precision: Precision) -> None:
        device, settings = self._accelerator.device, self._settings
        self.precision = precision
        self._attention = chosen_attention(
            settings.attention, device, precision, is_compiled=settings.is_compiled
        )
        self.model.set_attn_implementation(self._attention)

    def _autocast(self) -> torch.autocast:
        # Casts that are kept for a second use would outlive the layers that are run again.
        is_kept = not self._settings.is_checkpointed
        return autocast(self.precision, self._accelerator.device, keeps_casts=is_kept)

    def _try(self, batch: Batch) -> None:
        """The forward and backward passes of a step whose gradients are thrown away."""
        self.backward(batch)
        self.forget()


def make_optimizers(model: PreTrainedModel, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """AdamW for all, or Muon for the hidden matrices and AdamW for embeddings and norms."""
    settings: dict[str, Any] = {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay}
    if recipe.optimizer == "adamw":
        trained = [weight for weight in model.parameters() if weight.requires_grad]
        return [torch.optim.AdamW(trained, betas=(0.9, 0.98), **settings)]
    embeddings = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
    matrices = [p for p in model.parameters() if p.ndim == 2 and id(p) not in embeddings]
    others = [p for p in model.parameters() if p.ndim != 2 or id(p) in embeddings]
    return [
        torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw", **settings),
        torch.optim.AdamW(others, betas=(0.9, 0.98), **settings),
    ]
