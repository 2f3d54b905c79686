"""Low-rank adapters in a run: put beside the weights, saved and taken up again without them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from sbd_core.errors import require_extra
from sbd_core.models.adapters import WEIGHTS_FILE, Fingerprint, write_adapter
from sbd_core.training.checkpoints.checkpoint import RECIPE_FILE, keep_others, replace_folder
from sbd_core.training.recipe import Recipe

PREFIX = "base_model.model."
"""Prefix that peft puts before the name of each weight."""


def add_adapter(
    model: PreTrainedModel, recipe: Recipe, mask_token_id: int, base: Path
) -> Fingerprint:
    """Put a new adapter beside every linear layer, the only weights that are then trained.

    The mask's embedding is one of them where the stage has masks. base: the folder of the model.
    Gives what the model's own weights are recognised by. Raises MissingExtraError.
    """
    own = Fingerprint.of(model)
    config = lora_config(recipe, mask_token_id)
    torch.manual_seed(recipe.seed)
    model.add_adapter(config)
    # As wide as any other weight that is trained, whatever the base is stored in.
    for weight in model.parameters():
        if weight.requires_grad:
            weight.data = weight.data.float()
    config.base_model_name_or_path = str(base.resolve())
    return own


def lora_config(recipe: Recipe, mask_token_id: int) -> Any:
    """The peft configuration of the adapter. Raises MissingExtraError."""
    require_extra("lora")
    from peft import LoraConfig

    return LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,  # type: ignore[arg-type]
        target_modules="all-linear",
        trainable_token_indices=[mask_token_id] if recipe.stage == "sbd" else None,
        task_type="CAUSAL_LM",
    )


def restore_adapter(model: PreTrainedModel, folder: Path) -> None:
    """Go on from the adapter in a state folder; see STATE_ERRORS for what it may raise."""
    from peft import set_peft_model_state_dict

    saved = load_file(folder / WEIGHTS_FILE)
    state = {name.removeprefix(PREFIX): weight for name, weight in saved.items()}
    loaded: Any = set_peft_model_state_dict(model, state)
    if loaded.unexpected_keys:
        raise ValueError(f"unknown weights {loaded.unexpected_keys[:1]}")


@dataclass(frozen=True, slots=True)
class TrainedAdapter:
    """A model's adapter as it is now. weights: the state dict of the whole model, on the CPU."""

    model: Any
    weights: Mapping[str, Tensor]
    base: Fingerprint
    recipe: Recipe

    def save_pretrained(self, folder: Path) -> None:
        """Write the folder of the adapter."""
        recipe = self.recipe
        is_sbd = recipe.stage == "sbd"
        sizes = (recipe.min_block_size, recipe.max_block_size) if is_sbd else None
        write_adapter(self.model, folder, self.base, sizes, state_dict=dict(self.weights))

    def export(self, tokenizer: PreTrainedTokenizerBase, recipe: Recipe, folder: Path) -> None:
        """Write what ships, all of it or nothing; what else lies in `folder` stays in it."""

        def write(target: Path) -> None:
            self.save_pretrained(target)
            tokenizer.save_pretrained(target)
            (target / RECIPE_FILE).write_text(json.dumps(recipe.to_data(), indent=2) + "\n")
            keep_others(folder, target)

        replace_folder(folder, write)
