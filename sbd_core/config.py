"""The settings of a decode. They are immutable, and checked when they are made.

This module needs the standard library only and knows nothing of tensors and models.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from sbd_core.errors import MOST_INTEGER, ArgumentError, require_integer, require_number
from sbd_core.settings import Setting, check, setting, settings_of, with_whole_numbers
from sbd_core.solvers import SOLVER_PARAMETERS, SOLVERS, EntropyBound, Solver, make_solver

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
    least: chance of being right all over below which a draft is cut short, as rows for masks then
        bring more. A pass of few rows cuts drafts at 0.5 / max_rows.
    """

    survival: tuple[float, ...] = (0.5, 0.25)
    drafted: float = setting(1.0, low=0)
    alternatives: float = setting(1.0, low=0)
    rejected: float = setting(0.8, low=0)
    least: float = setting(0.0, low=0, high=1)

    def __post_init__(self) -> None:
        check(self)
        if not isinstance(self.survival, (list, tuple)) or not self.survival:
            raise ArgumentError("survival", "must be a list of chances", self.survival)
        for chance in self.survival:
            require_number("survival", chance, 0, 1)
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

    strategy: StrategyName | None = setting(
        None,
        label="Strategy",
        help="how to decode",
        unset="what the model's folder names",
        link="strategy",
    )
    solver: Solver = setting(
        factory=EntropyBound,
        label="Solver",
        help="rule of sbd: which positions a forward pass reveals",
        choices=(*SOLVERS,),
        unset=EntropyBound.name,
        link="solver",
        strategies=("sbd",),
    )
    block_size: int = setting(
        16,
        low=1,
        high=MAX_BLOCK_SIZE,
        label="Block size",
        help="how many positions are decoded together",
        words="blocks of {}",
        link="block",
        strategies=("sbd", "verify"),
    )
    max_new_tokens: int = setting(
        256,
        low=1,
        label="Longest answer",
        help="most tokens to write",
        words="at most {} tokens",
        unit="tokens",
        link="tokens",
    )
    temperature: float = setting(0.0, low=0, label="Temperature", help="above 0: sample")
    seed: int = setting(
        0,
        low=0,
        high=MOST_INTEGER,
        label="Seed",
        help="seed of everything random",
        words="seed {}",
        link="seed",
    )
    top_k_recorded: int = setting(5, low=0, high=50, label="Recorded tokens", flag=None)
    pinned: Mapping[int, int] = setting(
        factory=dict,
        hash=False,
        label="Pins",
        help="tokens given in advance, as pairs of an offset in the answer and a token id",
        link="pins",
        flag=None,
        strategies=("sbd",),
    )
    is_raw_prompt: bool = setting(default=False, label="Raw prompt", flag=None)
    allows_untrained_block_size: bool = setting(
        default=False,
        label="Any block size",
        help="allow sizes the model was not trained on",
        flag="any-block-size",
    )
    repetition_penalty: float | None = setting(
        None,
        low=PENALTIES[0],
        high=PENALTIES[1],
        label="Repetition penalty",
        help="above 1 makes tokens that came before less likely; 1 turns it off",
        unset="the model's own",
        words="repetition penalty {}",
        link="penalty",
        step=0.05,
    )
    max_rows: int = setting(
        MAX_ROWS,
        low=1,
        label="Rows at most",
        help="most rows (input positions) of a forward pass of verify",
        words="at most {} rows",
        link="max_rows",
        strategies=("verify",),
    )

    def __post_init__(self) -> None:
        check(self)
        if type(self.solver) not in SOLVERS.values():
            raise ArgumentError("solver", "must be a rule of sbd_core.solvers", self.solver)
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


def decode_settings() -> list[dict[str, Any]]:
    """Every setting of a decode as plain data, with those of the solvers after "solver".

    The keys are those of Setting, and "solvers": the default by solver of those that take the
    setting, None for a setting of every decode. The kind of "pinned" is "pairs".
    """
    special: dict[str, dict[str, Any]] = {
        "solver": {"kind": "choice", "default": EntropyBound.name},
        "pinned": {"kind": "pairs", "default": ()},
    }
    found: list[dict[str, Any]] = []
    for item in settings_of(DecodeConfig):
        found.append({**asdict(item), "solvers": None, **special.get(item.name, {})})
        for own in solver_settings() if item.name == "solver" else ():
            defaults = {
                name: getattr(rule(), own.name)
                for name, rule in SOLVERS.items()
                if own.name in rule.__dataclass_fields__
            }
            found.append({**asdict(own), "strategies": ("sbd",), "solvers": defaults})
    return found


def solver_settings() -> list[Setting]:
    """The settings of the solvers, each once, as the first that takes it declares it."""
    rules = reversed(SOLVERS.values())
    declared = {item.name: item for rule in rules for item in settings_of(rule)}
    return [declared[name] for name in SOLVER_PARAMETERS]


def config_of(values: Mapping[str, Any], *, is_form: bool = False) -> DecodeConfig:
    """Make a config from settings by name; "solver" is a name, its parameters stand beside it.

    None means not given. "pinned" may be a list of pairs, and a whole number a float.
    is_form: whether what a form sends beside is dropped: unknown names, settings of other solvers,
        and 0 or "" for a number that may be None. None for any other setting is then an error.
    Raises ArgumentError naming the setting, also for an unknown one.
    """
    own = {item.name: item for item in settings_of(DecodeConfig)}

    def is_given(name: str, value: Any) -> bool:
        if not is_form:
            return value is not None
        if name not in own or not own[name].is_optional:
            return True
        return value not in ((None, 0, "") if own[name].kind == "number" else (None,))

    given = {name: value for name, value in values.items() if is_given(name, value)}
    given = with_whole_numbers((*own.values(), *solver_settings()), given)
    solver = given.pop("solver", EntropyBound.name)
    parameters = {name: given.pop(name) for name in SOLVER_PARAMETERS if name in given}
    if is_form and isinstance(solver, str) and solver in SOLVERS:
        taken = {item.name for item in settings_of(SOLVERS[solver])}
        parameters = {name: value for name, value in parameters.items() if name in taken}
    for name in given.keys() - own.keys():
        value = given.pop(name)
        if not is_form:
            raise ArgumentError(name, "is no setting of a decode", value)
    if not isinstance(given.get("pinned", {}), Mapping):
        given["pinned"] = _pins(given["pinned"])
    return DecodeConfig(solver=make_solver(solver, parameters), **given)


def _pins(value: Any) -> dict[int, Any]:
    """Make {offset: token id} of a list of pairs; the token ids stay unchecked."""
    is_list = isinstance(value, (list, tuple))
    if not is_list or not all(isinstance(item, (list, tuple)) and len(item) == 2 for item in value):
        raise ArgumentError("pinned", "must be a list of offsets and token ids", value)
    pinned: dict[int, Any] = {}
    for offset, token_id in value:
        require_integer("pinned offset", offset, 0)
        if offset in pinned:
            raise ArgumentError("pinned", "must name each position once", offset)
        pinned[offset] = token_id
    return pinned
