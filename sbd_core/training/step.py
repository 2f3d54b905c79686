"""One training step: the loss of Eq. 14, backward passes over parts of a batch, and the update.

A step computes in bf16 on a device that multiplies bf16 in hardware, else in fp32. Trained weights,
gradients and optimizer states are always fp32: autocast lowers the precision only of the forward
pass and of the tensors that it keeps for the backward pass.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from sbd_core.errors import ArgumentError, TrainingError, require_integer
from sbd_core.masks import dense, flex, training_may_attend
from sbd_core.models.runtime import has_bf16
from sbd_core.training.batches import NO_TARGET, Batch
from sbd_core.training.recipe import Recipe, RunSettings

if TYPE_CHECKING:
    from accelerate import Accelerator
    from torch.nn.attention.flex_attention import BlockMask


def require_possible(settings: RunSettings, recipe: Recipe, device: torch.device) -> None:
    """Raise ArgumentError for a setting that the recipe or the device does not allow."""
    require_integer("accumulate", settings.num_parts, 1, recipe.batch_size)
    if settings.precision == "bf16" and not has_bf16(device):
        rule = f"must be auto or fp32 on this {device.type}, which has no fast bf16"
        raise ArgumentError("precision", rule, settings.precision)
    if settings.attention == "flex_attention" and device.type != "cuda":
        rule = "must be auto, eager or sdpa without CUDA"
        raise ArgumentError("attention", rule, settings.attention)


def computes_in_bf16(precision: str, device: torch.device) -> bool:
    """Whether a run computes in bf16; "auto" does where the hardware multiplies it."""
    return precision != "fp32" and has_bf16(device)


def base_dtype(precision: str, accelerator: "Accelerator") -> torch.dtype:
    """Return the dtype for the frozen base of an adapter. precision: see RunSettings.

    With FSDP it is fp32, as FSDP shards weights of one dtype only.
    """
    is_low = computes_in_bf16(precision, accelerator.device)
    return torch.bfloat16 if is_low and accelerator.distributed_type != "FSDP" else torch.float32


def chosen_attention(
    attention: str, device: torch.device, *, is_bf16: bool, is_compiled: bool
) -> str:
    """Return the attention to use, by its name in transformers.

    "auto" means FlexAttention on CUDA. On a CPU it means "eager" for compiled bf16, because the
    backward pass of eager is faster there, and "sdpa" otherwise.
    """
    if attention != "auto":
        return attention
    if device.type == "cuda":
        return "flex_attention"
    return "eager" if is_compiled and is_bf16 else "sdpa"


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross-entropy of a batch or of one of its parts, in nats. Losses of parts can be added.

    total: loss to minimise, (NTP sum + MATP sum) / NTP weight, which is Eq. 14 per token.
    sums: (4,): weighted NTP loss, NTP weight, weighted MATP loss, MATP weight, each summed.
    """

    total: Tensor
    sums: Tensor

    @property
    def ntp(self) -> Tensor:
        """Mean NTP loss per predicted token, in nats."""
        return self.sums[0] / self.sums[1]

    @property
    def matp(self) -> Tensor:
        """Mean MATP loss per masked token, in nats; 0 if no token is masked."""
        return self.sums[2] / self.sums[3].clamp(min=1)

    def __add__(self, other: "Loss") -> "Loss":
        return Loss(self.total + other.total, self.sums + other.sums)


