"""The settings of a decode. They are immutable, and checked when they are made.

This module needs the standard library only and knows nothing of tensors and models.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from sbd_core.errors import ArgumentError, require_integer, require_number
from sbd_core.solvers import SOLVERS, EntropyBound, Solver

StrategyName = Literal["sbd", "ntp", "verify"]

MAX_BLOCK_SIZE = 1024
"""Largest block size, far beyond any trained one; displays and files can rely on it."""
MAX_ROWS = 41
"""Default row cap of a forward pass of verify."""
NUM_ALTERNATIVES = 7
"""Largest number of alternatives to a drafted token that verify considers."""
PENALTIES = (0.1, 100.0)
"""Smallest and largest repetition penalty; beyond them fp32 logits would lose their order."""


def require_strategy(value: object) -> None:
    """Raise ArgumentError unless `value` is the name of a strategy."""
    names = get_args(StrategyName)
    if value not in names:
        raise ArgumentError("strategy", f"must be one of {', '.join(names)}", value)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reliability of a model's probabilities at masks, measured once and kept with its weights.

    survival: at index i, the mean chance that a draft's tokens 0 to i are all right.
    drafted: number of right draft tokens, divided by the sum of the probabilities of all checked
        draft tokens.
    alternatives: number of right alternatives to draft tokens, divided by the sum of the
        probabilities of all checked alternatives.
    rejected: factor on `survival` for a draft after a rejected token, as the masks of such a draft
        did not see the right token.
    """

    survival: tuple[float, ...] = (0.5, 0.25)
    drafted: float = 1.0
    alternatives: float = 1.0
    rejected: float = 0.8

    def __post_init__(self) -> None:
        if not isinstance(self.survival, (list, tuple)) or not self.survival:
            raise ArgumentError("survival", "must be a list of chances", self.survival)
        for chance in self.survival:
            require_number("survival", chance, 0, 1)
        require_number("drafted", self.drafted, 0)
        require_number("alternatives", self.alternatives, 0)
        require_number("rejected", self.rejected, 0)
        object.__setattr__(self, "survival", tuple(self.survival))

    def survival_to(self, depth: int) -> float:
        """Chance that a draft's tokens 0 to `depth` are all right.

        Beyond the measured depths, each further token multiplies the chance by the ratio of the
        last two measured chances.
        """
        if depth < len(self.survival):
            return self.survival[depth]
        last, before = self.survival[-1], [1.0, *self.survival][-2]
        ratio = last / before if before else 0.0
        return last * ratio ** (depth - len(self.survival) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeConfig:
    """Settings of one decode. Raises ArgumentError naming the field, the rule and the value.

    strategy: "sbd", "ntp" or "verify"; None takes the strategy that the model's folder names.
    solver: (sbd) the rule that picks the positions that a forward pass reveals.
    block_size: number k of positions decoded together (sbd) or drafted together (verify).
    temperature: 0 takes the likeliest token, above 0 samples from softmax(logits / temperature).
    max_rows: (verify) largest number of rows (input positions) in a forward pass after the prefill:
        the last final token, the draft, alternatives to drafted tokens, and masks. 1 is next-token
        prediction.
    top_k_recorded: how many of the likeliest tokens an event holds for each masked position. At 0,
        an event of the strategy ntp or verify holds no masked positions.
    repetition_penalty: factor for tokens that occur earlier in the prompt or the answer. It divides
        positive logits and multiplies negative ones, as in transformers. 1 changes nothing; None
        takes the model's own penalty.
    pinned: (sbd) tokens given in advance, as {offset: token id}; offset 0 is the first new token.
    is_raw_prompt: True reads a str prompt as it is, without the model's chat template.
    allows_untrained_block_size: True allows a block_size that the model was not trained on.
    """

    strategy: StrategyName | None = None
    solver: Solver = field(default_factory=EntropyBound)
    block_size: int = 16
    max_new_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0
    top_k_recorded: int = 5
    pinned: Mapping[int, int] = field(default_factory=dict, hash=False)
    is_raw_prompt: bool = False
    allows_untrained_block_size: bool = False
    repetition_penalty: float | None = None
    max_rows: int = MAX_ROWS

    def __post_init__(self) -> None:
        if self.strategy is not None:
            require_strategy(self.strategy)
        if type(self.solver) not in SOLVERS.values():
            raise ArgumentError("solver", "must be a rule of sbd_core.solvers", self.solver)
        require_integer("block_size", self.block_size, 1, MAX_BLOCK_SIZE)
        require_integer("max_new_tokens", self.max_new_tokens, 1)
        require_number("temperature", self.temperature, 0)
        require_integer("seed", self.seed, 0, 2**63 - 1)
        require_integer("top_k_recorded", self.top_k_recorded, 0, 50)
        for name in ("is_raw_prompt", "allows_untrained_block_size"):
            if not isinstance(getattr(self, name), bool):
                raise ArgumentError(name, "must be True or False", getattr(self, name))
        if self.repetition_penalty is not None:
            require_number("repetition_penalty", self.repetition_penalty, *PENALTIES)
        require_integer("max_rows", self.max_rows, 1)
        self._check_pinned()

    def _check_pinned(self) -> None:
        if not isinstance(self.pinned, Mapping):
            raise ArgumentError("pinned", "must map offsets to token ids", self.pinned)
        if self.pinned and self.strategy not in ("sbd", None):
            raise ArgumentError("pinned", "needs strategy sbd", self.strategy)
        if self.pinned and self.solver.reads_causal_row:
            rule = "needs another solver, as a causal row sees no token pinned after it"
            raise ArgumentError("pinned", rule, self.solver.name)
        for offset, token_id in self.pinned.items():
            require_integer("pinned offset", offset, 0, self.max_new_tokens - 1)
            require_integer(f"pinned[{offset}]", token_id, 0)
        object.__setattr__(self, "pinned", dict(sorted(self.pinned.items())))
