"""What a decode is asked to do: frozen settings that validate themselves.

Standard library only. Knows nothing of tensors, models or how a rule is carried out.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from sbd_core.errors import ArgumentError

Strategy = Literal["sbd", "ntp", "verify"]
Measure = Literal["confidence", "entropy", "margin"]

MAX_BLOCK_SIZE = 1024
"""Far beyond any trained size; what shows or stores a block can count on it."""
MAX_PREDRAFTS = 16
"""More than a draft of the default block size has tokens."""


def require_number(argument: str, value: object, low: float, high: float = math.inf) -> None:
    """Raise ArgumentError unless `value` is a finite int or float in [low, high]."""
    rule = f"must be a finite number >= {low:g}" + ("" if high == math.inf else f" and <= {high:g}")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # NaN fails every comparison; infinities and huge ints lie beyond the largest float.
    top = min(high, sys.float_info.max)
    if not is_number or not low <= value <= top:  # type: ignore[operator]
        raise ArgumentError(argument, rule, value)


def require_integer(argument: str, value: object, low: int, high: int | None = None) -> None:
    """Raise ArgumentError unless `value` is an int (not bool) in [low, high]."""
    rule = f"must be a whole number >= {low}" + ("" if high is None else f" and <= {high}")
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):  # type: ignore[operator]
        raise ArgumentError(argument, rule, value)


@dataclass(frozen=True, slots=True)
class EntropyBound:
    """Eq. 8: lowest entropies first; all but the largest revealed sum to at most gamma nats."""

    gamma: float = 0.1

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class EntropyBoundByConfidence:
    """Eq. 18: highest top probability first; sum of H minus max of H at most gamma nats."""

    gamma: float = 0.1

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class EntropyBoundByMargin:
    """Eq. 18: highest margin p1 - p2 first; sum of H minus max of H at most gamma nats."""

    gamma: float = 0.1

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class EntropyBoundFromLeft:
    """The leftmost masked position, and the lowest entropies that sum to at most gamma nats.

    Stricter than Eq. 18, which lets the largest of all go uncounted: here only the leftmost, the
    one that a causal model can tell best, may be unsure. Gamma 0 is left to right. Ours.
    """

    gamma: float = 0.35

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class EntropyThreshold:
    """Every position with entropy below gamma nats, else the single lowest."""

    gamma: float = 0.1

    def __post_init__(self) -> None:
        require_number("gamma", self.gamma, 0)


@dataclass(frozen=True, slots=True)
class ConfidenceThreshold:
    """Every position with top probability at least tau, else the single highest (Fast-dLLM)."""

    tau: float = 0.9

    def __post_init__(self) -> None:
        require_number("tau", self.tau, 0, 1)


@dataclass(frozen=True, slots=True)
class Factor:
    """Confidence descending; largest n with (n + 1)(1 - c_n) < factor, up to the first failure."""

    factor: float = 1.0

    def __post_init__(self) -> None:
        require_number("factor", self.factor, 0)


@dataclass(frozen=True, slots=True)
class TopK:
    """The k best masked positions by confidence, lowest entropy or margin (LLaDA, Dream)."""

    k: int = 2
    by: Measure = "confidence"

    def __post_init__(self) -> None:
        require_integer("k", self.k, 1)
        if self.by not in get_args(Measure):
            raise ArgumentError("by", f"must be one of {', '.join(get_args(Measure))}", self.by)


@dataclass(frozen=True, slots=True)
class Random:
    """k masked positions drawn uniformly (LLaDA)."""

    k: int = 2

    def __post_init__(self) -> None:
        require_integer("k", self.k, 1)


@dataclass(frozen=True, slots=True)
class LeftToRight:
    """The first k masked positions (SDAR)."""

    k: int = 2

    def __post_init__(self) -> None:
        require_integer("k", self.k, 1)


Solver = (
    EntropyBound
    | EntropyBoundByConfidence
    | EntropyBoundByMargin
    | EntropyBoundFromLeft
    | EntropyThreshold
    | ConfidenceThreshold
    | Factor
    | TopK
    | Random
    | LeftToRight
)

SOLVERS: dict[str, type[Solver]] = {
    "entropy-bound": EntropyBound,
    "entropy-bound-by-confidence": EntropyBoundByConfidence,
    "entropy-bound-by-margin": EntropyBoundByMargin,
    "entropy-bound-from-left": EntropyBoundFromLeft,
    "entropy-threshold": EntropyThreshold,
    "confidence-threshold": ConfidenceThreshold,
    "factor": Factor,
    "top-k": TopK,
    "random": Random,
    "left-to-right": LeftToRight,
}
SOLVER_TITLES = {
    "entropy-bound": "Entropy bound (Eq. 8)",
    "entropy-bound-by-confidence": "Entropy bound by confidence",
    "entropy-bound-by-margin": "Entropy bound by margin",
    "entropy-bound-from-left": "Entropy bound from the left",
    "entropy-threshold": "Entropy threshold",
    "confidence-threshold": "Confidence threshold",
    "factor": "Factor",
    "top-k": "Top-k",
    "random": "Random",
    "left-to-right": "Left to right",
}
"""As a reader meets them: in the form, the charts, the help."""
SOLVER_PARAMETERS = tuple(
    dict.fromkeys(parameter.name for rule in SOLVERS.values() for parameter in fields(rule))
)
"""What any of them takes."""
LETTERS = {"gamma": "γ", "tau": "τ"}
"""Of parameters that the page shows by a letter."""


def solver_name(solver: Solver) -> str:
    """The name of a solver's rule, a key of SOLVERS."""
    return next(name for name, rule in SOLVERS.items() if rule is type(solver))


