"""The training loop: accelerate around the model, tqdm in front, a state folder behind.

A run resumed from its state goes on exactly as if it had not been stopped.
"""

import json
import math
import pickle
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_optimizer_state_dict,
)
from tqdm import tqdm
from transformers import PreTrainedModel

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.batches import Feed
from sbd_core.training.checkpoint import (
    export,
    load_model,
    new_model,
    only_writer,
    recover,
    replace_folder,
)
from sbd_core.training.graceful_stop import stop_wish
from sbd_core.training.loss import Loss, Trainee, check_output_layer, training_loss
from sbd_core.training.masking import Rows
from sbd_core.training.optimizers import learning_rate, make_optimizers
from sbd_core.training.provenance import ORIGINS, Origin, origin
from sbd_core.training.recipe import Recipe
from sbd_core.training.tokenizer import require_turns

# What a state folder that something else wrote over can raise when read.
STATE_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
    KeyError,
    TypeError,
    pickle.UnpicklingError,
)


def state_folder(out: Path) -> Path:
    """Where the resumable state of a run that writes `out` lives."""
    return out.with_name(out.name + ".state")


def train(
    recipe: Recipe,
    init: Path | None,
    out: Path,
    *,
    save_every: int = 100,
    is_compiled: bool = False,
) -> None:
    """Run `recipe` from `init` (None: a new model) and write the model folder `out`.

    is_compiled: True runs the forward through torch.compile: minutes of waiting at the start,
    then less time a step.

    Goes on from the state beside `out` if there is one, of the same recipe and `init`. Ctrl-C
    and SIGTERM save, then raise KeyboardInterrupt: the model is not done. Raises ArgumentError
    for an `out` that holds something else, TrainingError; what was saved before stays.
    """
    # bf16 autocast pays on a GPU; most CPUs without AMX run it slower than fp32.
    accelerator = Accelerator(mixed_precision="bf16" if torch.cuda.is_available() else "no")
    began_from = origin(recipe, init)
    with only_writer(out) if accelerator.is_main_process else nullcontext():
        run = _Run(recipe, init, out, is_compiled, accelerator, began_from)
        _train(run, save_every)


def _train(run: "_Run", save_every: int) -> None:
    """All steps that are left, behind a progress bar."""
    recipe = run.recipe
    bar = tqdm(
        total=recipe.steps,
        initial=run.step,
        unit="step",
        desc=f"train {recipe.stage}",
        disable=not run.accelerator.is_main_process,
    )
    with stop_wish() as wish, bar:
        for line in run.steps(wish):
            bar.update()
            bar.set_postfix_str(
                f"loss {line['loss']:.3f} ntp {line['ntp']:.3f} matp {line['matp']:.3f} "
                f"{line['tokens_per_second']:.0f} tok/s"
            )
            if run.step % save_every == 0 and run.step < recipe.steps:
                run.save()
        run.save()
        if run.step < recipe.steps:
            bar.write("the state is saved, the same command goes on from here")
            raise KeyboardInterrupt


