"""A running average of the weights, by PyTorch's own AveragedModel: the model that ships."""

from pathlib import Path

from accelerate import Accelerator
from safetensors.torch import load_model
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import PreTrainedModel

from sbd_core.errors import ArgumentError
from sbd_core.training.checkpoints.state import AVERAGE, STATE_ERRORS, unreadable
from sbd_core.training.recipes.recipe import Recipe


def running_average(
    model: PreTrainedModel, recipe: Recipe, accelerator: Accelerator
) -> AveragedModel | None:
    """The average that the recipe asks for, of no step yet; None if it asks for none.

    Raises ArgumentError for several processes, whose weights may be sharded.
    """
    if recipe.averaging == 0:
        return None
    if accelerator.num_processes > 1:
        raise ArgumentError("averaging", "must be 0 with several processes", recipe.averaging)
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(recipe.averaging))


def restore_average(average: AveragedModel, state: Path) -> None:
    """Go on from the average in a state folder. Raises TrainingError."""
    try:
        load_model(average.module, state / AVERAGE / "model.safetensors")
    except STATE_ERRORS as error:
        raise unreadable(state, error) from error
    average.n_averaged.fill_(1)