def solver_parameters(solver: Solver) -> dict[str, Any]:
    """The fields of a solver by name."""
    return {item.name: getattr(solver, item.name) for item in fields(solver)}


def solver_words(solver: Solver) -> str:
    """A solver for a reader: its title and its parameters."""
    parameters = [
        f"{LETTERS.get(name, name)} {value}" for name, value in solver_parameters(solver).items()
    ]
    return ", ".join([SOLVER_TITLES[solver_name(solver)], *parameters])


def make_solver(name: str, parameters: Mapping[str, Any]) -> Solver:
    """The solver called `name` with `parameters`; ArgumentError names what does not fit."""
    if name not in SOLVERS:
        raise ArgumentError("solver", f"must be one of {', '.join(SOLVERS)}", name)
    rule = SOLVERS[name]
    known = [item.name for item in fields(rule)]
    for parameter, value in parameters.items():
        if parameter not in known:
            raise ArgumentError(
                parameter,
                f"is not a parameter of {name}, which takes {', '.join(known) or 'none'}",
                value,
            )
    return rule(**parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeConfig:
    """One decode. Raises ArgumentError naming the field, the rule and the value received.

    block_size: positions k decoded together (sbd) or drafted together (verify).
    num_predrafts: (verify) drafts made ahead in each forward pass, for the case that one of the
    least sure drafted tokens is rejected; more rows, fewer forward passes.
    draft_threshold: (verify) a draft goes on while the product of its tokens' probabilities is at
    least this.
    temperature: 0 is argmax, above 0 samples from the softmax of logits / temperature.
    pinned: {offset: token id} of given future positions, offset 0 the first new token; sbd only.
    is_raw_prompt: True leaves a str prompt as it is even if the model has a chat template.
    allows_untrained_block_size: True lets block_size leave the range the model was trained on.
    """

    strategy: Strategy = "sbd"
    solver: Solver = EntropyBound()
    block_size: int = 16
    max_new_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0
    top_k_recorded: int = 5
    pinned: Mapping[int, int] = field(default_factory=dict, hash=False)
    is_raw_prompt: bool = False
    allows_untrained_block_size: bool = False
    num_predrafts: int = 0
    draft_threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            names = ", ".join(get_args(Strategy))
            raise ArgumentError("strategy", f"must be one of {names}", self.strategy)
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
        require_integer("num_predrafts", self.num_predrafts, 0, MAX_PREDRAFTS)
        if self.num_predrafts and self.strategy != "verify":
            rule = f"must be 0 but for strategy verify, and this is {self.strategy}"
            raise ArgumentError("num_predrafts", rule, self.num_predrafts)
        require_number("draft_threshold", self.draft_threshold, 0, 1)
        self._check_pinned()

    def _check_pinned(self) -> None:
        if not isinstance(self.pinned, Mapping):
            raise ArgumentError("pinned", "must map offsets to token ids", self.pinned)
        if self.pinned and self.strategy != "sbd":
            raise ArgumentError("pinned", "needs strategy sbd", self.strategy)
        for offset, token_id in self.pinned.items():
            require_integer("pinned offset", offset, 0, self.max_new_tokens - 1)
            require_integer(f"pinned[{offset}]", token_id, 0)
        object.__setattr__(self, "pinned", dict(sorted(self.pinned.items())))
