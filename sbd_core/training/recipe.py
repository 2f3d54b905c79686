"""Training recipes, which decide what a run learns: settings, recipe files, learning rates.

A recipe file may name another recipe as its `base`; it then holds only the fields that differ.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from sbd_core.errors import ArgumentError, TrainingError, require_integer, require_number
from sbd_core.files import read_file
from sbd_core.json_node import json_of
from sbd_core.settings import check, setting

Stage = Literal["ntp", "sbd"]
SOURCE = re.compile(r"file:.+|hf:[^:\s]+(:[^:\s]+)?", re.DOTALL)
SOURCE_RULE = "must be a list of sources, each file:PATH or hf:NAME[:SPLIT]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of one stage of training. Lengths are in tokens.

    stage: "ntp" for next-token prediction alone, "sbd" for Set Block Decoding.
    tasks: weight of each task when examples are drawn; each source in `data` has weight 1.
    minutes: length of the run; with 0, `steps` is the length. With minutes, decay_steps / steps is
    the share of the time in which the learning rate falls.
    warmup_steps, decay_steps: the learning rate rises in the first warmup_steps, and falls towards
    0 in the last decay_steps.
    optimizer: "adamw", or "muon" for the hidden matrices with AdamW for all other weights.
    lora_rank: rank of a LoRA adapter for an existing model, on all linear layers but the output
    layer. The adapter is scaled by lora_alpha / lora_rank. In stage sbd the mask token's embedding
    is trained too. With a lora_rank of 0, all weights are trained.
    distils_base: True takes the base model's probabilities as the targets of an adapter's NTP loss,
    in place of the tokens of the text, to preserve the base model's answers.
    row_tokens: greatest length of a packed sequence, which holds examples with their masked copies.
    A longer example is left out. A block adapter's texts are not packed: each is cut after
    row_tokens.
    full_mask_ratio: probability that all of an answer, or for a block adapter all of a block, is
    masked (stage sbd); 0 in the paper.
    paper_loss_steps: number of steps at the start that use 0 as full_mask_ratio.
    data: sources of texts, see data.py. `tasks` may be empty if there is a source.
    adapter_rank: rank of a block adapter (models/block_adapter.py), which sbd train-adapter trains;
    0 for other training. The settings after it are a block adapter's.
    block_sizes: sizes from which each step draws its block size.
    """

    stage: Stage = setting()
    tasks: Mapping[str, float]
    steps: int = setting(low=1, help="number of steps")
    batch_size: int = setting(low=1, help="examples per step")
    learning_rate: float = setting(help="rate after the warm-up")
    warmup_steps: int = setting()
    decay_steps: int = setting()
    minutes: float = setting(0.0, help="time to train, decay included, instead of steps")
    optimizer: Literal["adamw", "muon"] = setting("adamw")
    weight_decay: float = setting(0.0)
    max_gradient_norm: float = setting(1.0)
    lora_rank: int = setting(0, flag="lora", help="train an adapter of this rank; 0: none")
    lora_alpha: float = setting(32.0)
    distils_base: bool = False
    row_tokens: int = setting(256, low=1, help="longest packed row, in tokens")
    min_block_size: int = setting(2, low=1, help="smallest block to train on")
    max_block_size: int = setting(16, low=1, help="largest block to train on")
    prompt_weight: float = setting(
        0.0, help="weight of prompt tokens in the next-token loss; 0: the loss is on answers only"
    )
    full_mask_ratio: float = setting(
        0.0, high=1, flag="whole-ratio", help="share of blocks masked whole"
    )
    paper_loss_steps: int = setting(0)
    seed: int = setting(0, help="seed of everything random")
    data: tuple[str, ...] = ()
    # A model made from nothing, when there is no --init.
    tokenizer: str = setting(
        "", help="folder whose tokenizer a new model takes, instead of a trained one"
    )
    vocabulary_size: int = setting(2048, low=1)
    tokenizer_examples: int = setting(20_000, low=1)
    hidden_size: int = setting(256, low=1)
    num_layers: int = setting(6, low=1)
    num_heads: int = setting(4, low=1)
    feed_forward_size: int = setting(704, low=1)
    max_positions: int = 1024
    # A block adapter.
    adapter_rank: int = setting(0, flag="rank", help="rank of every low-rank product")
    sampler_width: int = setting(1024, help="width of the sampler head; 0: none")
    rows_per_text: int = setting(256, flag="rows", help="block rows per text")
    block_sizes: tuple[int, ...] = (4, 8, 16)
    first_weight: float = setting(0.5, help="weight of a block's first mask")
    loss_decay: float = setting(
        0.9, high=1, flag="decay", help="decay of the loss weight per masked position"
    )
    average_decay: float = setting(
        0.998, high=1, flag="averaging", help="decay a step of the running average, which is saved"
    )

    def __post_init__(self) -> None:
        check(self)
        require_integer("max_block_size", self.max_block_size, self.min_block_size)
        object.__setattr__(self, "block_sizes", tuple(self.block_sizes))
        for size in self.block_sizes:
            require_integer("block_sizes", size, 2)
        require_integer("rows_per_text", self.rows_per_text, max(self.block_sizes, default=1))
        if self.adapter_rank and (self.lora_rank or not self.block_sizes):
            rule = "must be 0 with lora_rank, or without block_sizes"
            raise ArgumentError("adapter_rank", rule, self.adapter_rank)
        if self.max_gradient_norm == 0:
            raise ArgumentError("max_gradient_norm", "must be above 0", self.max_gradient_norm)
        if self.lora_rank and self.optimizer != "adamw":
            rule = "must be 0 unless optimizer is adamw"
            raise ArgumentError("lora_rank", rule, self.lora_rank)
        if self.distils_base and not self.lora_rank:
            rule = "must be false without lora_rank"
            raise ArgumentError("distils_base", rule, self.distils_base)
        if self.minutes and self.decay_steps >= self.steps:
            rule = "must be fewer than steps, as --minutes takes the ratio of the two"
            raise ArgumentError("decay_steps", rule, self.decay_steps)
        is_list = isinstance(self.data, Sequence) and not isinstance(self.data, str)
        for source in self.data if is_list else [self.data]:
            if not (is_list and isinstance(source, str) and SOURCE.fullmatch(source)):
                raise ArgumentError("data", SOURCE_RULE, source)
        object.__setattr__(self, "data", tuple(self.data))
        object.__setattr__(self, "tasks", task_weights(self.tasks, may_be_empty=bool(self.data)))

    @property
    def decay_ratio(self) -> float:
        """Share of the run in which the learning rate falls."""
        return min(1.0, self.decay_steps / self.steps)

    def at(self, step: int) -> "Recipe":
        """The recipe for `step`, counted from 0: before paper_loss_steps, full_mask_ratio is 0."""
        return self if step >= self.paper_loss_steps else replace(self, full_mask_ratio=0.0)


