"""The training loop of a model or an adapter, which saves regularly and stops at Ctrl-C.

A `Run` for a number of steps has the same result whether or not it is stopped and resumed. A `Run`
for a number of minutes, once resumed, trains for the minutes that are left.
"""

import atexit
import math
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
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

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.files import recover
from sbd_core.models.loading import read
from sbd_core.models.peft_adapter import is_adapter, write_adapter
from sbd_core.training.batches import Batch, BatchBuilder, batches, chosen_workers
from sbd_core.training.checkpoint import (
    STATE_ERRORS,
    Inputs,
    Metrics,
    Writer,
    add_adapter,
    digest_of_init,
    export,
    only_writer,
    read_state,
    restore_adapter,
    state_folder,
    unreadable,
    write_model,
    write_recipe,
    write_state,
)
from sbd_core.training.data import ModelLimits
from sbd_core.training.new_model import new_model
from sbd_core.training.recipe import Recipe, RunSettings, learning_rate, progress
from sbd_core.training.step import (
    BetweenParts,
    Loss,
    StepRunner,
    base_dtype,
    check_output_layer,
    require_possible,
)

SIGNALS = (signal.SIGINT, signal.SIGTERM)
NEEDED_TOKENS = {
    "eos": ", which ends every answer: give it one",
    "mask": ": sbd prepare gives a model one",
}
WHOLE = StateDictOptions(full_state_dict=True, cpu_offload=True)
"""Saves and loads the states of all processes as one."""


@contextmanager
def graceful_stop() -> Iterator[threading.Event]:
    """Yield an event that the first SIGINT or SIGTERM sets; a second one ends the process.

    Outside the main thread, where Python delivers no signals, the event is never set.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    before = {number: signal.getsignal(number) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def ask(*_: object) -> None:
        stop.set()
        restore()

    for number in SIGNALS:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        restore()


class Loop(ABC):
    """A training run that writes the folder `out`, and saves its state in a folder beside `out`.

    step: number of steps done. seconds: training time so far, summed over all starts of the run.
    inputs: digests of what the run began from.
    """

    title = "train"
    shown: Sequence[str] = ()
    optimizers: Sequence[Any] = ()
    is_main, is_alone = True, True
    """Whether this process reports progress, and whether no other process shares the run."""

    def __init__(self, recipe: Recipe, out: Path) -> None:
        self.recipe, self.out, self.state_folder = recipe, out, state_folder(out)
        self.step, self.seconds = 0, 0.0
        self.metrics: Metrics = []
        self.inputs: Inputs = {}
        self._started = time.monotonic()

    @property
    def is_done(self) -> bool:
        """Whether all steps of the recipe, or all of its minutes, are over."""
        return progress(self.recipe, self.step, self.seconds) >= 1

    @property
    def progress(self) -> tuple[int, int]:
        """(steps done, all steps) or, for a recipe with minutes, (seconds done, all seconds)."""
        if self.recipe.minutes:
            return round(self.seconds), round(60 * self.recipe.minutes)
        return self.step, self.recipe.steps

    @abstractmethod
    def backward(self, between: BetweenParts) -> Any:
        """Compute a step's gradients; return what update() needs, None if `between` stops it."""

    @abstractmethod
    def update(self, made: Any, began: float, stop: threading.Event) -> tuple[dict[str, Any], bool]:
        """Update the weights; return the metrics of the step, and whether to stop after it.

        made: result of backward(). began: time.perf_counter() at the start of the step.
        stop: event that is set when the run is asked to stop.
        """

    @abstractmethod
    def save(self) -> None:
        """Write the state, then the model or adapter, each completely or not at all."""

    def resume(self, load: Callable[[Any], None]) -> bool:
        """Resume the saved state; return whether there is one. load: takes the state's tensors.

        Raises TrainingError if this run may not resume the state.
        """
        if not self.state_folder.exists():
            return False
        state = read_state(self.state_folder, self.recipe, self.inputs)
        self.seconds, self.metrics, tensors = state
        self.step = self.metrics[-1]["step"] if self.metrics else 0
        self._started -= self.seconds
        try:
            load(tensors)
        except STATE_ERRORS as error:
            raise unreadable(self.state_folder, error) from error
        return True

    def save_state(self, tensors: Any, *parts: Writer) -> None:
        """Write the state, of which write_state() tells the tensors and parts."""
        counts = {"step": self.step, "seconds": self.seconds, "recipe": asdict(self.recipe)}
        write_state(self.state_folder, {**counts, **self.inputs}, self.metrics, tensors, *parts)

    def steps(
        self, stop: threading.Event, tell: Callable[[int, int], None] = lambda done, count: None
    ) -> Iterator[dict[str, Any]]:
        """Train to the end, and yield the metrics of each step.

        tell: called with the numbers of parts of a step that are done, and of all its parts.
        A run that is asked to stop finishes the step, or the part of the step that it is at. The
        batch of an unfinished step is drawn again when the run resumes.
        """

        def between(done: int, count: int) -> bool:
            tell(done, count)
            # Processes that share a run go on to the step's end, where they agree to stop.
            return self.is_alone and stop.is_set()

        while not self.is_done:
            began = time.perf_counter()
            made = self.backward(between)
            if made is None:
                for optimizer in self.optimizers:
                    optimizer.zero_grad()
                return
            line, is_over = self.update(made, began, stop)
            self.metrics.append(line)
            yield line
            if is_over:
                return

    def run(self, save_minutes: float, save_every: float = math.inf) -> None:
        """Train to the end with a progress bar.

        Saves after every `save_every` steps, `save_minutes` minutes after the last save, and at the
        end. Ctrl-C and SIGTERM save, then raise KeyboardInterrupt.
        """
        saved_at = self.seconds
        begun, total = self.progress
        unit = "s" if self.recipe.minutes else "step"
        count: dict[str, Any] = {"total": total, "initial": begun, "unit": unit}
        with (
            graceful_stop() as stop,
            tqdm(**count, desc=self.title, disable=not self.is_main) as bar,
        ):

            def tell(done: int, count: int) -> None:
                bar.set_postfix_str(f"step {self.step + 1}: {done} of {count} parts")

            for line in self.steps(stop, tell):
                bar.update(self.progress[0] - bar.n)
                shown = " ".join(f"{name} {line[name]:.6g}" for name in self.shown)
                bar.set_postfix_str(f"step {self.step} {shown}")
                is_due = self.seconds - saved_at >= 60 * save_minutes
                if (is_due or self.step % save_every == 0) and not self.is_done:
                    self.save()
                    saved_at = self.seconds
            self.save()
            if not self.is_done:
                bar.write("the state is saved, the same command goes on from here", file=sys.stderr)
                raise KeyboardInterrupt

    def _elapsed(self) -> float:
        return time.monotonic() - self._started


