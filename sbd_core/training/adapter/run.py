"""The run that trains a block adapter: steps, what they cost, and the state it goes on from."""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError, TrainingError, require_integer, require_number
from sbd_core.models.adapters import Fingerprint
from sbd_core.models.backends.choose import fused_backend, plain
from sbd_core.models.bases import BASES, require_base
from sbd_core.models.block_adapter import (
    BlockAdapterInfo,
    read_block_adapter,
    write_block_adapter,
)
from sbd_core.models.checkpoint_info import ADAPTER_INFO, is_block_adapter
from sbd_core.models.devices import chosen_device, has_bf16
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import read
from sbd_core.models.mask_token import choose_mask_token, give_mask_token
from sbd_core.models.source_check import require_source
from sbd_core.training.adapter.states import NO_TARGET, Text, make_states, order_of
from sbd_core.training.adapter.step import AdapterModule
from sbd_core.training.checkpoints.checkpoint import keep_others, recover, replace_folder
from sbd_core.training.graceful_stop import StepAbandoned, StopWish

DEFAULT_PENALTY = 1.0


@dataclass(frozen=True, slots=True)
class Base:
    """A base as training reads it; info: what an adapter of it says of itself, yet untrained."""

    model: HuggingFaceModel
    info: BlockAdapterInfo


def read_base(
    source: str, rank: int, block_range: tuple[int, int], *, name: str | None = None, device: str
) -> Base:
    """Read a folder, hub id or known base, and give it a mask token.

    In bf16 where the device multiplies it. name: what the adapter is to call its base, the source
    itself if None. Raises ModelError.
    """
    place = chosen_device(device)
    dtype = torch.bfloat16 if has_bf16(place) else torch.float32
    path = str(require_base(source)) if source in BASES else source
    is_folder = require_source(path, "base")
    model, tokenizer = read(path, dtype, is_folder=is_folder, argument="base")
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
    name_here = Path(path).name
    backend = plain(model.to(place), name_here)
    wrapped = HuggingFaceModel(model, tokenizer, name_here, backend=backend)
    return Base(wrapped, info)


STATE_FILE, METRICS_FILE = "state.pt", "metrics.jsonl"
NUM_MEASURED = 96
"""Held-out texts that a measurement reads."""
LEAD_SIZE = 16
"""Masks of a block whose guesses are counted from the left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRecipe:
    """How a block adapter is trained. Raises ArgumentError naming the field, the rule, the value.

    num_texts, rows_per_text: of a step; small steps learn more by the minute than large ones.
    block_sizes: one is drawn for each step. whole_ratio: of blocks that are masked throughout.
    weight_of_first, decay: see AdapterModule.loss. average_decay: of the running average of the
    values, which is what ships. sampler_width: 0 leaves the sampler head out. cooldown_ratio: of a
    start's minutes, in whose course the learning rate falls to zero at their end.
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
        require_integer("rank", self.rank, 1)
        require_integer("sampler_width", self.sampler_width, 0)
        require_number("learning_rate", self.learning_rate, 0)
        require_integer("num_texts", self.num_texts, 1)
        for size in self.block_sizes:
            require_integer("block_sizes", size, 2)
        require_integer("rows_per_text", self.rows_per_text, max(self.block_sizes))
        require_number("cooldown_ratio", self.cooldown_ratio, 0, 1)
        require_number("whole_ratio", self.whole_ratio, 0, 1)
        require_number("average_decay", self.average_decay, 0, 1)
        require_integer("seed", self.seed, 0)

    def rate(self, step: int, share: float) -> float:
        """The learning rate of a step, when `share` of this start's minutes is over."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = 1.0 if not self.cooldown_ratio else min(1.0, (1 - share) / self.cooldown_ratio)
        return self.learning_rate * warm * max(0.0, left)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Figures of held-out texts. nats: per masked token of whole blocks, without and with head.

    lead: exact guesses from the left of a wholly masked block, first position included. drafted:
    those behind the first, which the causal head knows, each by the token before it.
    """

    nats: float
    nats_with_before: float
    lead: float
    drafted: float
    drafted_plain: float


