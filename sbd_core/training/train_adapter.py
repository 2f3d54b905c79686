"""Trains a block adapter, which changes the base model only at the positions of blocks.

models/block_adapter.py describes the adapter, and adapter_step.py holds the training step.
"""

import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.files import recover, replaced_folder
from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.block_adapter import (
    BlockAdapterInfo,
    read_block_adapter,
    write_block_adapter,
)
from sbd_core.models.hf_model import Fingerprint
from sbd_core.models.loading import located, read
from sbd_core.models.mask_token import choose_mask_token, give_mask_token
from sbd_core.models.runtime import chosen_device, has_bf16
from sbd_core.training.adapter_step import GatedBase, StepLoss, make_batch, measure
from sbd_core.training.checkpoint import (
    STATE_ERRORS,
    keep_others,
    read_metrics,
    unreadable,
    write_metrics,
)
from sbd_core.training.data import NO_LIMITS, ModelLimits, Pair, Skipped, encoded_text, read_source
from sbd_core.training.step import update_weights
from sbd_core.training.train import Loop, StepAbandoned, StopRequest, TellParts

DEFAULT_PENALTY = 1.0
STATE_FILE = "state.pt"
HELD_OUT_SHARE = 50
"""One request in this many is held out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRecipe:
    """Recipe of a block adapter's training. Raises ArgumentError for a value out of range.

    rank: rank of the update that the adapter adds to the weights of each linear layer.
    sampler_width: width of the sampler head (SamplerHead); 0 trains no sampler head.
    cooldown_ratio: final share of the training minutes, in which the learning rate falls to 0.
    num_texts: texts per step. rows_per_text: total length of the blocks placed in each text.
    block_sizes: sizes from which each step draws its block size.
    max_tokens: number of tokens after which a prompt with its answer is cut.
    whole_ratio: share of the blocks in which every token is masked.
    weight_of_first, decay: weights of the loss, see GatedBase.loss().
    average_decay: decay per step of the running average of the weights; the average is saved.
    """

    rank: int = 32
    sampler_width: int = 1024
    learning_rate: float = 1e-3
    warmup_steps: int = 50
    cooldown_ratio: float = 0.0
    num_texts: int = 4
    rows_per_text: int = 256
    block_sizes: tuple[int, ...] = (4, 8, 16)
    max_tokens: int = 256
    whole_ratio: float = 0.5
    weight_of_first: float = 0.5
    decay: float = 0.9
    average_decay: float = 0.998
    max_gradient_norm: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("rank", 1), ("sampler_width", 0), ("num_texts", 1), ("seed", 0)):
            require_integer(name, getattr(self, name), least)
        for size in self.block_sizes:
            require_integer("block_sizes", size, 2)
        require_integer("rows_per_text", self.rows_per_text, max(self.block_sizes))
        require_number("learning_rate", self.learning_rate, 0)
        for name in ("cooldown_ratio", "whole_ratio", "average_decay"):
            require_number(name, getattr(self, name), 0, 1)

    def rate(self, step: int, share: float) -> float:
        """Learning rate of a step. share: elapsed share of the training minutes, from 0 to 1."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = 1.0 if not self.cooldown_ratio else min(1.0, (1 - share) / self.cooldown_ratio)
        return self.learning_rate * warm * max(0.0, left)


