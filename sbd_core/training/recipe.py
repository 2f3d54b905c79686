"""A training recipe: every number of a run, read from JSON, checked, frozen."""

import json
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from sbd_core.config import require_integer, require_number
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.tasks import task
from sbd_core.training.sources import require_sources

Stage = Literal["ntp", "sbd", "baseline"]
STAGES: tuple[Stage, ...] = ("ntp", "sbd", "baseline")
RECIPES = Path(__file__).parent / "recipes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One stage of training. Lengths in tokens, rates per step.

    stage: "ntp", a base; "sbd", Set Block Decoding from that base; "baseline", from that base
    on with next-token prediction alone, what "sbd" is to be compared with.
    families: corpus families, drawn uniformly; one named twice comes twice as often.
    data: sources of texts from outside, see sources.py, each drawn as often as a family; with
    one, families may be empty.
    batch_size: examples a step, packed into rows of row_tokens; an example that with its
    masked copy is longer than a row is left out.
    min/max_block_size: k is drawn uniformly from this range each step (stage sbd).
    prompt_weight: what a prompt token counts in the NTP sum.
    masked_copies: masked copies of an answer, as many of them as a row holds; every second one
    masks what the one before it shows. The expected loss is the same, at less noise.
    Away from the paper's loss, all 0 by default (stage sbd): full_mask_share, share of texts
    masked whole; soft_share, how much of the target is the model's own next-token distribution
    where nothing to the right in the block is revealed; decoded_share, share of steps masked as
    decoding would, most certain tokens revealed first. The first paper_loss_steps take the
    paper's loss all the same.
    optimizer: "adamw", or "muon" for the hidden matrices with AdamW for the rest.
    The rate rises over the first warmup_steps and falls to 0 over the last decay_steps; a run
    can be made longer or shorter until the fall begins.
    """

    stage: Stage
    families: tuple[str, ...]
    steps: int
    batch_size: int
    learning_rate: float
    warmup_steps: int
    decay_steps: int
    optimizer: Literal["adamw", "muon"] = "adamw"
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    row_tokens: int = 256
    min_block_size: int = 2
    max_block_size: int = 16
    prompt_weight: float = 0.0
    masked_copies: int = 1
    full_mask_share: float = 0.0
    soft_share: float = 0.0
    decoded_share: float = 0.0
    paper_loss_steps: int = 0
    seed: int = 0
    data: tuple[str, ...] = ()
    # A model made from nothing, when there is no --init.
    vocabulary_size: int = 2048
    tokenizer_examples: int = 20_000
    hidden_size: int = 192
    num_layers: int = 6
    num_heads: int = 6
    feed_forward_size: int = 512
    max_positions: int = 1024

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise ArgumentError("stage", f"must be one of {', '.join(STAGES)}", self.stage)
        if self.optimizer not in ("adamw", "muon"):
            raise ArgumentError("optimizer", "must be one of adamw, muon", self.optimizer)
        for name in ("steps", "batch_size", "row_tokens", "vocabulary_size", "tokenizer_examples"):
            require_integer(name, getattr(self, name), 1)
        for name in ("hidden_size", "num_layers", "num_heads", "feed_forward_size"):
            require_integer(name, getattr(self, name), 1)
        require_integer("masked_copies", self.masked_copies, 1)
        require_integer("warmup_steps", self.warmup_steps, 0)
        require_integer("decay_steps", self.decay_steps, 0)
        require_integer("paper_loss_steps", self.paper_loss_steps, 0)
        require_integer("min_block_size", self.min_block_size, 1)
        require_integer("max_block_size", self.max_block_size, self.min_block_size)
        for name in ("learning_rate", "prompt_weight", "weight_decay", "max_gradient_norm"):
            require_number(name, getattr(self, name), 0)
        for name in ("full_mask_share", "soft_share", "decoded_share"):
            require_number(name, getattr(self, name), 0, 1)
        if self.max_gradient_norm == 0:
            raise ArgumentError("max_gradient_norm", "must be above 0", self.max_gradient_norm)
        require_integer("seed", self.seed, 0)
        require_sources(self.data)
        object.__setattr__(self, "data", tuple(self.data))
        is_list = isinstance(self.families, (list, tuple))
        if not is_list or not (self.families or self.data):
            raise ArgumentError("families", "must be a list of family names", self.families)
        for item in self.families:
            task(item)
        object.__setattr__(self, "families", tuple(self.families))

    def at(self, step: int) -> "Recipe":
        """The recipe of step `step` (from 0): the paper's loss in the first paper_loss_steps."""
        return self if step >= self.paper_loss_steps else self._papers

    def past(self, step: int) -> "Recipe":
        """What the first `step` steps took from it; equal for recipes that agree so far."""
        past = self if step > self.paper_loss_steps else self._papers
        if past == past._papers:
            past = replace(past, paper_loss_steps=0)
        if step <= self.steps - self.decay_steps:
            past = replace(past, steps=max(step, 1), decay_steps=0)
        return past

    @property
    def _papers(self) -> "Recipe":
        """This recipe with the paper's loss from the first step to the last."""
        return replace(self, full_mask_share=0.0, soft_share=0.0, decoded_share=0.0)

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data; read_recipe reads it back."""
        return asdict(self)


def read_recipe(stage: str, path: Path | None, changes: dict[str, Any]) -> Recipe:
    """The recipe in `path` (default: the stage's own), with `changes` on top.

    Raises ArgumentError for a field out of its rule, TrainingError for an unreadable file.
    """
    if stage not in STAGES:
        raise ArgumentError("stage", f"must be one of {', '.join(STAGES)}", stage)
    source = path or RECIPES / f"{stage}.json"
    try:
        data = json.loads(source.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise TrainingError(f"recipe {source}: cannot be read: {error}") from error
    known = {field.name for field in fields(Recipe)}
    if not isinstance(data, dict):
        raise TrainingError(f"recipe {source}: must be a JSON object of the fields of Recipe")
    unknown = sorted(set(data) - known)
    if unknown:
        raise TrainingError(f"recipe {source}: unknown field {unknown[0]}")
    given = {**data, **changes, "stage": stage}
    missing = [
        field.name
        for field in fields(Recipe)
        if field.default is MISSING and field.name not in given
    ]
    if missing:
        raise TrainingError(f"recipe {source}: field {missing[0]} is missing")
    return Recipe(**given)