class _Run:
    """Model, optimizers and the number of steps done."""

    def __init__(
        self,
        recipe: Recipe,
        init: Path | None,
        out: Path,
        is_compiled: bool,
        accelerator: Accelerator,
        began_from: Origin,
    ) -> None:
        self.recipe, self.out, self.state = recipe, out, state_folder(out)
        self.step = 0
        self.metrics = ""
        self.accelerator = accelerator
        self.origin = began_from
        if self.accelerator.is_main_process:
            recover(self.state)
        self.accelerator.wait_for_everyone()
        folder = self.state / "model" if self.state.exists() else init
        self.model, self.tokenizer = load_model(folder) if folder else new_model(recipe)
        require_turns(self.tokenizer, "init", needs_mask=True)
        check_output_layer(self.model)
        if self.accelerator.device.type == "cuda":
            self.model.set_attn_implementation("flex_attention")
        trainee = Trainee(self.model, recipe.soft_share)
        optimizers = make_optimizers(self.model, recipe)
        self.trainee, *wrapped = self.accelerator.prepare(trainee, *optimizers)
        self.optimizers = [item.optimizer for item in wrapped]
        self.feed = Feed(recipe, self.tokenizer, self.trainee, self.accelerator)
        if is_compiled:
            self.trainee.compile()
        if self.state.exists():
            self._restore()

    def steps(self, wish: Event) -> Iterator[dict[str, float]]:
        """Train to the end of the recipe or of patience, yielding the metrics of each step."""
        self.trainee.train()
        while self.step < self.recipe.steps:
            began = time.perf_counter()
            # A model with dropout draws what this step would draw had it not been stopped before.
            torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
            rows, ntp_weight = self.feed.rows(self.step)
            loss = self._loss(rows, ntp_weight)
            rate = learning_rate(self.recipe, self.step)
            self._update(loss, rate)
            self.step += 1
            line, is_over = self._measure(loss, rows, rate, time.perf_counter() - began, wish)
            if not math.isfinite(line["loss"]):
                raise TrainingError(f"the loss is {line['loss']} at step {self.step}; stopped")
            self.metrics += json.dumps(line) + "\n"
            yield line
            if is_over:
                return

    def _measure(
        self, loss: Loss, rows: Rows, rate: float, seconds: float, wish: Event
    ) -> tuple[dict[str, float], bool]:
        """The metrics of a step over all processes, and whether one of them wishes to stop."""
        num_tokens = float((rows.layout.document >= 0).sum())
        own = torch.stack([loss.total.detach(), loss.ntp, loss.matp]).float().cpu()
        own = torch.cat([own, torch.tensor([num_tokens, float(wish.is_set())])])
        total: Tensor = self.accelerator.reduce(own.to(self.accelerator.device), "sum")
        num_processes = self.accelerator.num_processes
        means = (total[:3] / num_processes).tolist()
        line = {
            "step": self.step,
            **dict(zip(("loss", "ntp", "matp"), means, strict=True)),
            "learning_rate": rate,
            "tokens_per_second": float(total[3]) / seconds,
        }
        return line, bool(total[4])

    def save(self) -> None:
        """Write the state, then the model folder as it would ship. All processes call it."""
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights, optimizer = get_state_dict(self.trainee, self.optimizers, options=options)
        if self.accelerator.is_main_process:
            whole = type(self.model)(self.model.config)
            whole.load_state_dict({name.removeprefix("model."): w for name, w in weights.items()})
            replace_folder(self.state, lambda folder: self._write_state(folder, whole, optimizer))
            done = self.recipe if self.step == self.recipe.steps else self.recipe.past(self.step)
            export(whole, self.tokenizer, done, self.out)
        self.accelerator.wait_for_everyone()

    def _loss(self, rows: Rows, ntp_weight: float) -> Loss:
        device, has_teachers = self.accelerator.device, self.recipe.at(self.step).soft_share > 0
        with self.accelerator.autocast():
            return training_loss(self.trainee, rows, device, ntp_weight, has_teachers)

    def _update(self, loss: Loss, rate: float) -> None:
        self.accelerator.backward(loss.total)
        most = self.recipe.max_gradient_norm
        norm = float(self.accelerator.clip_grad_norm_(self.trainee.parameters(), most))
        if not math.isfinite(norm):
            raise TrainingError(f"the gradient's norm is {norm} at step {self.step + 1}; stopped")
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()

    def _write_state(self, folder: Path, whole: PreTrainedModel, optimizer: Any) -> None:
        whole.save_pretrained(folder / "model")
        self.tokenizer.save_pretrained(folder / "model")
        torch.save(optimizer, folder / "optimizers.pt")
        (folder / "metrics.jsonl").write_text(self.metrics)
        progress = {"step": self.step, "recipe": self.recipe.to_data(), **self.origin}
        (folder / "progress.json").write_text(json.dumps(progress, indent=2))

    def _restore(self) -> None:
        state = self.state
        try:
            progress = json.loads((state / "progress.json").read_text())
            step, recipe = int(progress["step"]), progress["recipe"]
            # A state that knows less is from before these were told.
            told = {name: progress[name] for name in self.origin if name in progress}
            optimizer = torch.load(state / "optimizers.pt", weights_only=True)
            self.metrics = (state / "metrics.jsonl").read_text()
        except STATE_ERRORS as error:
            raise TrainingError(_unreadable(state, error)) from error
        if not self._continues(step, recipe):
            raise TrainingError(
                f"state {state}: is of another recipe; give another --out, or remove it"
            )
        for name, value in told.items():
            if value != self.origin[name]:
                other = f"began from other {ORIGINS[name]}"
                raise TrainingError(f"state {state}: {other}; give another --out, or remove it")
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        try:
            set_optimizer_state_dict(self.trainee, self.optimizers, optimizer, options=options)
        except STATE_ERRORS as error:
            raise TrainingError(_unreadable(state, error)) from error
        self.step = step

    def _continues(self, step: int, recipe: Any) -> bool:
        """Whether a run of `recipe` after `step` steps is one of ours.

        What no step so far had a part in may differ: the fall of the rate, and with it the
        number of steps; the loss after the steps of the paper's.
        """
        try:
            # A field that came later has its default.
            saved = Recipe(**recipe)
        except (TypeError, ArgumentError):
            return False
        return saved.past(step) == self.recipe.past(step)


def _unreadable(state: Path, error: Exception) -> str:
    return f"state {state}: cannot be read ({type(error).__name__}); remove it to start anew"
