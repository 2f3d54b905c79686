"""The resumable state of a run: a folder beside the model folder, read and written whole."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from accelerate import Accelerator
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.files import sha256
from sbd_core.json_node import json_of
from sbd_core.training.recipe import Recipe

if TYPE_CHECKING:
    from sbd_core.training.checkpoints.lora import TrainedAdapter

Provenance = dict[str, list[str | None]]

PARTS = {"init": "weights (--init)", "texts": "texts (--data)"}
"""The parts of a provenance, as an error names them."""


def provenance(recipe: Recipe, init: Path | None) -> Provenance:
    """Digests of the weights in `init` and of the recipe's files of texts (None: unreadable).

    Raises TrainingError for an `init` that is no folder.
    """
    if init is not None and not init.is_dir():
        raise TrainingError(f"init: must be a model folder; got {init}")
    weights = sorted(init.glob("*.safetensors")) if init is not None else []
    named = [source.removeprefix("file:") for source in recipe.data if source.startswith("file:")]
    return {
        "init": [_digest(file) for file in weights],
        "texts": [_digest(Path(name)) for name in named],
    }


def _digest(file: Path) -> str | None:
    try:
        return sha256(file)
    except (OSError, ValueError):
        return None


# What a state folder that something else wrote over can raise when read.
STATE_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
    KeyError,
    TypeError,
    pickle.UnpicklingError,
    SafetensorError,
)

AVERAGE = "average"
"""File of the running average of the weights, where the recipe asks for one."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything but the weights that a run needs to resume.

    seconds: how long the run has taken, of every start. metrics: a line of JSON for each step.
    precision: what the steps computed in.
    optimizers: their full state dict, on the CPU.
    """

    step: int
    seconds: float
    precision: str
    metrics: str
    optimizers: Any


def state_folder(out: Path) -> Path:
    """The folder of the resumable state of a run that writes `out`."""
    return out.with_name(out.name + ".state")


def write_state(
    folder: Path,
    state: State,
    recipe: Recipe,
    began_from: Provenance,
    model: "PreTrainedModel | TrainedAdapter",
    average: PreTrainedModel | None,
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    """Fill an empty folder; read_state reads it back."""
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    if average is not None:
        average.save_pretrained(folder / AVERAGE)
    torch.save(state.optimizers, folder / "optimizers.pt")
    (folder / "metrics.jsonl").write_text(state.metrics)
    progress = {
        "step": state.step,
        "seconds": state.seconds,
        "precision": state.precision,
        "recipe": recipe.to_data(),
        **began_from,
    }
    (folder / "progress.json").write_text(json.dumps(progress, indent=2))


def read_state(folder: Path, recipe: Recipe, began_from: Provenance) -> State:
    """The state in `folder`. Raises TrainingError for one of another run, or that is damaged."""
    try:
        progress = json_of((folder / "progress.json").read_text())
        step, seconds = progress["step"], float(progress["seconds"])
        metrics = (folder / "metrics.jsonl").read_text()
        if type(step) is not int or step != metrics.count("\n") or not 0 <= seconds < 1e9:
            raise ValueError
        precision = progress["precision"]
        if precision not in ("bf16", "fp32"):
            raise ValueError
        saved = progress["recipe"]
        told = {name: progress[name] for name in began_from}
        optimizers = torch.load(folder / "optimizers.pt", weights_only=True)
    except STATE_ERRORS as error:
        raise unreadable(folder, error) from error
    if not _continues(recipe, saved, step, seconds):
        raise TrainingError(
            f"state {folder}: is of another recipe; give another --out, or remove it"
        )
    for name, value in told.items():
        if value != began_from[name]:
            other = f"began from other {PARTS[name]}"
            raise TrainingError(f"state {folder}: {other}; give another --out, or remove it")
    return State(step, seconds, precision, metrics, optimizers)


def unreadable(folder: Path, error: Exception) -> TrainingError:
    """The error to raise for a damaged state."""
    return TrainingError(
        f"state {folder}: cannot be read ({type(error).__name__}); remove it to start anew"
    )


def _continues(recipe: Recipe, saved: Any, step: int, seconds: float) -> bool:
    """Whether a run of the recipe `saved` after `step` steps is one of `recipe`.

    What no step so far had a part in may differ: the fall of the rate, and with it the number
    of steps or minutes; the loss after the steps of the paper's.
    """
    try:
        before = Recipe(**saved)
    except (TypeError, AttributeError, ArgumentError):
        return False
    return before.past(step, seconds) == recipe.past(step, seconds)


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
