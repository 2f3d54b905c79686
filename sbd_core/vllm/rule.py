"""The solvers as one function of tensors, which decides for all requests of a step at once.

A request's solver is three numbers: a ranking, a stop rule and the value that the stop rule
compares with. Imports no vLLM.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.solvers import (
    SOLVER_PARAMETERS,
    SOLVERS,
    Solver,
    Stop,
    make_solver,
    solver_parameters,
)

RANKINGS = ("entropy", "confidence", "margin", "left", "leftmost, then entropy")
STOPS: tuple[Stop, ...] = get_args(Stop)
RULES = [
    name
    for name, solver in SOLVERS.items()
    if solver().ranked_by in RANKINGS and not solver.reads_causal_row
]
"""Names of the solvers that need one block's pass alone: no random numbers and no causal row."""

OF_VLLM = ("kv_transfer_params", "ec_transfer_params", "session_id")
"""Arguments that vLLM itself adds to those of a request."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A solver as numbers: indices in RANKINGS and STOPS, and the value of its first setting."""

    ranking: int
    stop: int
    value: float

    @classmethod
    def of(cls, solver: Solver) -> "Rule":
        """The rule of a solver. Raises ArgumentError for one that is not in RULES."""
        if solver.name not in RULES:
            rule = f"must be one of {', '.join(RULES)} where vLLM decodes"
            raise ArgumentError("solver", rule, solver.name)
        value = next(iter(solver_parameters(solver).values()))
        return cls(RANKINGS.index(solver.ranked_by), STOPS.index(solver.stop), float(value))


def solver_of(arguments: Mapping[str, Any] | None) -> Solver | None:
    """The solver that a request's arguments name; None if they name none. Raises ArgumentError.

    arguments: {"gamma": 0.35}, {"solver": "top-k", "k": 4}, ...; the solver is entropy-bound if
        there is only a setting.
    """
    own = {name: value for name, value in (arguments or {}).items() if name not in OF_VLLM}
    for name, value in own.items():
        if name not in ("solver", *SOLVER_PARAMETERS):
            known = ", ".join(("solver", *SOLVER_PARAMETERS))
            raise ArgumentError(name, f"is no argument of a request; there are {known}", value)
    if not own:
        return None
    solver = make_solver(own.pop("solver", "entropy-bound"), own)
    Rule.of(solver)
    return solver


@dataclass(frozen=True, slots=True)
class Measures:
    """Best token, entropy (nats), top probability and margin of positions, each (requests, block).

    margin: None if no request's rule ranks by it.
    """

    token_ids: Tensor
    entropy: Tensor
    confidence: Tensor
    margin: Tensor | None


def reveals(
    measures: Measures, is_masked: Tensor, ranking: Tensor, stop: Tensor, value: Tensor
) -> Tensor:
    """Choose the positions that a pass reveals (Eq. 8 for the default solver), as select() does.

    is_masked: bool (requests, block), True where no token is known yet.
    ranking, stop, value: the requests' rules, each (requests,); see Rule.
    Returns bool (requests, block), True at least once in every row of is_masked that has a True.
    """
    # In fp64, in which the solvers add up Python's numbers.
    entropy, confidence = measures.entropy.double(), measures.confidence.double()
    margin = confidence if measures.margin is None else measures.margin.double()
    places = torch.arange(entropy.shape[1], device=entropy.device).expand_as(entropy)
    leftmost = is_masked & (is_masked.cumsum(1) == 1)
    from_left = entropy.masked_fill(leftmost, -torch.inf)
    keys = torch.stack([entropy, -confidence, -margin, places.double(), from_left])
    rows = torch.arange(len(entropy), device=entropy.device)
    key = keys[ranking, rows].masked_fill(~is_masked, torch.inf)
    order = key.argsort(dim=1, stable=True)
    entropy, confidence = entropy.gather(1, order), confidence.gather(1, order)
    largest = entropy.cummax(1).values.roll(1, 1)
    others = torch.minimum(entropy, largest).masked_fill(places == 0, 0.0)
    after_first = entropy.masked_fill(places == 0, 0.0)
    bound = value[:, None]
    goes_on = torch.stack(
        [
            others.cumsum(1) <= bound,
            after_first.cumsum(1) <= bound,
            entropy < bound,
            confidence >= bound,
            (places + 2) * (1 - confidence) < bound,
            places < bound,
        ]
    )[stop, rows]
    # The first position always comes; the first that breaks the rule ends the prefix.
    is_kept = (goes_on | (places == 0)).cumprod(1).bool()
    is_kept &= places < is_masked.sum(1, keepdim=True)
    return torch.zeros_like(is_masked).scatter(1, order, is_kept)
