"""Trains a block adapter, which changes the base model only at the positions of blocks.

models/block_adapter.py describes the adapter, and adapter_step.py holds its loss. The loop, its
state and the recipe are those of all training.
"""

import hashlib
import json
import math
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ArgumentError
from sbd_core.files import recover, weights_sha256
from sbd_core.models.backends.llama.forward import has_known_shape
from sbd_core.models.block_adapter import (
    BlockAdapterInfo,
    read_block_adapter,
    write_block_adapter,
)
from sbd_core.models.hf_model import digest_of_weights
from sbd_core.models.loading import located, read
from sbd_core.models.mask_token import choose_mask_token, give_mask_token
from sbd_core.models.model_folder import own_repetition_penalty
from sbd_core.models.runtime import chosen_device, has_bf16
from sbd_core.training.adapter_step import GatedBase, StepLoss, make_batch, measure
from sbd_core.training.checkpoint import export
from sbd_core.training.data import (
    ModelLimits,
    Pair,
    Skipped,
    digest_of,
    encoded_text,
    in_epochs,
    read_source,
)
from sbd_core.training.recipe import Recipe, learning_rate
from sbd_core.training.step import BetweenParts, update_weights
from sbd_core.training.train import Loop

HELD_OUT_SHARE = 50
"""One request in this many is held out."""


@dataclass(frozen=True, slots=True)
class Base:
    """A frozen base model with its tokenizer.

    info: facts that a new, untrained adapter of this base model starts with.
    """

    model: Any
    tokenizer: Any
    name: str
    info: BlockAdapterInfo


def read_texts(
    files: Sequence[Path], base: Base, max_tokens: int
) -> tuple[list[Pair], list[Pair], list[str]]:
    """Read prompts with answers; return training pairs, held-out pairs, and notes on skipped texts.

    is_held_out() picks the held-out prompts; if it picks none, the first example is held out. An
    answer ends in its end token unless the answer is unfinished in the file or cut.
    max_tokens: tokens after which a prompt with its answer is cut; the model's reach cuts it, too.
    Raises ArgumentError for unreadable files and if there is nothing to train on or to hold out.
    """
    reach = ModelLimits.of(base.model)
    limits = ModelLimits(reach.num_embeddings)  # what is longer is cut
    max_tokens = min(max_tokens, reach.max_tokens or max_tokens)
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
            pair = encoded_text(base.tokenizer, text, base.name, skipped, limits)
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


def read_base(
    source: str, rank: int, block_range: tuple[int, int], *, name: str | None = None, device: str
) -> Base:
    """Read a base model, freeze it and give it a mask token.

    name: name that the adapter records for its base model; None records `source`.
    device: device to load the weights on, in bf16 if the device is fast at bf16, else in fp32.
    Raises ModelError for an unusable model, ArgumentError for a family without block adapters.
    """
    target = chosen_device(device)
    dtype = torch.bfloat16 if has_bf16(target) else torch.float32
    path = located(source, "base")
    model, tokenizer = read(path, dtype, argument="base")
    name_here = Path(path).name
    if not has_known_shape(model):
        rule = "must be of a family that decodes with a block adapter: Llama, Mistral, Qwen"
        raise ArgumentError("base", rule, name_here)
    digest = digest_of_weights(model)
    mask = choose_mask_token(model, tokenizer)
    give_mask_token(model, tokenizer, mask)
    model.requires_grad_(requires_grad=False)
    info = BlockAdapterInfo(
        base=name or source,
        base_digest=digest,
        rank=rank,
        block_range=block_range,
        mask_token=mask.text,
        mask_token_id=mask.token_id,
        repetition_penalty=own_repetition_penalty(model, name_here),
        trained={},
    )
    return Base(model.to(target).eval(), tokenizer, name_here, info)


def recipe_changes(
    init: Path | None, rank: int | None, sampler_width: int | None
) -> dict[str, int]:
    """Values for adapter_rank and sampler_width of a recipe; those of the adapter `init`, if any.

    Raises ArgumentError if a value is given that is not that of `init`.
    """
    given = {"adapter_rank": rank, "sampler_width": sampler_width}
    if init is None:
        return {name: value for name, value in given.items() if value is not None}
    first = read_block_adapter(init)
    width = 0 if first.sampler is None else first.sampler[0].shape[0] // 2
    own = {"adapter_rank": first.info.rank, "sampler_width": width}
    for name, value in own.items():
        if given[name] not in (None, value):
            flag = name.removeprefix("adapter_")
            raise ArgumentError(flag, f"must be {value}, that of --init, or left out", given[name])
    return own


