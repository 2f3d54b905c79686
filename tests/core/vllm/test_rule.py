"""The rule on tensors against the engine's solvers, all requests of a step in one call."""

import random
from dataclasses import replace

import pytest
import torch

from sbd_core.errors import ArgumentError
from sbd_core.solvers import (
    SOLVERS,
    CausalFirst,
    ConfidenceScores,
    EntropyBound,
    Factor,
    LeftToRight,
    Random,
    TopK,
    reveal_order_from_scores,
)
from sbd_core.vllm.rule import RULES, Measures, Rule, reveals, solver_of

GRID, BLOCK = 64, 9
NEED_MORE = {Random, CausalFirst}


def some_solver(draw: random.Random):
    rule = SOLVERS[draw.choice(list(RULES))]
    if rule in (TopK, LeftToRight):
        by = {"by": draw.choice(["confidence", "entropy", "margin"])} if rule is TopK else {}
        return rule(k=draw.randint(1, BLOCK + 1), **by)
    # On the grid, so that sums and probabilities meet the bound exactly.
    return rule(draw.randint(0, GRID) / GRID)


def some_scores(draw: random.Random) -> ConfidenceScores:
    """Multiples of 1/64, with ties and zeros; their sums are exact."""
    top = draw.choice([2, 8, 64, 200])
    return ConfidenceScores(
        probability=[draw.randint(1, GRID) / GRID for _ in range(BLOCK)],
        margin=[draw.randint(0, GRID) / GRID for _ in range(BLOCK)],
        entropy=[draw.randint(0, top) / GRID for _ in range(BLOCK)],
    )


def chosen(scores, is_masked, solvers) -> list[list[int]]:
    """The offsets that reveals() chooses for each request of one step."""
    measures = Measures(
        token_ids=torch.zeros(len(scores), BLOCK, dtype=torch.long),
        entropy=torch.tensor([each.entropy for each in scores]),
        confidence=torch.tensor([each.probability for each in scores]),
        margin=torch.tensor([each.margin for each in scores]),
    )
    rules = [Rule.of(solver) for solver in solvers]
    is_revealed = reveals(
        measures,
        is_masked,
        torch.tensor([rule.ranking for rule in rules]),
        torch.tensor([rule.stop for rule in rules]),
        torch.tensor([rule.value for rule in rules], dtype=torch.float64),
    )
    return [row.nonzero()[:, 0].tolist() for row in is_revealed]


def test_every_rule_reveals_what_its_solver_reveals_whatever_stands_beside_it() -> None:
    draw = random.Random(0)
    solvers = [some_solver(draw) for _ in range(3000)]
    scores = [some_scores(draw) for _ in solvers]
    is_masked = torch.tensor([[draw.random() < 0.7 for _ in range(BLOCK)] for _ in solvers])
    is_masked[7] = False
    expected = []
    for solver, own, row in zip(solvers, scores, is_masked, strict=True):
        masked = row.nonzero()[:, 0].tolist()
        order = reveal_order_from_scores(solver, own, masked) if masked else []
        expected.append(sorted(order))
    assert {solver.name for solver in solvers} == set(RULES)
    assert expected[7] == []
    assert chosen(scores, is_masked, solvers) == expected


def test_a_step_without_a_rule_by_margin_needs_no_margins() -> None:
    draw = random.Random(1)
    scores, is_masked = some_scores(draw), torch.ones(1, BLOCK, dtype=torch.bool)
    measures = Measures(
        token_ids=torch.zeros(1, BLOCK, dtype=torch.long),
        entropy=torch.tensor([scores.entropy]),
        confidence=torch.tensor([scores.probability]),
        margin=torch.tensor([scores.margin]),
    )
    rule = Rule.of(TopK(k=3))
    numbers = [torch.tensor([each]) for each in (rule.ranking, rule.stop, rule.value)]
    with_margin = reveals(measures, is_masked, *numbers)
    assert with_margin.sum() == 3
    assert torch.equal(reveals(replace(measures, margin=None), is_masked, *numbers), with_margin)


def test_all_solvers_are_rules_but_those_that_need_more_than_a_block() -> None:
    assert set(RULES) == set(SOLVERS) - {solver.name for solver in NEED_MORE}
    for solver in NEED_MORE:
        with pytest.raises(ArgumentError, match=f"solver: must be .*; got '{solver.name}'"):
            Rule.of(solver())


@pytest.mark.parametrize(
    ("arguments", "solver"),
    [
        (None, None),
        ({"session_id": "a"}, None),
        ({"gamma": 1}, EntropyBound(1)),
        ({"solver": "top-k", "k": 3, "by": "margin"}, TopK(3, "margin")),
        ({"solver": "factor", "session_id": "a"}, Factor()),
    ],
)
def test_a_requests_arguments_name_its_solver(arguments, solver) -> None:
    assert solver_of(arguments) == solver


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gama": 1}, "gama: is no argument of a request; there are solver, gamma, .*; got 1"),
        ({"diffusion_canvas_length": 4}, "diffusion_canvas_length: is no argument of a request"),
        ({"gamma": -1}, "gamma: must be a finite number >= 0; got -1"),
        ({"gamma": float("nan")}, "gamma: must be a finite number >= 0; got nan"),
        ({"gamma": [0.1]}, "gamma: must be a finite number"),
        ({"solver": "best"}, "solver: must be one of .*; got 'best'"),
        ({"solver": "random"}, "solver: must be one of .* where vLLM decodes; got 'random'"),
        ({"solver": "top-k", "gamma": 1}, "gamma: is not a parameter of top-k"),
        ({"solver": "top-k", "k": 2.0}, "k: must be a whole number"),
    ],
)
def test_wrong_arguments_of_a_request_are_refused_by_name(arguments, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        solver_of(arguments)