def task_weights(tasks: object, *, may_be_empty: bool) -> dict[str, float]:
    """Read the weights of tasks; return {task name: weight} for weights above 0, in given order.

    tasks: {task name: weight}. may_be_empty: if False, at least one weight must be above 0.
    Raises ArgumentError for an unknown task, a negative weight or another type.
    """
    from sbd_core.tasks import task  # here, as every command lists its flags

    rule = 'must be weights of tasks, as {"math": 3, "json": 1}'
    if not isinstance(tasks, Mapping):
        raise ArgumentError("tasks", rule, tasks)
    for name, weight in tasks.items():
        task(name)
        require_number(f"tasks {name}", weight, 0)
    weights = {name: float(weight) for name, weight in tasks.items() if weight > 0}
    if not weights and not may_be_empty:
        raise ArgumentError("tasks", f"{rule}, or empty with --data", tasks)
    return weights


RECIPES = Path(__file__).parent / "recipes"
SHIPPED = ("ntp", "sbd", "baseline")
"""Values of --stage: the two stages, and more steps of "ntp" to compare "sbd" with."""
NAMED = (*SHIPPED, "finetune", "lora", "adapter")
"""Names for --recipe and `base`: those in SHIPPED; "finetune" and "lora", which train an existing
model on your data; "adapter", with which sbd train-adapter begins.
"""


