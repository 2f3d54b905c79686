"""A training step: forward and backward passes over the parts of a batch, and the update.

It computes in bf16 where the processor is quick at it, else in fp32. Weights, gradients and
optimizers stay fp32 either way; autocast lowers the forward pass and what it leaves for the
backward pass.
"""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from transformers import PreTrainedModel

from sbd_core.errors import TrainingError
from sbd_core.models.devices import has_bf16
from sbd_core.training.batches import Batch
from sbd_core.training.loss import Loss, LossModule, training_loss
from sbd_core.training.recipe import Recipe
from sbd_core.training.run_settings import Precision, RunSettings, chosen_attention

NUM_TIMED = 3
TOKENS_TIMED = 256
PART_TOKENS = 2048
"""Most tokens that a CPU takes in one pass. More save no time but take memory, 2 MB per token for a
model of 135 million parameters.
"""


def seconds_of(step: Callable[[], None], device: torch.device) -> float:
    """Seconds of the fastest of NUM_TIMED calls of `step`, after one that may compile it."""
    seconds = []
    for _ in range(1 + NUM_TIMED):
        began = perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(perf_counter() - began)
    return min(seconds[1:])


WITH_BUCKETS = (DistributedType.MULTI_GPU, DistributedType.MULTI_CPU)
"""Kinds of distributed runs in which every backward pass would send gradients to all processes."""


class StepRunner:
    """Makes the steps of a recipe on one model. module: its LossModule, as accelerate wraps it."""

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
                # Signals are handled between lines of Python; a backward pass runs no other.
                parameter.register_hook(lambda gradient: None)

    def backward(
        self, batch: Batch, tell: Callable[[int, int], None] = lambda done, count: None
    ) -> Loss:
        """Add a batch's gradients to those there are, part by part; return its loss.

        tell: called after each part with the number of parts done and of all.
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
        """Number of parts, at most one per row. All processes split alike, as sharding needs."""
        shape, accelerator = batch.packed.token_ids.shape, self._accelerator
        count = self._settings.num_parts
        if accelerator.device.type == "cpu" and accelerator.num_processes == 1:
            count = max(count, -(-shape.numel() // PART_TOKENS))
        return min(count, shape[0])

    def update(self, rate: float, step: int) -> None:
        """Clip the gradients and update the weights at a learning rate.

        step: number of steps before this one. Raises TrainingError if the gradients are not finite.
        """
        most = self._recipe.max_gradient_norm
        norm = self._accelerator.clip_grad_norm_(self.module.parameters(), most)
        follow_gradients(self.optimizers, norm, rate, step)

    def forget(self) -> None:
        """Throw the gradients away."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def choose_precision(self, saved: str | None, make_batch: Callable[[], Batch]) -> None:
        """Set the precision: as configured, as saved, or the faster of fp32 and bf16.

        saved: of the state that the run resumes, if any. make_batch: builds the batch for the
        timing.
        """
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
        self._use(min(seconds, key=seconds.__getitem__))
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
        return torch.autocast(
            self._accelerator.device.type,
            torch.bfloat16,
            enabled=self.precision == "bf16",
            # Cached casts would outlive the layers that checkpointing runs again.
            cache_enabled=not self._settings.is_checkpointed,
        )

    def _try(self, batch: Batch) -> None:
        """Make the forward and backward passes of a step, then throw the gradients away."""
        self.backward(batch)
        self.forget()


def follow_gradients(optimizers: Sequence[Any], norm: Any, rate: float, step: int) -> None:
    """Update the weights at a learning rate, and zero their gradients.

    norm: of the gradients. step: number of steps before this one.
    Raises TrainingError if the norm is not finite.
    """
    if not math.isfinite(norm):
        raise TrainingError(f"the gradient's norm is {float(norm)} at step {step + 1}; stopped")
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()


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