def read_texts(
    files: Sequence[Path],
    tokenizer: Any,
    name: str,
    *,
    max_tokens: int,
    limits: ModelLimits = NO_LIMITS,
) -> tuple[list[Pair], list[Pair], list[str]]:
    """Read prompts with answers; return training pairs, held-out pairs, and notes on skipped texts.

    is_held_out() picks the held-out prompts; if it picks none, the first example is held out. An
    answer ends in its end token unless the answer is unfinished in the file or cut at `max_tokens`.
    name: name of the base model for error messages. limits: limits of the base model.
    max_tokens: number of tokens after which a prompt with its answer is cut.
    Raises ArgumentError for unreadable files and if there is nothing to train on or to hold out.
    """
    training: list[Pair] = []
    held_out: list[Pair] = []
    notes: list[str] = []
    for file in files:
        source = f"file:{file}"
        skipped = Skipped(source)
        for text in read_source(source, skipped):
            if not text.messages:
                skipped.add("are no answer to a prompt", text.where)
                continue
            pair = encoded_text(tokenizer, text, name, skipped, limits)
            if not pair:
                continue
            prompt, answer = pair
            room = max_tokens - len(prompt)
            if room >= 4 and len(answer) >= 2:
                part = held_out if is_held_out(text.prompt) else training
                part.append((prompt, answer[:room]))
            else:
                skipped.add(f"do not fit into {max_tokens} tokens (--max-tokens)", text.where)
        notes += skipped.notes()
    if not held_out and len(training) > 1:
        held_out.append(training.pop(0))
    if not training or not held_out:
        rule = "must hold examples to train on and to measure by"
        raise ArgumentError("data", "; ".join((rule, *notes)), [str(file) for file in files])
    return training, held_out, notes


def is_held_out(prompt: str) -> bool:
    """Whether a prompt is held out; a hash of its words decides, whatever file has the prompt."""
    digest = hashlib.sha256(" ".join(prompt.lower().split()).encode()).digest()
    return int.from_bytes(digest[:8], "big") % HELD_OUT_SHARE == 0


@dataclass(frozen=True, slots=True)
class Base:
    """A frozen base model with its tokenizer.

    name: name of the model in error messages.
    info: facts that a new, untrained adapter of this base model starts with.
    """

    model: Any
    tokenizer: Any
    name: str
    info: BlockAdapterInfo


def read_base(
    source: str, rank: int, block_range: tuple[int, int], *, name: str | None = None, device: str
) -> Base:
    """Read a base model, freeze it and give it a mask token.

    source: folder, hub id or known name. rank, block_range: see BlockAdapterInfo.
    name: name that the adapter records for its base model; None records `source`.
    device: device to load the weights on, in bf16 if the device is fast at bf16, else in fp32.
    Raises ModelError for an unusable model, ArgumentError for a family without block adapters.
    """
    place = chosen_device(device)
    dtype = torch.bfloat16 if has_bf16(place) else torch.float32
    path, is_folder = located(source, "base")
    model, tokenizer = read(path, dtype, is_folder=is_folder, argument="base")
    name_here = Path(path).name
    if not has_known_shape(model):
        rule = "must be of a family that decodes with a block adapter: Llama, Mistral, Qwen"
        raise ArgumentError("base", rule, name_here)
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
    return Base(model.to(place).eval(), tokenizer, name_here, info)