def read_recipe(stage: str, path: Path | None, changes: dict[str, Any]) -> Recipe:
    """Read a recipe. path: a file or a name in NAMED; None reads the recipe named `stage`.

    changes: {field: value} to use in place of the file's values.
    Raises ArgumentError for an invalid value, TrainingError for a file that cannot be read.
    """
    if stage not in SHIPPED:
        raise ArgumentError("stage", f"must be one of {', '.join(SHIPPED)}", stage)
    is_named = path is not None and str(path) in NAMED and not path.is_file()
    source = RECIPES / f"{path if is_named else stage}.json" if is_named or not path else path
    given = {**read_fields(source), **changes, "stage": "ntp" if stage == "baseline" else stage}
    for item in fields(Recipe):
        if item.default is MISSING and item.name not in given:
            hint = f'add it, or "base": "{stage}" for the shipped values'
            raise TrainingError(f"recipe {source}: field {item.name} is missing; {hint}")
    return Recipe(**given)


def read_fields(source: Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Read the fields that a recipe file and its base set; they are not checked.

    above: the files that build on this file. Raises TrainingError.
    """
    if source.resolve() in above:
        raise TrainingError(f"recipe {source}: is its own base")
    try:
        data = json_of(read_file(source).decode())
    except (OSError, ValueError) as error:
        raise TrainingError(f"recipe {source}: cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise TrainingError(f"recipe {source}: must be a JSON object of the fields of Recipe")
    base = data.pop("base", None)
    unknown = sorted(set(data) - {item.name for item in fields(Recipe)})
    if unknown:
        raise TrainingError(f"recipe {source}: unknown field {unknown[0]}; take it out")
    if base is None:
        return data
    if not isinstance(base, str) or not base:
        raise TrainingError(f"recipe {source}: base must name a recipe or a file beside it")
    under = RECIPES / f"{base}.json" if base in NAMED else source.parent / base
    return {**read_fields(under, (*above, source.resolve())), **data}


LEAST_LEFT = 1e-3
"""Least share of a timed run that counts as left, so that no step has a rate of 0."""


def progress(recipe: Recipe, step: int, seconds: float) -> float:
    """Share of the run that is over at `step` after `seconds`; it may exceed 1 at the end."""
    return seconds / (60 * recipe.minutes) if recipe.minutes else step / recipe.steps


def learning_rate(recipe: Recipe, step: int, seconds: float = 0.0) -> float:
    """Learning rate of `step`, from 0, after `seconds` of training: linear rise, plateau, fall."""
    risen = min(1.0, (step + 1) / max(1, recipe.warmup_steps))
    if recipe.minutes:
        behind = progress(recipe, step, seconds)
        left = max(LEAST_LEFT, 1 - behind) / recipe.decay_ratio if recipe.decay_ratio else 1.0
    else:
        left = (recipe.steps - step) / (recipe.decay_steps + 1)
    return recipe.learning_rate * min(risen, left, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisConfig:
    """Settings of a synthesis, lengths in tokens. Raises ArgumentError for an invalid value."""

    num_examples: int = setting(25_000, low=1, flag="examples", help="number of lines to write")
    structured_ratio: float = setting(
        0.25, high=1, help="share of requests for lists, steps, code, tables and the like"
    )
    repetition_penalty: float = setting(1.1, low=1, help="for answers, as in transformers")
    max_answer_tokens: int = setting(160, help="longest answer; 0: no answers")
    batch_size: int = setting(128, low=1, help="most texts decoded together")
    seed: int = setting(0, help="seed of the requests")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings of a run that are not part of the recipe; the result changes by rounding only.

    precision, attention: for "auto" see computes_in_bf16() and chosen_attention().
    num_workers: for None see chosen_workers().
    is_checkpointed: True keeps only the input of each layer and runs the layer again in the
    backward pass.
    num_parts: number of parts of a batch, each with its own forward and backward pass; gradients
    add up. On a CPU, parts of more than PART_TOKENS tokens are split further.
    """

    save_every: int = setting(1000, low=1, help="steps between saves")
    save_minutes: float = setting(10.0, help="minutes between saves")
    is_checkpointed: bool = setting(
        default=False, flag="gradient-checkpointing", help="less memory, a third more time"
    )
    num_parts: int = setting(
        1,
        low=1,
        flag="accumulate",
        help="less memory: split each batch into so many forward and backward passes",
    )
    is_compiled: bool = setting(default=False, flag="compile", help="use torch.compile")
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", help="auto is bf16 where the processor multiplies it"
    )
    attention: Literal["auto", "eager", "sdpa", "flex_attention"] = setting(
        "auto", help="how attention is computed"
    )
    num_workers: int | None = setting(
        None, flag="workers", help="processes that build batches", unset="0 on a CPU"
    )

    def __post_init__(self) -> None:
        check(self)
