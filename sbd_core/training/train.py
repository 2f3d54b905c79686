"""train(): a run of a recipe to its end, with a progress bar in front and a state folder behind.

A run of a number of steps that is resumed from its state goes on exactly as if it had not been
stopped; a run of a number of minutes goes on for those it has left.
"""

import atexit
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, distributed
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_optimizer_state_dict,
)
from tqdm import tqdm
from transformers import PreTrainedModel

from sbd_core.errors import ArgumentError, TrainingError, require_integer, require_number
from sbd_core.models.adapters import Fingerprint, is_adapter
from sbd_core.training.checkpoints.checkpoint import (
    export,
    load_model,
    new_model,
    only_writer,
    recover,
    replace_folder,
)
from sbd_core.training.checkpoints.lora import TrainedAdapter, add_adapter, restore_adapter
from sbd_core.training.checkpoints.state import (
    STATE_ERRORS,
    Provenance,
    State,
    provenance,
    read_state,
    restore_average,
    running_average,
    state_folder,
    unreadable,
    write_state,
)
from sbd_core.training.data.batch_builder import Batch, BatchBuilder, batches, chosen_workers
from sbd_core.training.data.examples import ModelLimits
from sbd_core.training.data.tokenizer import require_tokens
from sbd_core.training.graceful_stop import StepAbandoned, StopWish, graceful_stop
from sbd_core.training.loss import Loss, check_output_layer
from sbd_core.training.recipe import Recipe, learning_rate, progress, require_enough_minutes
from sbd_core.training.step import (
    RunSettings,
    StepRunner,
    base_dtype,
    require_attention,
    require_precision,
)

STEPS_BEFORE_ESTIMATE = 4
"""Steps after which the time of one is known; the first may compile."""