class Run(Loop):
    """A run of a recipe by Eq. 14, from a saved state, else from `init`, else from a new model."""

    shown = "loss", "ntp", "matp", "tokens_per_second"

    def __init__(
        self,
        recipe: Recipe,
        init: Path | None,
        out: Path,
        settings: RunSettings,
        accelerator: Accelerator,
        digest: str | None,
    ) -> None:
        super().__init__(recipe, out)
        self.accelerator, self.title = accelerator, f"train {recipe.stage}"
        self.is_main, self.is_alone = accelerator.is_main_process, accelerator.num_processes == 1
        self._settings = settings
        self.inputs["init"] = digest
        if self.is_main:
            recover(self.state_folder)
        accelerator.wait_for_everyone()
        self._load(init, has_state=self.state_folder.exists())
        self._builder = BatchBuilder(
            recipe,
            self._tokenizer,
            ModelLimits.of(self._model),
            process_index=accelerator.process_index,
            num_processes=accelerator.num_processes,
            min_rows=settings.num_parts,
        )
        self.inputs["data"] = self._builder.digest
        self._runner = StepRunner(self._model, recipe, settings, accelerator)
        self.optimizers = self._runner.optimizers
        own = self._runner.module, self._runner.optimizers
        self.resume(lambda saved: set_optimizer_state_dict(*own, saved, options=WHOLE))
        if self.is_main:
            for note in self._builder.notes:
                print(f"note: {note}", file=sys.stderr)
            if (length := self._builder.row_tokens) < recipe.row_tokens:
                most = f"--row-tokens allows {recipe.row_tokens}"
                print(f"rows of {length} tokens hold the longest text ({most})", file=sys.stderr)
        given, chosen = settings.num_workers, chosen_workers(accelerator.device)
        self._feed = batches(self._builder, self.step, chosen if given is None else given)
        self._runner.module.train()
        self.seconds = self._mean([self._elapsed()])[0]

    def _load(self, init: Path | None, *, has_state: bool) -> None:
        saved, rank = self.state_folder / "model", self.recipe.lora_rank
        self._base: str | None = None
        if init is not None and is_adapter(init):
            raise TrainingError(f"init: {init} is an adapter: sbd merge makes it a model first")
        if rank and init is None:
            raise ArgumentError("lora_rank", "must be 0 for a new model: give --init", rank)
        folder = saved if has_state and not rank else init
        if folder is None:
            self._model, self._tokenizer = new_model(self.recipe)
        else:
            precision = self._settings.precision
            dtype = base_dtype(precision, self.accelerator) if rank else torch.float32
            loaded = read(str(folder), dtype, argument="init" if folder == init else "state")
            self._model, self._tokenizer = loaded
        for name, hint in NEEDED_TOKENS.items():
            if getattr(self._tokenizer, f"{name}_token_id") is None:
                raise TrainingError(f"init: the tokenizer has no {name} token{hint}")
        check_output_layer(self._model)
        if rank and init is not None:
            mask_id = self._tokenizer.mask_token_id
            self._base = add_adapter(self._model, self.recipe, mask_id, init)
            if has_state:
                try:
                    restore_adapter(self._model, saved)
                except STATE_ERRORS as error:
                    raise unreadable(self.state_folder, error) from error

    def backward(self, between: BetweenParts) -> tuple[Loss, Batch, float] | None:
        """Returns the loss, the batch, and the seconds that this process waited for the batch."""
        began = time.perf_counter()
        # Dropout then draws the same in a resumed run as in one that was not stopped.
        torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
        batch = next(self._feed)
        waited = time.perf_counter() - began
        loss = self._runner.backward(batch, between)
        return None if loss is None else (loss, batch, waited)

    def update(
        self, made: tuple[Loss, Batch, float], began: float, stop: threading.Event
    ) -> tuple[dict[str, Any], bool]:
        """Raises TrainingError if the loss is not finite."""
        loss, batch, waited = made
        rate = learning_rate(self.recipe, self.step, self.seconds)
        self._runner.update(rate, self.step)
        self.step += 1
        num_tokens = float((batch.layout.document >= 0).sum())
        losses = torch.stack([loss.total, loss.ntp, loss.matp]).double().tolist()
        now = time.perf_counter() - began
        means = self._mean([*losses, num_tokens, waited, now, self._elapsed(), stop.is_set()])
        self.seconds = means[6]
        line = {
            "step": self.step,
            **dict(zip(("loss", "ntp", "matp"), means[:3], strict=True)),
            "learning_rate": rate,
            "tokens_per_second": means[3] * self.accelerator.num_processes / means[5],
            "data_wait_ratio": means[4] / means[5],
            "seconds": self.seconds,
        }
        if not math.isfinite(line["loss"]):
            raise TrainingError(f"the loss is {line['loss']} at step {self.step}; stopped")
        return line, means[7] > 0

    def save(self) -> None:
        """All processes must call this method."""
        weights, optimizers = get_state_dict(
            self._runner.module, list(self.optimizers), options=WHOLE
        )
        if self.accelerator.is_main_process:
            own = {name.removeprefix("model."): each for name, each in weights.items()}
            recipe, base, later = self.recipe, self._base, self.metrics[self.recipe.warmup_steps :]
            falling = sum(line["learning_rate"] < recipe.learning_rate for line in later)
            if not self.is_done or recipe.minutes:  # the steps that were made
                recipe = replace(recipe, steps=self.step or 1, decay_steps=falling)
            tokenizer = self._tokenizer
            save: Writer
            if base is not None:
                sizes = (recipe.min_block_size, recipe.max_block_size)
                of_blocks = sizes if recipe.stage == "sbd" else None
                given: dict[str, Any] = {"base": base, "block_range": of_blocks, "state_dict": own}
                save = write = partial(write_adapter, self._model, **given)
            else:
                model = type(self._model)(self._model.config)
                model.load_state_dict(own)
                model.generation_config = self._model.generation_config
                save, write = model.save_pretrained, partial(write_model, model, tokenizer, recipe)
            self.save_state(optimizers, save, tokenizer.save_pretrained)
            export(self.out, write, tokenizer.save_pretrained, partial(write_recipe, recipe))
        self.accelerator.wait_for_everyone()

    def _mean(self, values: list[float]) -> list[float]:
        own = torch.tensor(values, dtype=torch.float32, device=self.accelerator.device)
        total: Tensor = self.accelerator.reduce(own, "sum")
        return (total / self.accelerator.num_processes).tolist()