class AdapterRun:
    """Training from where `out`'s state, `init` or nothing stands. masked_tokens: seen so far."""

    def __init__(
        self,
        model: HuggingFaceModel,
        recipe: AdapterRecipe,
        texts: Sequence[Text],
        held_out: Sequence[Text],
        out: Path,
        info: BlockAdapterInfo,
        init: Path | None = None,
        *,
        is_compiled: bool = False,
    ) -> None:
        """is_compiled: see AdapterModule; all texts are then padded to max_tokens."""
        self.recipe, self._texts, self._held_out = recipe, list(texts), list(held_out)
        self._out, self._info = out, info
        self._state_folder = out.with_name(out.name + ".state")
        generator = torch.Generator().manual_seed(recipe.seed)
        self.module = AdapterModule(
            fused_backend(model),
            recipe.rank,
            recipe.sampler_width,
            info.mask_token_id,
            generator,
            is_compiled=is_compiled,
        )
        self._num_columns = recipe.max_tokens if is_compiled else 0
        self._before: dict[str, Any] = {}
        if init is not None:
            first = read_block_adapter(init)
            self.module.load(first)
            self._before = earlier_training(first.info.trained)
        self._average = {name: p.detach().clone() for name, p in self.module.named_parameters()}
        self._optimizer = torch.optim.AdamW(
            self.module.parameters(),
            lr=recipe.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.0,
            fused=self.module.mask_embedding.is_cuda,
        )
        self._orders: dict[int, list[int]] = {}
        self.step, self.masked_tokens, self.seconds = 0, 0, 0.0
        recover(self._state_folder)
        if (self._state_folder / STATE_FILE).is_file():
            self._restore()

    def steps(self, minutes: float, wish: StopWish) -> Any:
        """Train for so many minutes of this start, yielding the metrics of each step."""
        began = last = time.monotonic()
        recipe = self.recipe
        while time.monotonic() - began < 60 * minutes and not wish.is_set():
            generator = torch.Generator().manual_seed(recipe.seed * 1_000_003 + self.step)
            size = recipe.block_sizes[
                int(torch.randint(len(recipe.block_sizes), (), generator=generator))
            ]
            states = make_states(
                self._next_texts(),
                size,
                recipe.rows_per_text // size,
                self._info.mask_token_id,
                recipe.whole_ratio,
                generator,
                self._num_columns,
            )
            try:
                with wish.abandons():
                    loss = self.module.loss(states, recipe.weight_of_first, recipe.decay)
                    loss.total.backward()
            except StepAbandoned:
                self._optimizer.zero_grad()
                return
            norm = torch.nn.utils.clip_grad_norm_(
                self.module.parameters(), recipe.max_gradient_norm
            )
            if not torch.isfinite(norm):
                raise TrainingError(f"the gradient's norm is {norm} at step {self.step}; stopped")
            rate = recipe.rate(self.step, (time.monotonic() - began) / (60 * minutes))
            self._optimizer.param_groups[0]["lr"] = rate
            self._optimizer.step()
            self._optimizer.zero_grad()
            self._follow()
            self.step += 1
            self.masked_tokens += loss.num_masked
            now = time.monotonic()
            self.seconds, last, took = self.seconds + now - last, now, now - last
            yield {
                "step": self.step,
                "block_size": size,
                "nats": float(loss.plain),
                "nats_with_before": float(loss.with_before),
                "learning_rate": rate,
                "masked_tokens": self.masked_tokens,
                "masked_per_second": loss.num_masked / took,
                "seconds": self.seconds,
            }

    def _next_texts(self) -> list[Text]:
        """The texts of this step: each once before any comes again."""
        count, size = self.recipe.num_texts, len(self._texts)
        places = range(self.step * count, (self.step + 1) * count)
        return [self._texts[self._order(place // size)[place % size]] for place in places]

    def _order(self, epoch: int) -> list[int]:
        if epoch not in self._orders:
            self._orders = {epoch: order_of(len(self._texts), self.recipe.seed + epoch)}
        return self._orders[epoch]

    @torch.no_grad()
    def _follow(self) -> None:
        decay = self.recipe.average_decay
        if not self._before:
            # Follows faster while there is little to average over; an adapter to begin from is one.
            decay = min(decay, (1 + self.step) / (10 + self.step))
        names, values = zip(*self.module.named_parameters(), strict=True)
        torch._foreach_lerp_([self._average[name] for name in names], values, 1 - decay)

    @torch.no_grad()
    def measure(self) -> Measurement:
        """Measure the running average on held-out texts."""
        with self._averaged():
            return self._measured()

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """The module with the running average of its values."""
        own = {name: value.detach().clone() for name, value in self.module.named_parameters()}
        self._set(self._average)
        try:
            yield
        finally:
            self._set(own)

    def _set(self, values: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.module.named_parameters():
                parameter.copy_(values[name])

    def _measured(self) -> Measurement:
        generator = torch.Generator().manual_seed(1)
        sums, num_masked, num_blocks = [0.0, 0.0, 0, 0, 0], 0, 0
        mask_id = self._info.mask_token_id
        long_enough = [t for t in self._held_out if len(t.answer_ids) >= LEAD_SIZE]
        texts = (long_enough or self._held_out)[:NUM_MEASURED]
        for first in range(0, len(texts), 4):
            states = make_states(texts[first : first + 4], LEAD_SIZE, 8, mask_id, 1.0, generator)
            hidden = self.module.hidden(states)
            is_target = states.targets != NO_TARGET
            # Behind the end of a text nothing is wanted and any guess is wrong.
            rows = is_target.flatten().nonzero()[:, 0]
            wanted = states.targets.flatten()[rows]
            before = states.before.flatten()[rows].to(hidden.device)
            hidden = hidden.flatten(0, 2)[rows.to(hidden.device)]
            logits = moved = self.module.logits(hidden)
            if self.module.sampler is not None:
                moved = self.module.logits(self.module.moved(hidden, before))
            logits, moved = logits.cpu(), moved.cpu()
            for place, each in enumerate((logits, moved)):
                sums[place] += float(
                    torch.nn.functional.cross_entropy(each, wanted, reduction="sum")
                )
            num_masked += len(rows)
            plain, by_before = (
                torch.zeros(is_target.numel(), dtype=torch.long)
                .scatter(0, rows, (each.argmax(-1) == wanted).long())
                .view(is_target.shape)
                for each in (logits, moved)
            )
            num_blocks += plain.shape[0] * plain.shape[1]
            sums[2] += int(plain.cumprod(-1).sum())
            # By the true token before: right as long as all guesses before it are right.
            sums[3] += int(by_before[..., 1:].cumprod(-1).sum())
            sums[4] += int(plain[..., 1:].cumprod(-1).sum())
        nats, guesses = (each / num_masked for each in sums[:2]), (n / num_blocks for n in sums[2:])
        return Measurement(*nats, *guesses)

    def save(self, metrics: Sequence[dict[str, Any]]) -> None:
        """Write the state, then the running average as an adapter; each whole or not at all.

        metrics: lines since the last save.
        """
        before = ""
        if (self._state_folder / METRICS_FILE).is_file():
            before = (self._state_folder / METRICS_FILE).read_text(encoding="utf-8")
        lines = before + "".join(json.dumps(line) + "\n" for line in metrics)
        state = {
            "recipe": asdict(self.recipe),
            "step": self.step,
            "masked_tokens": self.masked_tokens,
            "seconds": self.seconds,
            "before": self._before,
            "values": self.module.state_dict(),
            "average": self._average,
            "optimizer": self._optimizer.state_dict(),
        }
        trained = {
            **self._info.trained,
            **self._totals(self.step, self.masked_tokens, self.seconds),
            "texts": len(self._texts),
            "recipe": asdict(self.recipe),
            "curve": [*self._before.get("curve", ()), *self._curve(lines)],
        }
        info = replace(self._info, trained=trained)

        def write_state(folder: Path) -> None:
            torch.save(state, folder / STATE_FILE)
            (folder / METRICS_FILE).write_text(lines, encoding="utf-8")

        def write_out(folder: Path) -> None:
            keep_others(self._out, folder)
            with self._averaged():
                write_block_adapter(self.module.adapter(info), folder)

        replace_folder(self._state_folder, write_state)
        replace_folder(self._out, write_out)

    def _totals(self, steps: int, masked_tokens: int, seconds: float) -> dict[str, Any]:
        """Totals of this training and of the one it began from."""
        before = self._before
        return {
            "steps": before.get("steps", 0) + steps,
            "masked_tokens": before.get("masked_tokens", 0) + masked_tokens,
            "minutes": round(before.get("minutes", 0) + seconds / 60, 1),
        }

    def _curve(self, metrics: str) -> list[dict[str, Any]]:
        """The measurements in the lines of METRICS_FILE, each with what was trained until then."""
        lines = [json.loads(line) for line in metrics.splitlines()]
        return [
            self._totals(line["step"], line["masked_tokens"], line["seconds"]) | line["measured"]
            for line in lines
            if line.keys() >= {"measured", "masked_tokens"}
        ]

    def _restore(self) -> None:
        place = self._state_folder / STATE_FILE
        try:
            state = torch.load(place, map_location="cpu", weights_only=True)
            self.module.load_state_dict(state["values"])
            self._optimizer.load_state_dict(state["optimizer"])
            for name, value in state["average"].items():
                self._average[name].copy_(value)
            self.step, self.masked_tokens = state["step"], state["masked_tokens"]
            self.seconds = state["seconds"]
            self._before = state.get("before", self._before)
        except (OSError, RuntimeError, KeyError, ValueError, EOFError) as error:
            reason = " ".join(str(error).split())[:200]
            raise TrainingError(f"{place}: cannot be gone on from: {reason}") from error


def earlier_training(trained: Mapping[str, Any]) -> dict[str, Any]:
    """The training that an adapter has behind it, by its own record: totals and curve."""
    totals = {
        name: trained[name] for name in ("steps", "masked_tokens", "minutes") if name in trained
    }
    return totals | {"curve": list(trained.get("curve", ()))}


def require_out(out: Path) -> None:
    """Raise ArgumentError unless `out` is new, empty, or a folder of a block adapter."""
    is_ours = not out.exists() or (
        out.is_dir() and (is_block_adapter(out) or not any(os.scandir(out)))
    )
    if not is_ours:
        rule = f"must be a new folder, or one with {ADAPTER_INFO}, which is replaced"
        raise ArgumentError("out", rule, str(out))
