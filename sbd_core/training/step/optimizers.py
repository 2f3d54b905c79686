"""The optimizers of a recipe."""

from typing import Any

import torch
from transformers import PreTrainedModel

from sbd_core.training.recipes.recipe import Recipe


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
