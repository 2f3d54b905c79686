"""The loss of Eq. 14: two sums of cross-entropies from one forward pass under the training mask.

Knows packed batches and a causal LM; nothing of gradients, precision or optimizers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sbd_core.errors import TrainingError
from sbd_core.masks import dense, flex, training_may_attend
from sbd_core.training.batches import NO_TARGET, PackedBatch

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross-entropy in nats. The losses of a batch's parts add up to its own.

    total: minimised, (sum of NTP + sum of MATP) / weight of the NTP sum: Eq. 14 per token.
    sums: (4,): sum of NTP, its weight, sum of MATP, its weight.
    """

    total: Tensor
    sums: Tensor

    @property
    def ntp(self) -> Tensor:
        """The mean over predicted tokens."""
        return self.sums[0] / self.sums[1]

    @property
    def matp(self) -> Tensor:
        """The mean over masked tokens, 0 without any."""
        return self.sums[2] / self.sums[3].clamp(min=1)

    def __add__(self, other: "Loss") -> "Loss":
        return Loss(self.total + other.total, self.sums + other.sums)


class LossModule(nn.Module):
    """A causal LM whose forward pass gives cross-entropy at chosen indices only.

    Running the output layer at these alone saves its work and memory everywhere else.
    """

    def __init__(self, model: Any, *, distils_base: bool = False) -> None:
        """distils_base: see Recipe."""
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
        is_noisy: Tensor | None = None,
    ) -> Tensor:
        """Cross-entropy of each target in nats, (len(indices),) in fp32.

        token_ids, position_ids: (rows, n). attention_mask: see attention_mask().
        indices: places in the flattened rows. targets: the token to predict at each.
        is_noisy: bool, whether that is a masked token; only distils_base reads it.
        """
        inputs = {
            "input_ids": token_ids,
            "attention_mask": attention_mask,
            "position_ids": position_ids,
            "use_cache": False,
        }
        wanted = None
        if self._distils_base and is_noisy is not None:
            self.model.disable_adapters()
            with torch.no_grad():
                wanted = self._logits(inputs, indices[~is_noisy]).softmax(-1)
            self.model.enable_adapters()
        logits = self._logits(inputs, indices)
        nats = functional.cross_entropy(logits, targets, reduction="none")
        if wanted is None or is_noisy is None:
            return nats
        distilled = functional.cross_entropy(logits[~is_noisy], wanted, reduction="none")
        return nats.masked_scatter(~is_noisy, distilled)

    def _logits(self, inputs: Mapping[str, Any], indices: Tensor) -> Tensor:
        hidden = self.model.base_model(**inputs).last_hidden_state
        logits: Tensor = self.model.get_output_embeddings()(hidden.flatten(0, 1)[indices])
        return logits.float()


@torch.no_grad()
def check_output_layer(model: Any) -> None:
    """Raise TrainingError if the model's logits are more than its output layer (a soft cap)."""
    ids = torch.arange(4, device=next(model.parameters()).device)[None]
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    expected = model(input_ids=ids, use_cache=False).logits
    if not torch.allclose(model.get_output_embeddings()(hidden), expected, rtol=1e-3, atol=1e-3):
        raise TrainingError("init: the model must not change its logits after the output layer")


def training_loss(
    module: nn.Module,
    batch: PackedBatch,
    device: torch.device,
    ntp_weight: float | None = None,
    attention: str = "sdpa",
) -> Loss:
    """Loss of a batch: Eq. 14, or next-token prediction alone without noisy tokens.

    module: a LossModule, as accelerate may have wrapped it.
    ntp_weight: divisor of the sums; None takes the weight of this batch.
    attention: the attention that the model runs, see chosen_attention().
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
        # One compiled forward pass serves every number of rows and of targets.
        if isinstance(item, Tensor):
            torch._dynamo.maybe_mark_dynamic(item, 0)
    losses = module(*inputs)
    ntp = (losses * weights)[~is_noisy].sum()
    matp = (losses * weights)[is_noisy].sum()
    own_weight = weights[~is_noisy].sum()
    noisy_weight = weights[is_noisy].sum()
    return Loss(
        (ntp + matp) / (own_weight if ntp_weight is None else ntp_weight),
        torch.stack([ntp.detach(), own_weight, matp.detach(), noisy_weight]),
    )


def attention_mask(
    batch: PackedBatch, device: torch.device, attention: str
) -> "Tensor | BlockMask":
    """Training mask: (rows, 1, n, n) bool (sdpa), bf16 to be added (eager), or BlockMask (flex).

    The mask to be added is 0 or -inf, which bf16 holds exactly, at half the memory of fp32.
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
