"""Masks as decoding leaves them: in each block the most certain places are revealed first.

Uniform masks (Alg. 1) show a block in states that no solver reaches, easy tokens missing and
hard ones given. These show it as the solver would: one look at the block all masked, then the
places of lowest entropy revealed.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sbd_core.training.loss import attention_mask
from sbd_core.training.masking import NO_TARGET, Text, pack


@torch.no_grad()
def masks_of_decoding(
    trainee: nn.Module,
    texts: Sequence[Text],
    etas: Sequence[float],
    row_tokens: int,
    pad_id: int,
    device: torch.device,
) -> list[Tensor]:
    """For texts masked whole, (num_answer,) bool each: still masked, a share eta of a block.

    trainee: a Trainee, or what accelerate made of one: sharded weights come together only there.
    """
    rows = pack(texts, row_tokens, pad_id)
    is_wanted = rows.layout.is_noisy & (rows.targets != NO_TARGET)
    entropies = trainee(
        rows.token_ids.to(device),
        attention_mask(rows, device),
        rows.layout.position.to(device),
        is_wanted.flatten().nonzero()[:, 0].to(device),
        None,
    )
    spread = torch.zeros(rows.token_ids.shape)
    spread[is_wanted] = entropies.cpu()
    masks = []
    for index, (text, eta) in enumerate(zip(texts, etas, strict=True)):
        own = (rows.layout.document == index) & is_wanted
        num_answer = int(own.sum())
        block = text.block[text.is_noisy][:num_answer]
        masks.append(most_certain_revealed(spread[own], block, eta))
    return masks


def most_certain_revealed(entropies: Tensor, block: Tensor, eta: float) -> Tensor:
    """(n,) bool, True = masked: in every block a share 1 - eta, lowest entropies, is not."""
    is_masked = torch.ones(len(entropies), dtype=torch.bool)
    for number in block.unique():
        places = (block == number).nonzero()[:, 0]
        num_revealed = round((1 - eta) * len(places))
        is_masked[places[entropies[places].argsort()[:num_revealed]]] = False
    return is_masked
