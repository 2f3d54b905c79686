"""Word problems of fixed calculations, told by facts in free order. Data in the files beside this one.

A puzzle names its numbers, the steps that solve it and, for each fact, several wordings in the
template language of math.telling. Facts and question are told in any order that reads well.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from sbd_core.tasks.base import Wording
from sbd_core.tasks.math.arithmetic import MAX_RESULT, Calculation, Operation, calculate
from sbd_core.tasks.math.events.settings import told_in
from sbd_core.tasks.math.telling import Teller

QUESTION_FIRST_RATE, IF_RATE, WHOLE_RATE, JOIN_RATE = 0.12, 0.12, 0.3, 0.2
NUMBER = re.compile(r"(\w)=(?:(\w(?:\*\w)*)([*+]))?(\d+)\.\.(\d+)")
STEP = re.compile(r"(\S+) ([-+*/]) (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Puzzle:
    """A kind of problem.

    numbers: as "k=2..9 p=2..12 m=k*p+1..50": a range, or a product of earlier numbers plus or
    times a number of a range.
    steps: as "k * p", "m - _": numbers by name or value, "_" what the last step gave, "_1" what
    the first gave.
    facts: for each fact its wordings, each of which names all that the fact needs.
    questions: asked before, after or with the facts.
    whole: wordings of facts and question in one.
    """

    numbers: str
    steps: tuple[str, ...]
    facts: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...]
    whole: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    weight: float = 1
    is_ordered: bool = False
    """Whether the facts must be told in their order."""
    most: int = MAX_RESULT

    def told_in(self, wording: Wording) -> "Puzzle":
        """The puzzle in the wordings that `wording` draws from."""
        facts = tuple(told_in(fact, wording) for fact in self.facts)
        questions, whole = told_in(self.questions, wording), told_in(self.whole, wording)
        assert all(facts), f"every wording of a fact is reserved: {self.facts}"
        assert questions, f"every question is reserved: {self.questions}"
        return replace(self, facts=facts, questions=questions, whole=whole)


def draw_numbers(random: Random, numbers: str) -> dict[str, int]:
    """Values of the `numbers` of a puzzle."""
    found: dict[str, int] = {}
    for name, product, sign, low, high in NUMBER.findall(numbers):
        # Small numbers are common in problems; the whole range is drawn as often.
        top = int(high) if random.random() < 0.6 else min(int(high), max(int(low) + 3, 12))
        value = random.randint(int(low), top)
        if product:
            base = 1
            for factor in product.split("*"):
                base *= found[factor]
            value = base * value if sign == "*" else base + value
        found[name] = value
    return found


def solve(puzzle: Puzzle, numbers: Mapping[str, int]) -> list[Calculation] | None:
    """The calculations of the steps; None where one leaves the limits."""
    chain: list[Calculation] = []

    def value(name: str) -> int:
        if name.startswith("_"):
            return chain[int(name[1:]) - 1 if name[1:] else -1].result
        return int(name) if name.isdigit() else numbers[name]

    for step in puzzle.steps:
        left, operation, right = _parsed(step)
        calculation = calculate(value(left), operation, value(right), puzzle.most)
        if calculation is None:
            return None
        chain.append(calculation)
    return chain


def tell(random: Random, puzzle: Puzzle, numbers: Mapping[str, int], teller: Teller) -> str:
    """The problem in English."""
    named = dict(numbers)
    draw, is_past = random.random(), teller.is_past and random.random() < 0.5
    if puzzle.whole and random.random() < WHOLE_RATE:
        return teller.finish(teller.clause(random.choice(puzzle.whole), named))
    question = random.choice(puzzle.questions)
    if not puzzle.facts:
        return teller.finish(teller.clause(question, named))
    facts = [random.choice(fact) for fact in puzzle.facts]
    if not puzzle.is_ordered:
        random.shuffle(facts)
    if draw < QUESTION_FIRST_RATE and "{P}" not in question:
        asked = teller.clause(question, named, is_past=is_past)
        return teller.finish(f"{asked} {_story(teller, facts, named)}.")
    if draw > 1 - IF_RATE and len(facts) < 4 and not any("." in fact for fact in facts):
        clauses = [teller.clause(fact, named) for fact in facts]
        told = ", ".join(clauses[:-1]) + " and " * (len(clauses) > 1) + clauses[-1]
        return teller.finish(f"if {told}, {teller.clause(question, named, is_past=is_past)}")
    story = _story(teller, facts, named)
    return teller.finish(f"{story}. {teller.clause(question, named, is_past=is_past)}")


def _story(teller: Teller, facts: list[str], numbers: dict[str, int]) -> str:
    told: list[str] = []
    for fact in facts:
        clause = teller.clause(fact, numbers)
        can_join = told and "." not in told[-1] + clause and " and " not in told[-1]
        if can_join and teller.random.random() < JOIN_RATE:
            told[-1] += f" and {clause}"
        else:
            told.append(clause)
    return ". ".join(told)


def _parsed(step: str) -> tuple[str, Operation, str]:
    match = STEP.fullmatch(step)
    assert match is not None, step
    left, operation, right = match.groups()
    return left, operation, right  # type: ignore[return-value]
