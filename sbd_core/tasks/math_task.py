"""Arithmetic exercises and word problems of one or two steps, solved line by line.

A small model computes reliably only with few digits at a time. So the answer works out larger
numbers digit by digit, always in the same way:

    47 + 86 = 120 + 13 = 133                     add the tens, add the units, add the results
    133 - 86 = 53 - 6 = 47                       subtract the tens, then the units
    12 * 8 = 80 + 16 = 96, 14 * 17 = 140 + 98 = 238
    741 / 3 = (600 + 120 + 21) / 3 = 247         each part gives one digit of the result

The calculations decide the split, whatever the words around them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    Wording,
    draw_wording,
    read_phrasings,
    sentences,
    split_of,
)

NAME = "math"
MAX_RESULT = 999
ANSWER = re.compile(r"The answer is (-?[0-9]{1,6})\.")
NUMBER = re.compile(r"(\w)=(?:(\w(?:\*\w)*)([*+]))?(\d+)\.\.(\d+)")
SUM_RATE, SECOND_FACT_RATE = 0.35, 0.5


@dataclass(frozen=True, slots=True)
class Calculation:
    """A line of the answer: `left` `sign` `right` = `result`."""

    left: int
    sign: str
    right: int
    result: int

    def __str__(self) -> str:
        worked = WORKED[self.sign](self)
        return " = ".join(filter(None, (self.asked, worked, str(self.result))))

    @property
    def asked(self) -> str:
        """The calculation without its result, such as "47 + 86"."""
        return f"{self.left} {self.sign} {self.right}"


def calculate(left: int, sign: str, right: int) -> Calculation | None:
    """Calculate `left` `sign` `right`; None unless the result is whole and from 0 to MAX_RESULT."""
    result = {"+": left + right, "-": left - right, "*": left * right, "/": left // right}[sign]
    is_asked = (sign != "/" or left % right == 0) and 0 <= result <= MAX_RESULT
    return Calculation(left, sign, right, result) if is_asked else None


def places(number: int) -> list[int]:
    """Split a number into hundreds, tens and units, greatest first, without 0: 407 gives [400, 7]."""
    digits = str(number)
    return [int(d) * 10 ** (len(digits) - i - 1) for i, d in enumerate(digits) if d != "0"]


def _added(item: Calculation) -> str:
    columns = [[n // place % 10 * place for n in (item.left, item.right)] for place in (100, 10, 1)]
    terms = [str(sum(column)) for column in columns if any(column)]
    return " + ".join(terms) if sum(map(all, columns)) > 1 else ""


def _taken(item: Calculation) -> str:
    left, rest, steps = item.left, item.right, []
    for place in places(item.right)[:-1]:
        left, rest = left - place, rest - place
        steps.append(f"{left} - {rest}")
    return " = ".join(steps)


def _multiplied(item: Calculation) -> str:
    few, many = sorted((item.left, item.right))
    if few > 10:
        is_plain = 1 in (len(places(few)), len(places(many)))
        return "" if is_plain else f"{item.left * 10} + {item.left * (item.right - 10)}"
    terms = [few * place for place in places(many)]
    return " + ".join(map(str, terms)) if many > 10 > few and len(terms) > 1 else ""


def _divided(item: Calculation) -> str:
    parts = [str(place * item.right) for place in places(item.result)]
    return f"({' + '.join(parts)}) / {item.right}" if len(parts) > 1 and item.result > 10 else ""


WORKED = {"+": _added, "-": _taken, "*": _multiplied, "/": _divided}

DATA = read_phrasings(NAME)
FRAMES = Phrasings.of(DATA["frames"])
"""Phrases around a sum."""
SUMS = {sign: Phrasings.of(data) for sign, data in DATA["sums"].items()}
NAMED = {name: Phrasings.of(data) for name, data in DATA["phrasings"].items()}
# Of a word problem, "facts", in the order of the prompt, and "asked" are names of phrasings;
# "numbers" are ranges to draw from: in "k=2..9 p=2..40 m=k*p+1..90", k is from 2 to 9, and m is k * p
# plus a number from 1 to 90; in "m=k*p*1..90", m would be k * p times such a number. "steps" are
# calculations such as "k * p" and "m - _", of numbers by name, the digit 2, and _ for the result of
# the step before.
PROBLEMS = DATA["problems"]


def generate(random: Random, split: Split) -> Example:
    """Make an arithmetic exercise or a word problem whose calculations belong to `split`."""
    wording = draw_wording(random, split)
    while True:
        make = _sum if random.random() < SUM_RATE else _problem
        prompt, chain = make(random, wording)
        if chain and split_of("; ".join(f"{one.asked} = {one.result}" for one in chain)) == split:
            result = chain[-1].result
            answer = "\n".join([*map(str, chain), f"The answer is {result}."])
            return Example(NAME, prompt, answer, str(result), wording)


def check(example: Example, text: str) -> bool:
    """Whether the last "The answer is N." in `text` has the right number."""
    numbers = ANSWER.findall(text)
    return bool(numbers) and int(numbers[-1]) == int(example.case)


def _sum(random: Random, wording: Wording) -> tuple[str, list[Calculation]]:
    sign = random.choice("+-*/")
    left, right = random.randint(2, 99), random.randint(2, 99)
    if sign == "-":
        left, right = max(left, right), min(left, right)
    if sign in "*/":
        left, right = random.randint(2, 20), random.randint(2, 10)
        left = left * right if sign == "/" else left
    said = f"{{m}} {sign} {{n}}" if random.random() < 0.5 else SUMS[sign].draw(random, wording)
    asked = FRAMES.draw(random, wording).format(said.format(m=left, n=right))
    one = calculate(left, sign, right)
    return asked[0].upper() + asked[1:], [one] if one else []


def _problem(random: Random, wording: Wording) -> tuple[str, list[Calculation]]:
    problem = random.choice(PROBLEMS)
    numbers = draw_numbers(random, problem["numbers"])
    chain = solve(problem["steps"], numbers)
    first, second, third = random.sample(words.NAMES, 3)
    he, him = ("she", "her") if first in words.WOMEN else ("he", "him")
    color, color2 = random.sample(words.COLORS, 2)
    facts = [NAMED[name].draw(random, wording) for name in problem["facts"]]
    begins = [fact.partition(" ")[0] for fact in facts[:2]]
    if "{A}" not in facts[0]:
        facts[0] = facts[0].replace("{him}", "{A}")
    elif begins == ["{A}", "{he}"] and random.random() < SECOND_FACT_RATE:
        facts = [f"{facts[0]} and {facts[1].removeprefix('{he} ')}", *facts[2:]]
    text = ". ".join([*facts, NAMED[problem["asked"]].draw(random, wording)]).format(
        A=first, B=second, C=third, he=he, him=him, color=color, color2=color2,
        thing=random.choice(words.THINGS), **numbers,
    )  # fmt: skip
    return sentences(text), chain


def draw_numbers(random: Random, numbers: str) -> dict[str, int]:
    """Draw a problem's {name: number}. numbers: as in PROBLEMS."""
    drawn: dict[str, int] = {}
    for name, product, sign, low, high in NUMBER.findall(numbers):
        # Small numbers are common in problems, so two draws in five are from the lower end.
        top = int(high) if random.random() < 0.6 else min(int(high), max(int(low) + 3, 12))
        drawn[name] = random.randint(int(low), top)
        if product:
            base = prod(drawn[factor] for factor in product.split("*"))
            drawn[name] = base * drawn[name] if sign == "*" else base + drawn[name]
    return drawn


def solve(steps: Sequence[str], numbers: Mapping[str, int]) -> list[Calculation]:
    """Calculate a problem's steps; return [] if calculate() gives None for one of them."""
    chain: list[Calculation] = []
    for step in steps:
        left, sign, right = step.split()
        known = {**numbers, "_": chain[-1].result if chain else 0, "2": 2}
        one = calculate(known[left], sign, known[right])
        if one is None:
            return []
        chain.append(one)
    return chain
