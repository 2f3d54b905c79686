"""The frozen base of a block adapter: read, given a mask token, and told apart from others."""

from dataclasses import dataclass
from pathlib import Path

import torch

from sbd_core.models.adapters import Fingerprint
from sbd_core.models.backends.choose import plain
from sbd_core.models.bases import BASES, require_base
from sbd_core.models.block_adapter import BlockAdapterInfo
from sbd_core.models.devices import chosen_device, has_bf16
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import read
from sbd_core.models.mask_token import choose_mask_token, give_mask_token
from sbd_core.models.source_check import require_source

DEFAULT_PENALTY = 1.0


@dataclass(frozen=True, slots=True)
class Base:
    """A base as training reads it; info: what an adapter of it says of itself, yet untrained."""

    model: HuggingFaceModel
    info: BlockAdapterInfo


def read_base(
    source: str, rank: int, block_range: tuple[int, int], *, name: str | None = None, device: str
) -> Base:
    """Read a folder, hub id or known base, and give it a mask token.

    In bf16 where the device multiplies it. name: what the adapter is to call its base, the source
    itself if None. Raises ModelError.
    """
    place = chosen_device(device)
    dtype = torch.bfloat16 if has_bf16(place) else torch.float32
    found = str(require_base(source)) if source in BASES else source
    is_folder = require_source(found, "base")
    model, tokenizer = read(found, dtype, is_folder=is_folder, argument="base")
    digest = Fingerprint.of(model).values
    mask = choose_mask_token(model, tokenizer)
    give_mask_token(model, tokenizer, mask)
    model.requires_grad_(requires_grad=False)
    penalty = getattr(model.generation_config, "repetition_penalty", None)
    info = BlockAdapterInfo(
        base=name or source,
        base_digest=digest,
        rank=rank,
        block_range=block_range,
        mask_token=mask.text,
        mask_token_id=mask.token_id,
        repetition_penalty=DEFAULT_PENALTY if penalty is None else float(penalty),
        trained={},
    )
    name_here = Path(found).name
    backend = plain(model.to(place), name_here)
    wrapped = HuggingFaceModel(model, tokenizer, name_here, backend=backend)
    return Base(wrapped, info)