class LossModule(nn.Module):
    """A causal LM whose forward pass returns the cross-entropy at given positions only.

    The output layer runs only at these positions, which saves time and memory.
    """

    def __init__(self, model: Any, *, distils_base: bool = False) -> None:
        """distils_base: True takes the base model's probabilities as NTP targets, see Recipe."""
        super().__init__()
        self.model, self._distils_base = model, distils_base
        # Where accelerate looks for the layers to shard.
        self._no_split_modules = model._no_split_modules

    def forward(
        self,
        token_ids: Tensor,
        attention_mask: "Tensor | BlockMask",
        position_ids: Tensor,
        indices: Tensor,
        targets: Tensor,
        is_noisy: Tensor,
    ) -> Tensor:
        """Return the cross-entropy of each target in nats, (len(indices),) in fp32.

        token_ids, position_ids: (packed sequences, n). attention_mask: see attention_mask().
        indices: positions that predict, as indices into the flattened token_ids.
        targets: (len(indices),) token id to predict at each index.
        is_noisy: (len(indices),) bool, True for masked targets; used only if distils_base is True.
        """
        inputs = {
            "input_ids": token_ids,
            "attention_mask": attention_mask,
            "position_ids": position_ids,
            "use_cache": False,
        }
        if self._distils_base:
            self.model.disable_adapters()
            with torch.no_grad():
                wanted = self._logits(inputs, indices[~is_noisy]).softmax(-1)
            self.model.enable_adapters()
        logits = self._logits(inputs, indices)
        nats = functional.cross_entropy(logits, targets, reduction="none")
        if not self._distils_base:
            return nats
        distilled = functional.cross_entropy(logits[~is_noisy], wanted, reduction="none")
        return nats.masked_scatter(~is_noisy, distilled)

    def _logits(self, inputs: Mapping[str, Any], indices: Tensor) -> Tensor:
        hidden = self.model.base_model(**inputs).last_hidden_state
        logits: Tensor = self.model.get_output_embeddings()(hidden.flatten(0, 1)[indices])
        return logits.float()


@torch.no_grad()
def check_output_layer(model: Any) -> None:
    """Raise TrainingError if the model changes the output layer's logits, as by a soft cap."""
    ids = torch.arange(4, device=next(model.parameters()).device)[None]
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    expected = model(input_ids=ids, use_cache=False).logits
    if not torch.allclose(model.get_output_embeddings()(hidden), expected, rtol=1e-3, atol=1e-3):
        raise TrainingError("init: the model must not change its logits after the output layer")


def training_loss(
    module: nn.Module,
    batch: Batch,
    device: torch.device,
    attention: str = "sdpa",
) -> Loss:
    """Compute the loss of a batch: Eq. 14, or NTP alone if the batch has no masked copies.

    attention: attention that the model runs, see chosen_attention().
    """
    indices = (batch.targets.flatten() != NO_TARGET).nonzero()[:, 0]
    weights = batch.weights.flatten()[indices].to(device)
    is_noisy = batch.layout.is_noisy.flatten()[indices].to(device)
    inputs: list[Any] = [
        batch.token_ids.to(device),
        attention_mask(batch, device, attention),
        batch.layout.position.to(device),
        indices.to(device),
        batch.targets.flatten()[indices].to(device),
        is_noisy,
    ]
    for item in inputs:
        # One compiled forward pass serves every number of packed sequences and of targets.
        if isinstance(item, Tensor):
            torch._dynamo.maybe_mark_dynamic(item, 0)
    losses = module(*inputs)
    ntp = (losses * weights)[~is_noisy].sum()
    matp = (losses * weights)[is_noisy].sum()
    own_weight = weights[~is_noisy].sum()
    divisor = own_weight if batch.ntp_weight is None else batch.ntp_weight
    sums = [ntp.detach(), own_weight, matp.detach(), weights[is_noisy].sum()]
    return Loss((ntp + matp) / divisor, torch.stack(sums))


def attention_mask(batch: Batch, device: torch.device, attention: str) -> "Tensor | BlockMask":
    """Make the mask of a training forward pass in the form that `attention` takes.

    "flex_attention": BlockMask. "sdpa": bool tensor (packed sequences, 1, n, n), True = may attend.
    "eager": bf16 tensor of the same shape, 0 or -inf, which is added to the attention scores.
    """
    num_rows, size = batch.token_ids.shape
    rule = training_may_attend(batch.layout.to(device))
    if attention == "flex_attention":
        return flex(rule, size, size, num_rows, device)
    may_attend = dense(rule, size, size, num_rows, device)[:, None]
    if attention == "sdpa":
        return may_attend
    added = torch.zeros(may_attend.shape, dtype=torch.bfloat16, device=may_attend.device)
    return added.masked_fill_(~may_attend, float("-inf"))


