"""Calculations as they are worked out in an answer, and numbers to calculate with.

A small model is right where each thing it writes follows from few digits, so what takes several
digits is worked out by places, always in the same way:

    47 + 86 = 120 + 13 = 133                     places added, then put together
    133 - 86 = 53 - 6 = 47                       greatest place taken away first
    12 * 8 = 80 + 16 = 96, 14 * 17 = 140 + 98 = 238
    741 / 3 = (600 + 120 + 21) / 3 = 247         parts that each give one digit

One step suffices, and one is written, where at most one place is touched: 47 + 8 = 55.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

Operation = Literal["+", "-", "*", "/"]
OPERATIONS: tuple[Operation, ...] = ("+", "-", "*", "/")
MAX_RESULT = 999
MAX_PRODUCT = 9999
MAX_TABLE = 20
MAX_DIGIT = 9


@dataclass(frozen=True, slots=True)
class Calculation:
    """`left` `operation` `right` = `result`: a line of the answer."""

    left: int
    operation: Operation
    right: int
    result: int

    def __str__(self) -> str:
        steps = self.steps()
        return " = ".join([self.asked, steps, str(self.result)] if steps else
                          [self.asked, str(self.result)])  # fmt: skip

    @property
    def asked(self) -> str:
        """The sum without its result."""
        return f"{self.left} {self.operation} {self.right}"

    @property
    def key(self) -> str:
        """What the calculation is, however it is worked out."""
        return f"{self.asked} = {self.result}"

    def steps(self) -> str:
        """What is written between the sum and its result; "" where one step suffices."""
        if self.operation == "+":
            return _sum_of_places(self.left, self.right)
        if self.operation == "-":
            return _taken_by_places(self.left, self.right)
        if self.operation == "*":
            return _products_of_places(self.left, self.right)
        return _divided_by_parts(self.result, self.right)


def calculate(
    left: int, operation: Operation, right: int, most: int = MAX_RESULT
) -> Calculation | None:
    """The calculation; None when it leaves the limits or the result is above `most`."""
    if operation == "+":
        result = left + right
    elif operation == "-":
        result = left - right
    elif operation == "*":
        result = left * right if _is_in_table(left, right) else -1
    else:
        is_exact = left > 1 and 0 < right <= MAX_TABLE and left % right == 0
        result = left // right if is_exact and _is_in_table(left // right, right) else -1
    if not 0 <= result <= most or (operation == "*" and left < 2):
        return None
    return Calculation(left, operation, right, result)


def amount(random: Random, most: int) -> int:
    """1 to `most`, small ones far more often; 0 when there is no such number."""
    if most < 1:
        return 0
    draw = random.random()
    limit = 10 if draw < 0.45 else 30 if draw < 0.7 else 100 if draw < 0.9 else MAX_RESULT
    return random.randint(1, min(most, limit))


def operands(random: Random, operation: Operation, most: int = MAX_RESULT) -> tuple[int, int]:
    """Two numbers from 1 on that `operation` takes, with a result of at most `most`."""
    if operation == "+":
        left = min(amount(random, most), most - 1)
        return left, amount(random, most - left)
    if operation == "-":
        left = max(2, amount(random, most), amount(random, most))
        return left, amount(random, left)
    while True:
        left, right = factors(random)
        if operation == "*" and left * right <= most:
            return left, right
        if operation == "/" and left * right <= most and min(left, right) <= MAX_TABLE:
            return left * right, min(left, right) if max(left, right) > MAX_TABLE else right


def factors(random: Random) -> tuple[int, int]:
    """Two numbers whose product is known: of the small table, the large one, or by places."""
    draw = random.random()
    if draw < 0.55:
        return random.randint(2, 10), random.randint(2, 10)
    if draw < 0.75:
        return random.randint(2, MAX_TABLE), random.randint(2, MAX_TABLE)
    pair = random.randint(11, 99 if draw < 0.9 else MAX_RESULT), random.randint(2, MAX_DIGIT)
    return pair if random.random() < 0.7 else (pair[1], pair[0])


def _is_in_table(left: int, right: int) -> bool:
    few, many = sorted((left, right))
    return many <= MAX_TABLE or few <= 10 or many == 100


def _places(number: int) -> list[int]:
    """47 as 40 and 7: the digits that are not 0 with their place, greatest first."""
    digits = str(number)
    return [int(d) * 10 ** (len(digits) - i - 1) for i, d in enumerate(digits) if d != "0"]


def _sum_of_places(left: int, right: int) -> str:
    terms, place, touched = [], 1, 0
    while place <= max(left, right):
        one, other = left // place % 10 * place, right // place % 10 * place
        touched += bool(one and other)
        terms.append(one + other)
        place *= 10
    return " + ".join(str(term) for term in reversed(terms) if term) if touched > 1 else ""


def _taken_by_places(left: int, right: int) -> str:
    steps, rest = [], right
    for place in _places(right)[:-1]:
        left, rest = left - place, rest - place
        steps.append(f"{left} - {rest}")
    return " = ".join(steps)


def _products_of_places(left: int, right: int) -> str:
    if left <= 10 and right <= 10:
        return ""
    if left > 10 and right > 10:
        if len(_places(left)) == 1 or len(_places(right)) == 1:
            return ""
        return f"{left * 10} + {left * (right - 10)}"
    few, many = sorted((left, right))
    terms = [few * place for place in _places(many)]
    return " + ".join(map(str, terms)) if len(terms) > 1 and few < 10 else ""


def _divided_by_parts(result: int, right: int) -> str:
    parts = [place * right for place in _places(result)]
    if len(parts) < 2 or result <= 10:
        return ""
    return f"({' + '.join(map(str, parts))}) / {right}"