DEFAULT_SETTINGS = RunSettings()


def train(
    recipe: Recipe, init: Path | None, out: Path, settings: RunSettings = DEFAULT_SETTINGS
) -> None:
    """Train as `recipe` says, or resume from the state beside `out`; write the model folder `out`.

    init: model folder to begin from; None for a new model. A resumed run needs the same `init`.

    Ctrl-C and SIGTERM save, then raise KeyboardInterrupt. Raises ArgumentError for a bad
    argument or an `out` that training did not write, ModelError for an `init` that cannot be read,
    TrainingError if training cannot go on.
    """
    # autocast() lowers the precision, whatever accelerate is configured to do.
    accelerator = Accelerator(mixed_precision="no")
    if recipe.adapter_rank:
        rule = "must be 0: sbd train-adapter trains a block adapter"
        raise ArgumentError("adapter_rank", rule, recipe.adapter_rank)
    if accelerator.num_processes > 1:  # the group's threads must end before the interpreter does
        atexit.register(
            lambda: distributed.is_initialized() and distributed.destroy_process_group()
        )
    require_possible(settings, recipe, accelerator.device)
    if init is not None:
        start, replaced = init.resolve(), (out.resolve(), state_folder(out).resolve())
        if not {start, *start.parents}.isdisjoint(replaced):
            rule = "must be another folder than init, which it replaces"
            raise ArgumentError("out", rule, str(out))
    digest = digest_of_init(init)
    with only_writer(out) if accelerator.is_main_process else nullcontext():
        run = Run(recipe, init, out, settings, accelerator, digest)
        run.run(settings.save_minutes, settings.save_every)
