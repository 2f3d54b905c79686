"""The two sums of Eq. 14 over packed sequences, from one forward pass of the model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sbd_core.errors import TrainingError
from sbd_core.masks import dense, flex, training_may_attend
from sbd_core.training.data.masking import NO_TARGET, PackedBatch

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross-entropies in nats. ntp: mean over predicted tokens; matp: mean over masked ones.

    total is what is minimised: (sum of NTP + sum of MATP) / weight of the NTP sum, Eq. 14 per
    token. sums: of NTP and its weights, of MATP and its weights. The losses of a batch's parts add
    up to its own.
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

    Running the output layer at those alone saves its work and memory everywhere else.
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
        """Nats of each target, (len(indices),) in fp32.

        token_ids, position_ids: (rows, n). indices: into the flattened rows. targets, is_noisy: the
        token wanted at each index, and whether it is a masked one's (None: no matter).
        """
        inputs = token_ids, attention_mask, position_ids
        wanted = None
        if self._distils_base and is_noisy is not None:
            self.model.disable_adapters()
            with torch.no_grad():
                wanted = self._logits(*inputs, indices[~is_noisy]).softmax(-1)
            self.model.enable_adapters()
        logits = self._logits(*inputs, indices)
        nats = functional.cross_entropy(logits, targets, reduction="none")
        if wanted is None or is_noisy is None:
            return nats
        distilled = functional.cross_entropy(logits[~is_noisy], wanted, reduction="none")
        return nats.masked_scatter(~is_noisy, distilled)

    def _logits(
        self,
        token_ids: Tensor,
        attention_mask: "Tensor | BlockMask",
        position_ids: Tensor,
        indices: Tensor,
    ) -> Tensor:
        hidden = self.model.base_model(
            input_ids=token_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            use_cache=False,
        ).last_hidden_state
        logits: Tensor = self.model.get_output_embeddings()(hidden.flatten(0, 1)[indices])
        return logits.float()


@torch.no_grad()
def check_output_layer(model: Any) -> None:
    """Raise TrainingError if the model's logits are more than its output layer (a soft cap)."""
    ids = torch.arange(4, device=next(model.parameters()).device)[None]
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    expected = model(input_ids=ids, use_cache=False).logits
    if not torch.allclose(model.get_output_embeddings()(hidden), expected, rtol=1e-3, atol=1e-3):
        raise TrainingError("init: a model that changes its logits after the output layer")


def training_loss(
    module: nn.Module,
    batch: PackedBatch,
    device: torch.device,
    ntp_weight: float | None = None,
    attention: str = "sdpa",
) -> Loss:
    """Eq. 14 over the batch; without noisy tokens the plain next-token loss.

    ntp_weight: what the sums are divided by; None stands for the weight of this batch.
    attention: the one that the model runs, see chosen_attention().
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
        # One compiled forward serves every number of rows and of targets.
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
    """The training mask: (rows, 1, n, n) bool, in bf16 to be added (eager), or a BlockMask.

    What is added is 0 or -inf, which bf16 holds exactly, at half the memory of fp32.
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