PART_TOKENS = 2048
"""Most tokens that a CPU takes in one pass. More save no time but take memory, 2 MB per token for a
model of 135 million parameters.
"""


BetweenParts = Callable[[int, int], bool]
"""(number of parts of a step done, number of all parts) -> whether to stop within the step."""
WITH_BUCKETS = ("MULTI_GPU", "MULTI_CPU")
"""Kinds of distributed runs in which every backward pass would send gradients to all processes."""


class StepRunner:
    """Runs the training steps of a recipe on one model."""

    def __init__(
        self,
        model: PreTrainedModel,
        recipe: Recipe,
        settings: RunSettings,
        accelerator: "Accelerator",
    ) -> None:
        self.model, self._recipe, self._settings = model, recipe, settings
        self._accelerator = accelerator
        device = accelerator.device
        self._is_bf16 = computes_in_bf16(settings.precision, device)
        self._attention = chosen_attention(
            settings.attention, device, is_bf16=self._is_bf16, is_compiled=settings.is_compiled
        )
        model.set_attn_implementation(self._attention)
        if settings.is_checkpointed:
            model.activation_checkpointing_enable({"use_reentrant": False})
        optimizers = make_optimizers(model, recipe)
        self.module, *wrapped = accelerator.prepare(
            LossModule(model, distils_base=recipe.distils_base), *optimizers
        )
        self.optimizers: list[Any] = [item.optimizer for item in wrapped]
        if settings.is_compiled:
            self.module.compile()

    def backward(
        self, batch: Batch, between: BetweenParts = lambda done, count: False
    ) -> Loss | None:
        """Run the forward and backward passes of a batch, part by part; return the batch's loss.

        The gradients are added to those that exist already. between: see BetweenParts; if it stops
        the step, None is returned.
        """
        accelerator, shape = self._accelerator, batch.token_ids.shape
        count = self._settings.num_parts
        if accelerator.device.type == "cpu" and accelerator.num_processes == 1:
            count = max(count, -(-shape.numel() // PART_TOKENS))
        count = min(count, shape[0])
        parts = batch.parts(count) if count > 1 else [batch]
        losses = []
        computing = torch.autocast(
            accelerator.device.type,
            torch.bfloat16,
            enabled=self._is_bf16,
            # Cached casts would outlive the layers that checkpointing runs again.
            cache_enabled=not self._settings.is_checkpointed,
        )
        for number, part in enumerate(parts, start=1):
            is_kept = number < count and accelerator.distributed_type in WITH_BUCKETS
            with accelerator.no_sync(self.module) if is_kept else nullcontext():
                with computing:
                    loss = training_loss(self.module, part, accelerator.device, self._attention)
                accelerator.backward(loss.total)
            losses.append(Loss(loss.total.detach(), loss.sums))
            if number < count and between(number, count):
                return None
        return sum(losses[1:], start=losses[0])

    def update(self, rate: float, step: int) -> None:
        """Clip the gradients, and update the weights with the learning rate `rate`.

        step: number of steps done so far. Raises TrainingError if the gradients are not finite.
        """
        most = self._recipe.max_gradient_norm
        norm = self._accelerator.clip_grad_norm_(self.module.parameters(), most)
        update_weights(self.optimizers, norm, rate, step)


def update_weights(optimizers: Sequence[Any], norm: Any, rate: float, step: int) -> None:
    """Update the weights with the learning rate `rate`, and zero their gradients.

    norm: norm of the gradients. step: number of steps done so far, for the error message.
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
    """Make the recipe's optimizers: AdamW, or Muon for hidden matrices with AdamW for the rest."""
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
