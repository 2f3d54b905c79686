"""The two sums of Eq. 14 over rows of texts, from one forward of the model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sbd_core.errors import TrainingError
from sbd_core.masks import dense, flex, training_may_attend
from sbd_core.training.masking import NO_TARGET, Rows

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask


@dataclass(frozen=True, slots=True)
class Loss:
    """Cross-entropies in nats. ntp: mean over predicted tokens; matp: mean over masked ones.

    total is what is minimised: (sum of NTP + sum of MATP) / weight of the NTP sum, Eq. 14 per
    token.
    """

    total: Tensor
    ntp: Tensor
    matp: Tensor


class Trainee(nn.Module):
    """A causal LM whose forward gives cross-entropy or entropy at chosen places only.

    Running the output layer at those alone saves its work and memory everywhere else.
    """

    def __init__(self, model: Any, soft_share: float = 0.0) -> None:
        super().__init__()
        self.model = model
        self.soft_share = soft_share

    def forward(
        self,
        token_ids: Tensor,
        attention_mask: "Tensor | BlockMask",
        position_ids: Tensor,
        places: Tensor,
        targets: Tensor | None,
        teachers: Tensor | None = None,
    ) -> Tensor:
        """(rows, n) ids and positions, the mask, `places` in the flattened rows and the token
        wanted at each -> (len(places),) nats, in fp32. Without targets the entropy there.

        With teachers, indices into `places` and its own index for a place that has none, a
        share soft_share of the target is what the model itself predicts at its teacher. The
        teacher gets no gradient.
        """
        hidden = self.model.base_model(
            input_ids=token_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            use_cache=False,
        ).last_hidden_state
        logits = self.model.get_output_embeddings()(hidden.flatten(0, 1)[places]).float()
        if targets is None:
            return torch.distributions.Categorical(logits=logits, validate_args=False).entropy()
        hard = functional.cross_entropy(logits, targets, reduction="none")
        if teachers is None:
            return hard
        wanted = logits.detach()[teachers].softmax(-1)
        soft = functional.cross_entropy(logits, wanted, reduction="none")
        has_teacher = teachers != torch.arange(len(teachers), device=teachers.device)
        return torch.lerp(hard, soft, self.soft_share * has_teacher)


@torch.no_grad()
def check_output_layer(model: Any) -> None:
    """Raise TrainingError if the model's logits are more than its output layer (a soft cap)."""
    ids = torch.arange(4, device=next(model.parameters()).device)[None]
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    expected = model(input_ids=ids, use_cache=False).logits
    if not torch.allclose(model.get_output_embeddings()(hidden), expected, rtol=1e-3, atol=1e-3):
        raise TrainingError("init: a model that changes its logits after the output layer")


def training_loss(
    trainee: nn.Module,
    rows: Rows,
    device: torch.device,
    ntp_weight: float | None = None,
    has_teachers: bool = False,
) -> Loss:
    """Eq. 14 over the rows; without noisy tokens the plain next-token loss.

    ntp_weight: what the sums are divided by; None stands for the weight of these rows.
    has_teachers: masked places that have a teacher learn from it as well (see Trainee). The
    model runs FlexAttention on CUDA, a dense mask elsewhere.
    """
    places = (rows.targets.flatten() != NO_TARGET).nonzero()[:, 0]
    targets, weights = rows.targets.flatten()[places], rows.weights.flatten()[places].to(device)
    is_noisy = rows.layout.is_noisy.flatten()[places].to(device)
    inputs: list[Any] = [
        rows.token_ids,
        attention_mask(rows, device),
        rows.layout.position,
        places,
        targets,
    ]
    if has_teachers:
        inputs.append(teacher_indices(rows, places))
    inputs = [item.to(device) for item in inputs]
    for item in inputs:
        # One compiled forward serves every number of rows and of targets.
        if isinstance(item, Tensor):
            torch._dynamo.maybe_mark_dynamic(item, 0)
    losses = trainee(*inputs)
    ntp = (losses * weights)[~is_noisy].sum()
    matp = (losses * weights)[is_noisy].sum()
    own_weight = weights[~is_noisy].sum()
    return Loss(
        (ntp + matp) / (own_weight if ntp_weight is None else ntp_weight),
        (ntp / own_weight).detach(),
        (matp / weights[is_noisy].sum().clamp(min=1)).detach(),
    )


def teacher_indices(rows: Rows, places: Tensor) -> Tensor:
    """For each of `places`, the index in `places` of its teacher, or its own index."""
    index_of = torch.full((rows.token_ids.numel(),), NO_TARGET)
    index_of[places] = torch.arange(len(places))
    teachers = rows.teachers.flatten()[places]
    return torch.where(teachers == NO_TARGET, torch.arange(len(places)), index_of[teachers])


def attention_mask(rows: Rows, device: torch.device) -> "Tensor | BlockMask":
    """Who may attend to whom in the rows: (rows, 1, n, n) bool, a BlockMask on CUDA."""
    num_rows, size = rows.token_ids.shape
    if device.type == "cuda":
        rule = training_may_attend(rows.layout.to(device))
        return flex(rule, size, size, num_rows, device)
    return dense(training_may_attend(rows.layout), size, size, num_rows)[:, None].to(device)
