"""train(): a run of a recipe to its end, with a progress bar in front and a state folder behind.

The loop over its steps is Run.steps().

A run of a number of steps that is resumed from its state goes on exactly as if it had not been
stopped; a run of a number of minutes goes on for those it has left.
"""

import atexit
import sys
from contextlib import nullcontext
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import distributed
from tqdm import tqdm

from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.training.checkpoints.checkpoint import only_writer
from sbd_core.training.checkpoints.state import provenance, state_folder
from sbd_core.training.graceful_stop import graceful_stop
from sbd_core.training.recipes.recipe import Recipe
from sbd_core.training.run import Run
from sbd_core.training.step.attention import require_attention
from sbd_core.training.step.precision import require_precision
from sbd_core.training.step.step_runner import RunSettings

SAVE_EVERY = 1000
SAVE_MINUTES = 10.0
AS_PAYS = RunSettings()


def train(
    recipe: Recipe,
    init: Path | None,
    out: Path,
    *,
    save_every: int = SAVE_EVERY,
    save_minutes: float = SAVE_MINUTES,
    settings: RunSettings = AS_PAYS,
) -> None:
    """Run `recipe` from `init` (None: a new model) and write the model folder `out`.

    save_every, save_minutes: steps and minutes after which the state is saved, whichever come
    first. settings: of speed and memory.

    Goes on from the state beside `out` if there is one, of the same recipe and `init`. Ctrl-C
    and SIGTERM save, then raise KeyboardInterrupt: the model is not done. Raises ArgumentError
    for an `out` that holds something else, TrainingError; what was saved before stays.
    """
    require_integer("save_every", save_every, 1)
    require_number("save_minutes", save_minutes, 0)
    # precision.py lowers the precision, whatever accelerate is configured to do.
    accelerator = Accelerator(mixed_precision="no")
    if accelerator.num_processes > 1:
        atexit.register(_leave_group)
    _check(settings, recipe, accelerator.device)
    _require_apart(init, out)
    began_from = provenance(recipe, init)
    with only_writer(out) if accelerator.is_main_process else nullcontext():
        run = Run(recipe, init, out, settings, accelerator, began_from)
        _train(run, save_every, save_minutes)


def _check(settings: RunSettings, recipe: Recipe, device: torch.device) -> None:
    """ArgumentError where the recipe or the device has no room for the settings."""
    if settings.num_workers is not None:
        require_integer("workers", settings.num_workers, 0)
    require_precision(settings.precision, device)
    require_attention(settings.attention, device)
    require_integer("accumulate", settings.num_parts, 1, recipe.batch_size)


def _require_apart(init: Path | None, out: Path) -> None:
    """ArgumentError where writing `out` would replace what `init` holds."""
    if init is None:
        return
    start, end, state = init.resolve(), out.resolve(), state_folder(out).resolve()
    if end in (start, *start.parents) or state in (start, *start.parents):
        raise ArgumentError("out", "must be another folder than init, which it replaces", str(out))


def _leave_group() -> None:
    """End the threads of the process group, which may not outlive the interpreter."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _train(run: Run, save_every: int, save_minutes: float) -> None:
    """All that is left of the run, behind a progress bar."""
    saved_at = run.seconds
    with graceful_stop() as wish, _progress_bar(run) as bar:
        for line in run.steps(wish):
            bar.update((round(run.seconds) if run.recipe.minutes else run.step) - bar.n)
            bar.set_postfix_str(
                f"step {run.step} loss {line['loss']:.3f} ntp {line['ntp']:.3f} "
                f"matp {line['matp']:.3f} {line['tokens_per_second']:.0f} tok/s"
            )
            is_due = run.seconds - saved_at >= 60 * save_minutes
            if (is_due or run.step % save_every == 0) and not run.is_done:
                run.save()
                saved_at = run.seconds
        run.save()
        if not run.is_done:
            bar.write("the state is saved, the same command goes on from here", file=sys.stderr)
            raise KeyboardInterrupt


def _progress_bar(run: Run) -> "tqdm[None]":
    recipe = run.recipe
    return tqdm(
        total=round(60 * recipe.minutes) if recipe.minutes else recipe.steps,
        initial=round(run.seconds) if recipe.minutes else run.step,
        unit="s" if recipe.minutes else "step",
        desc=f"train {recipe.stage}",
        disable=not run.accelerator.is_main_process,
    )