class Run:
    """Steps of a recipe from where its state, `init` or a new model stands.

    step: steps done. seconds: how long they took, of every start; all processes agree on it.
    """

    def __init__(
        self,
        recipe: Recipe,
        init: Path | None,
        out: Path,
        settings: RunSettings,
        accelerator: Accelerator,
        began_from: Provenance,
    ) -> None:
        self._started = time.monotonic()
        self.recipe, self.accelerator = recipe, accelerator
        self._out, self._state_folder = out, state_folder(out)
        self._settings, self._began_from = settings, began_from
        self.step, self.seconds, self._metrics = 0, 0.0, ""
        if accelerator.is_main_process:
            recover(self._state_folder)
        accelerator.wait_for_everyone()
        has_state = self._state_folder.exists()
        self._load(init, has_state=has_state)
        self._runner = StepRunner(self._model, recipe, settings, accelerator)
        self._average = running_average(self._model, recipe, accelerator)
        saved = self._restore() if has_state else None
        process = accelerator.process_index, accelerator.num_processes
        limits = ModelLimits.of(self._model)
        self._builder = BatchBuilder(recipe, self._tokenizer, *process, settings.num_parts, limits)
        if accelerator.is_main_process:
            for note in self._builder.notes:
                print(f"note: {note}", file=sys.stderr)
            if (length := self._builder.row_tokens) < recipe.row_tokens:
                most = f"--row-tokens allows {recipe.row_tokens}"
                print(f"rows of {length} tokens hold the longest text ({most})", file=sys.stderr)
        self._runner.module.train()
        precision = None if saved is None else saved.precision
        self._runner.choose_precision(precision, lambda: self._builder.batch(self.step))
        self.seconds = self._agreed_seconds()

    def _load(self, init: Path | None, *, has_state: bool) -> None:
        """The model to train: of the state, of `init` or a new one."""
        saved, recipe = self._state_folder / "model", self.recipe
        self._base: Fingerprint | None = None
        if init is not None and is_adapter(init):
            raise TrainingError(f"init: {init} is an adapter: sbd merge makes it a model first")
        if recipe.lora_rank:
            if init is None:
                rule = "must be 0 for a new model: give --init"
                raise ArgumentError("lora_rank", rule, recipe.lora_rank)
            dtype = base_dtype(self._settings.precision, self.accelerator)
            self._model, self._tokenizer = load_model(init, dtype)
        else:
            folder = saved if has_state else init
            self._model, self._tokenizer = load_model(folder) if folder else new_model(recipe)
        require_tokens(self._tokenizer, "init", needs_mask=True)
        check_output_layer(self._model)
        if not recipe.lora_rank or init is None:
            return
        mask_id = self._tokenizer.mask_token_id
        self._base = add_adapter(self._model, recipe, mask_id, init)
        if has_state:
            try:
                restore_adapter(self._model, saved)
            except STATE_ERRORS as error:
                raise unreadable(self._state_folder, error) from error

    @property
    def is_done(self) -> bool:
        """Whether every step, or all of the time, is behind."""
        return progress(self.recipe, self.step, self.seconds) >= 1

    def steps(
        self, wish: StopWish, tell: Callable[[int, int], None] = lambda done, count: None
    ) -> Iterator[dict[str, float]]:
        """Train to the end of the recipe or of patience, yielding the metrics of each step.

        tell: hears how many parts of the step are done, and of how many. A wish to stop leaves the
        step under way undone; the same batch is drawn again later.
        """
        require_enough_minutes(self.recipe, self.step, self.seconds, 0.0)
        workers = self._settings.num_workers
        if workers is None:
            workers = chosen_workers(self.accelerator.device)
        feed = batches(self._builder, self.step, workers)
        durations: list[float] = []
        while not self.is_done:
            began = time.perf_counter()
            # A model with dropout draws what this step would draw had it not been stopped before.
            torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
            try:
                # All processes go on to the step's end, where they agree to stop.
                with wish.abandons() if self.accelerator.num_processes == 1 else nullcontext():
                    batch = next(feed)
                    waited = time.perf_counter() - began
                    loss = self._runner.backward(batch, tell)
            except StepAbandoned:
                self._runner.forget()
                return
            rate = learning_rate(self.recipe, self.step, self.seconds)
            self._update(rate)
            if self._average is not None:
                self._average.update_parameters(self._model)
            self.step += 1
            line, is_over = self._measure(loss, batch, rate, began, waited, wish)
            if not math.isfinite(line["loss"]):
                raise TrainingError(f"the loss is {line['loss']} at step {self.step}; stopped")
            durations.append(time.perf_counter() - began)
            self._check_time(durations)
            self._metrics += json.dumps(line) + "\n"
            yield line
            if is_over:
                return

    def save(self) -> None:
        """Write the state, then the model folder as it would ship. All processes call it."""
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights, optimizers = get_state_dict(
            self._runner.module, self._runner.optimizers, options=options
        )
        if self.accelerator.is_main_process:
            model = self._trained(weights)
            state = State(
                self.step,
                self.seconds,
                self._runner.precision,
                self._metrics,
                optimizers,
            )
            average: Any = None if self._average is None else self._average.module
            write = partial(
                write_state,
                state=state,
                recipe=self.recipe,
                began_from=self._began_from,
                model=model,
                average=average,
                tokenizer=self._tokenizer,
            )
            replace_folder(self._state_folder, write)
            past = self.recipe.past(self.step, self.seconds)
            made = self._made() if self.is_done else past
            if isinstance(model, TrainedAdapter):
                model.export(self._tokenizer, made, self._out)
            else:
                export(average or model, self._tokenizer, made, self._out)
        self.accelerator.wait_for_everyone()

    def _trained(self, weights: dict[str, Any]) -> PreTrainedModel | TrainedAdapter:
        """Gather the weights of all processes: the whole model, or its adapter alone."""
        own = {name.removeprefix("model."): weight for name, weight in weights.items()}
        if self._base is not None:
            return TrainedAdapter(self._model, own, self._base, self.recipe)
        whole = type(self._model)(self._model.config)
        whole.load_state_dict(own)
        whole.generation_config = self._model.generation_config
        return whole

    def _made(self) -> Recipe:
        """The recipe of the whole run, with the steps that its minutes were enough for."""
        recipe = self.recipe
        if not recipe.minutes:
            return recipe
        rates = [json.loads(line)["learning_rate"] for line in self._metrics.splitlines()]
        falling = sum(rate < recipe.learning_rate for rate in rates[recipe.warmup_steps :])
        return replace(recipe, steps=self.step, decay_steps=falling)

    def _measure(
        self,
        loss: Loss,
        batch: Batch,
        rate: float,
        began: float,
        waited: float,
        wish: StopWish,
    ) -> tuple[dict[str, float], bool]:
        """The metrics of a step over all processes, and whether one of them wishes to stop."""
        num_tokens = float((batch.packed.layout.document >= 0).sum())
        losses = torch.stack([loss.total, loss.ntp, loss.matp]).double().tolist()
        now = time.perf_counter() - began
        means = self._mean([*losses, num_tokens, waited, now, self._elapsed(), wish.is_set()])
        self.seconds = means[6]
        line = {
            "step": self.step,
            **dict(zip(("loss", "ntp", "matp"), means[:3], strict=True)),
            "learning_rate": rate,
            "tokens_per_second": means[3] * self.accelerator.num_processes / means[5],
            "data_wait_ratio": means[4] / means[5],
            "seconds": self.seconds,
        }
        return line, means[7] > 0

    def _mean(self, values: list[float]) -> list[float]:
        """The mean of each value over all processes."""
        own = torch.tensor(values, dtype=torch.float32, device=self.accelerator.device)
        total: Tensor = self.accelerator.reduce(own, "sum")
        return (total / self.accelerator.num_processes).tolist()

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _agreed_seconds(self) -> float:
        return self._mean([self._elapsed()])[0]

    def _check_time(self, durations: list[float]) -> None:
        """ArgumentError as soon as it shows that the minutes are too few for the warm-up."""
        is_known = len(durations) == STEPS_BEFORE_ESTIMATE
        if self.step < self.recipe.warmup_steps and (is_known or self.is_done):
            require_enough_minutes(self.recipe, self.step, self.seconds, min(durations))

    def _update(self, rate: float) -> None:
        self._runner.update(rate, self.step)

    def _restore(self) -> State:
        state = read_state(self._state_folder, self.recipe, self._began_from)
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        try:
            set_optimizer_state_dict(
                self._runner.module, self._runner.optimizers, state.optimizers, options=options
            )
        except STATE_ERRORS as error:
            raise unreadable(self._state_folder, error) from error
        if self._average is not None:
            restore_average(self._average, self._state_folder)
        self.step, self._metrics = state.step, state.metrics
        self._started -= state.seconds
        return state


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
    # autocast() lowers the precision, whatever accelerate is configured to do.
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
    """Run the remaining steps behind a progress bar."""
    saved_at = run.seconds
    with graceful_stop() as wish, _progress_bar(run) as bar:

        def tell(done: int, count: int) -> None:
            if done < count:
                bar.set_postfix_str(f"step {run.step + 1}: {done} of {count} parts")

        for line in run.steps(wish, tell):
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