class AdapterRun(Loop):
    """Training run of a block adapter, from a saved state, else from the adapter in `init`.

    Without either, the run trains a new adapter.
    """

    title, shown = "train-adapter", ("nats", "masked_per_second")

    def __init__(
        self,
        base: Base,
        recipe: Recipe,
        texts: Sequence[Pair],
        held_out: Sequence[Pair],
        out: Path,
        init: Path | None = None,
        *,
        measure_minutes: float = math.inf,
        is_compiled: bool = False,
    ) -> None:
        """measure_minutes: minutes between two measurements.

        is_compiled: whether to use torch.compile; all texts are then padded to row_tokens.
        """
        super().__init__(recipe, out)
        self._texts, self._held_out, self._info = list(texts), list(held_out), base.info
        self._measure_minutes = measure_minutes
        generator = torch.Generator().manual_seed(recipe.seed)
        self.base = GatedBase(
            base.model, base.info, recipe.sampler_width, generator, is_compiled=is_compiled
        )
        self._num_columns = recipe.row_tokens if is_compiled else 0
        self._before: Mapping[str, Any] = {}
        first = None if init is None else read_block_adapter(init)
        if first is not None:
            if first.info.base_digest != base.info.base_digest:
                raise ArgumentError("init", f"must be an adapter of {base.name}", str(init))
            self.base.set(first.tensors())
            self._before = first.info.trained
        self.inputs = {
            "base": base.info.base_digest,
            "data": digest_of([*texts, *held_out]),
            "init": None if init is None else weights_sha256(init),
        }
        self._values = self.base.adapter.tensors()
        self._average = {name: value.detach().clone() for name, value in self._values.items()}
        optimizer = torch.optim.AdamW(
            self._values.values(),
            lr=recipe.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=base.model.device.type == "cuda",
        )
        self.optimizers = [optimizer]
        self.masked_tokens = 0
        recover(self.state_folder)
        if not self.resume(self._load) and first is not None:
            # By the held-out texts of this run: the adapter may have been measured on others.
            start = {"step": 0, "masked_tokens": 0, "seconds": 0.0}
            self.metrics.append({**start, "measured": self.measure()})
        self._measured_at = self.seconds
        self._started = time.monotonic() - self.seconds

    def backward(self, between: BetweenParts) -> tuple[StepLoss, int]:
        """Compute the gradients of the next step; return the step's loss and block size."""
        recipe = self.recipe
        generator = torch.Generator().manual_seed(recipe.seed * 1_000_003 + self.step)
        drawn = torch.randint(len(recipe.block_sizes), (), generator=generator)
        size = recipe.block_sizes[int(drawn)]
        first = self.step * recipe.batch_size
        indices = in_epochs(recipe.seed, len(self._texts), first, first + recipe.batch_size)
        states = make_batch(
            [self._texts[index] for index in indices],
            size,
            recipe.rows_per_text // size,
            self._info.mask_token_id,
            recipe.at(self.step).full_mask_ratio,
            generator,
            self._num_columns,
        )
        loss = self.base.loss(states, recipe.first_weight, recipe.loss_decay)
        loss.total.backward()
        return loss, size

    def update(
        self, made: tuple[StepLoss, int], began: float, stop: threading.Event
    ) -> tuple[dict[str, Any], bool]:
        """Update the adapter as in Loop.update(); measure its average every `measure_minutes`."""
        loss, size = made
        rate = learning_rate(self.recipe, self.step, self.seconds)
        norm = torch.nn.utils.clip_grad_norm_(self._values.values(), self.recipe.max_gradient_norm)
        update_weights(self.optimizers, norm, rate, self.step)
        decay = self.recipe.average_decay
        if not self._before:
            # Faster while there is little to average; an adapter to begin from is an average.
            decay = min(decay, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            values = list(self._values.values())
            torch._foreach_lerp_(list(self._average.values()), values, 1 - decay)
        self.step += 1
        self.masked_tokens += loss.num_masked
        line: dict[str, Any] = {
            "step": self.step,
            "block_size": size,
            "nats": float(loss.plain),
            "nats_with_before": float(loss.with_before),
            "learning_rate": rate,
            "masked_tokens": self.masked_tokens,
            "masked_per_second": loss.num_masked / (time.perf_counter() - began),
        }
        self.seconds = line["seconds"] = self._elapsed()
        is_due = self.seconds - self._measured_at >= 60 * self._measure_minutes
        if is_due and not stop.is_set():
            line["measured"] = self.measure()
            print(json.dumps(line), file=sys.stderr)
            self._measured_at = self.seconds
        return line, stop.is_set()

    @contextmanager
    def _averaged(self) -> Iterator[None]:
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
        tensors = {
            "values": {name: value.detach() for name, value in self._values.items()},
            "average": self._average,
            "optimizer": self.optimizers[0].state_dict(),
            "masked_tokens": self.masked_tokens,
        }
        self.save_state(tensors)
        measured = (line for line in self.metrics if "measured" in line)
        trained = {
            **self._info.trained,
            **self._totals(totals),
            "texts": len(self._texts),
            "recipe": asdict(self.recipe),
            "curve": [
                *self._before.get("curve", ()),
                *(self._totals(line) | line["measured"] for line in measured),
            ],
        }
        info = replace(self._info, trained=trained)
        with self._averaged():
            export(self.out, partial(write_block_adapter, replace(self.base.adapter, info=info)))

    def _totals(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """Return {name: sum} for steps, masked tokens and minutes: `init` adapter plus `line`."""
        own = {"steps": line["step"], "masked_tokens": line["masked_tokens"]}
        own["minutes"] = line["seconds"] / 60
        sums = {name: self._before.get(name, 0) + value for name, value in own.items()}
        return sums | {"minutes": round(sums["minutes"], 1)}

    def _load(self, tensors: Any) -> None:
        self.base.set(tensors["values"])
        self.optimizers[0].load_state_dict(tensors["optimizer"])
        for name, value in tensors["average"].items():
            self._average[name].copy_(value)
        self.masked_tokens = tensors["masked_tokens"]