class AdapterRun(Loop):
    """Training run of a block adapter.

    The run resumes from a state saved beside `out`. If there is no saved state, the run starts from
    the adapter in the folder `init`, or from a new adapter if `init` is None.
    masked_tokens: number of masked tokens trained on so far.
    """

    title, unit = "train-adapter", "s"

    def __init__(
        self,
        base: Base,
        recipe: AdapterRecipe,
        texts: Sequence[Pair],
        held_out: Sequence[Pair],
        out: Path,
        init: Path | None = None,
        *,
        minutes: float = math.inf,
        measure_minutes: float = math.inf,
        is_compiled: bool = False,
    ) -> None:
        """Prepare the run. A resumed run trains for `minutes` again.

        minutes: minutes to train from now on. measure_minutes: minutes between two measurements.
        is_compiled: whether to use torch.compile; all texts are then padded to max_tokens.
        """
        super().__init__(out)
        self._recipe, self._texts, self._held_out = recipe, list(texts), list(held_out)
        self._info = base.info
        generator = torch.Generator().manual_seed(recipe.seed)
        self.base = GatedBase(
            base.model, base.info, recipe.sampler_width, generator, is_compiled=is_compiled
        )
        self._num_columns = recipe.max_tokens if is_compiled else 0
        self._before: dict[str, Any] = {}
        if init is not None:
            first = read_block_adapter(init)
            self.base.set(first.tensors())
            names = "steps", "masked_tokens", "minutes", "curve"
            trained = first.info.trained
            self._before = {"curve": []} | {
                name: trained[name] for name in names if name in trained
            }
        self._values = self.base.adapter.tensors()
        self._average = {name: value.detach().clone() for name, value in self._values.items()}
        self._optimizer = torch.optim.AdamW(
            self._values.values(),
            lr=recipe.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=base.model.device.type == "cuda",
        )
        self.masked_tokens = 0
        recover(self.state_folder)
        if (self.state_folder / STATE_FILE).is_file():
            self._restore()
        elif init is not None:
            # By the held-out texts of this run: the adapter may have been measured on others.
            start = {"step": 0, "masked_tokens": 0, "seconds": 0.0}
            self.metrics.append({**start, "measured": self.measure()})
        self._minutes, self._measure_minutes = minutes, measure_minutes
        self._first = self._measured_at = self.seconds
        self._last = self._began = time.monotonic()

    @property
    def _share(self) -> float:
        """Elapsed share of the minutes to train; 1 or more at the end."""
        return (time.monotonic() - self._began) / max(60 * self._minutes, 1e-9)

    @property
    def is_done(self) -> bool:
        """Whether the minutes to train are over."""
        return self._share >= 1

    @property
    def progress(self) -> tuple[int, int]:
        """Seconds trained since the last start, and seconds to train (0 without a time limit)."""
        total = 60 * self._minutes
        return round(self.seconds - self._first), 0 if math.isinf(total) else round(total)

    def backward(self, tell: TellParts) -> tuple[StepLoss, int]:
        """Compute the gradients of the next step; return the step's loss and block size."""
        recipe = self._recipe
        generator = torch.Generator().manual_seed(recipe.seed * 1_000_003 + self.step)
        drawn = torch.randint(len(recipe.block_sizes), (), generator=generator)
        size = recipe.block_sizes[int(drawn)]
        states = make_batch(
            self._next_texts(),
            size,
            recipe.rows_per_text // size,
            self._info.mask_token_id,
            recipe.whole_ratio,
            generator,
            self._num_columns,
        )
        loss = self.base.loss(states, recipe.weight_of_first, recipe.decay)
        loss.total.backward()
        return loss, size

    def discard_gradients(self) -> None:
        """Discard the gradients of the step."""
        self._optimizer.zero_grad()

    def update(
        self, made: tuple[StepLoss, int], began: float, stop_request: StopRequest
    ) -> tuple[dict[str, Any], bool]:
        """Update the adapter as in Loop.update(); measure its average every `measure_minutes`."""
        loss, size = made
        rate = self._recipe.rate(self.step, self._share)
        norm = torch.nn.utils.clip_grad_norm_(self._values.values(), self._recipe.max_gradient_norm)
        update_weights([self._optimizer], norm, rate, self.step)
        self._follow()
        self.step += 1
        self.masked_tokens += loss.num_masked
        now = time.monotonic()
        self.seconds, self._last, took = self.seconds + now - self._last, now, now - self._last
        line: dict[str, Any] = {
            "step": self.step,
            "block_size": size,
            "nats": float(loss.plain),
            "nats_with_before": float(loss.with_before),
            "learning_rate": rate,
            "masked_tokens": self.masked_tokens,
            "masked_per_second": loss.num_masked / took,
            "seconds": self.seconds,
        }
        if self.seconds - self._measured_at >= 60 * self._measure_minutes:
            with suppress(StepAbandoned), stop_request.abandons():
                line["measured"] = self.measure()
                print(json.dumps(line), file=sys.stderr)
            self._measured_at = self.seconds
        return line, stop_request.is_set()

    def words(self, line: Mapping[str, Any]) -> str:
        """The metrics of a step as text for the progress bar. line: the metrics."""
        speed = f"{line['masked_per_second']:.0f} masked/s"
        return f"step {self.step} nats {line['nats']:.2f} {speed}"

    def _next_texts(self) -> list[Pair]:
        """Texts of the next step, drawn so that every text is used before any is used again."""
        count, size = self._recipe.num_texts, len(self._texts)
        texts = []
        for place in range(self.step * count, (self.step + 1) * count):
            epoch, index = divmod(place, size)
            texts.append(self._texts[self._order(epoch)[index]])
        return texts

    @lru_cache(1)  # noqa: B019 - a run lives as long as its process
    def _order(self, epoch: int) -> list[int]:
        generator = torch.Generator().manual_seed((self._recipe.seed + epoch) * 1_000_003)
        return torch.randperm(len(self._texts), generator=generator).tolist()

    @torch.no_grad()
    def _follow(self) -> None:
        decay = self._recipe.average_decay
        if not self._before:
            # Faster while there is little to average; an adapter to begin from is an average.
            decay = min(decay, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(list(self._average.values()), list(self._values.values()), 1 - decay)

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Replace the trained weights by their running average within a `with` block."""
        own = {name: value.detach().clone() for name, value in self._values.items()}
        self.base.set(self._average)
        try:
            yield
        finally:
            self.base.set(own)

    def measure(self) -> dict[str, float]:
        """Measure the averaged adapter on held-out texts; see adapter_step.measure()."""
        with self._averaged():
            return measure(self.base, self._held_out)

    def save(self) -> None:
        """Write the state, then the averaged adapter, each completely or not at all."""
        totals = {"step": self.step, "masked_tokens": self.masked_tokens, "seconds": self.seconds}
        if self.is_done and not (self.metrics and "measured" in self.metrics[-1]):
            last = {**totals, "measured": self.measure()}
            self.metrics.append(last)
            print(json.dumps(last), file=sys.stderr)
        state = {
            "recipe": asdict(self._recipe),
            **totals,
            "before": self._before,
            "values": {name: value.detach() for name, value in self._values.items()},
            "average": self._average,
            "optimizer": self._optimizer.state_dict(),
        }
        measured = (line for line in self.metrics if "measured" in line)
        trained = {
            **self._info.trained,
            **self._totals(totals),
            "texts": len(self._texts),
            "recipe": asdict(self._recipe),
            "curve": [
                *self._before.get("curve", ()),
                *(self._totals(line) | line["measured"] for line in measured),
            ],
        }
        with replaced_folder(self.state_folder) as folder:
            torch.save(state, folder / STATE_FILE)
            write_metrics(folder, self.metrics)
        with replaced_folder(self.out) as folder, self._averaged():
            keep_others(self.out, folder)
            info = replace(self._info, trained=trained)
            write_block_adapter(replace(self.base.adapter, info=info), folder)

    def _totals(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """Return {name: sum} for steps, masked tokens and minutes: `init` adapter plus `line`."""
        own = {"steps": line["step"], "masked_tokens": line["masked_tokens"]}
        own["minutes"] = line["seconds"] / 60
        sums = {name: self._before.get(name, 0) + value for name, value in own.items()}
        return sums | {"minutes": round(sums["minutes"], 1)}

    def _restore(self) -> None:
        try:
            place = self.state_folder / STATE_FILE
            state = torch.load(place, map_location="cpu", weights_only=True)
            self.base.set(state["values"])
            self._optimizer.load_state_dict(state["optimizer"])
            for name, value in state["average"].items():
                self._average[name].copy_(value)
            self.step, self.masked_tokens = state["step"], state["masked_tokens"]
            self.seconds, self._before = state["seconds"], state["before"]
            self.metrics = read_metrics(self.state_folder)
        except STATE_ERRORS as error:
            raise unreadable(self.state_folder, error) from error
