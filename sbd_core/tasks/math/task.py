"""Arithmetic word problems of 1 to 5 steps, solved line by line. Knows settings as data.

The composition that decides the split is the chain of calculations: the numbers and
operations in order, whatever the people, things and wording. A prompt fixes its chain, so no
prompt and no answer occurs in both splits. The numbers are small on purpose: a small model can
learn every calculation, and what a test asks is to read a chain it has never met.
"""

import re
from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.math import events
from sbd_core.tasks.math import events_measures as measures
from sbd_core.tasks.math import events_places as places
from sbd_core.tasks.math.events import Event, Operation, Setting
from sbd_core.tasks.math.telling import Teller

NAME = "math"
MAX_START, MAX_AMOUNT, MAX_RESULT, MAX_FACTOR = 50, 40, 99, 10
STEP_WEIGHTS = (4, 4, 2.5, 1, 0.5)
OPENING_RATE, SMALL_RATE = 0.3, 0.65
QUESTION_FIRST_RATE, IF_RATE, DETAIL_RATE = 0.07, 0.12, 0.12

SETTINGS: tuple[Setting, ...] = tuple(
    value
    for module in (events, places, measures)
    for value in vars(module).values()
    if isinstance(value, Setting)
)
ANSWER = re.compile(r"The answer is (-?[0-9]{1,6})\.")
# One of a thing reads well where its phrase ends a clause.
TAKES_ONE = re.compile(
    r"\{n\}(?: of them| more| new)?(?: \{thing\}| points| pages| floors| degrees)?"
    r"(?:$|[.,]| (?:to|from|in|on|at) )"
)
DETAILS = (
    "it <be:s> a sunny day", "the weather <be:s> nice", "{B} <watch:s>", "the sky <be:s> gray",
    "{B} <like:s> music", "{B} <be:s> happy", "it <be:s> cold outside",
    "{B} <wear:s> a {color} hat",
    "{B} <sing:s> a song", "it <be:s> raining", "the day <be:s> long", "{B} <be:s> at home",
    "{B} <be:s> {n} years old", "it <be:s> {n} o'clock", "the house <have:s> number {n}",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calculation:
    """`left` `operation` `right` = `result`: a line of the answer."""

    left: int
    operation: Operation
    right: int
    result: int

    def __str__(self) -> str:
        return f"{self.left} {self.operation} {self.right} = {self.result}"


@dataclass(frozen=True, slots=True)
class Part:
    """What one wording tells: its numbers by slot and the calculations it asks for."""

    wording: str
    numbers: dict[str, int]
    chain: tuple[Calculation, ...] = ()


def generate(random: Random, split: Split) -> Example:
    """A problem whose chain of calculations belongs to `split`."""
    while True:
        setting = random.choices(SETTINGS, [setting.weight for setting in SETTINGS])[0]
        parts = _plan(random, setting)
        chain = [calculation for part in parts for calculation in part.chain]
        if not chain or split_of(composition(chain)) != split:
            continue
        lines = [*map(str, chain), f"The answer is {chain[-1].result}."]
        prompt = _tell(random, setting, parts)
        return Example(NAME, prompt, "\n".join(lines), str(chain[-1].result))


def check(example: Example, text: str) -> bool:
    """True when the last "The answer is N." of `text` holds the right number."""
    found = ANSWER.findall(text)
    return bool(found) and int(found[-1]) == int(example.case)


def composition(chain: list[Calculation]) -> str:
    """The key that decides the split of a problem: its calculations in order."""
    return "; ".join(map(str, chain))


def operands(random: Random, operation: Operation) -> tuple[int, int]:
    """Two numbers that `operation` takes within the limits."""
    if operation == "*":
        return random.randint(2, MAX_FACTOR), random.randint(2, MAX_FACTOR)
    if operation == "/":
        right = random.randint(2, MAX_FACTOR)
        return right * random.randint(2, MAX_FACTOR), right
    left = random.randint(2, 20 if random.random() < SMALL_RATE else MAX_START)
    return left, _amount(random, left if operation == "-" else MAX_AMOUNT)


def calculate(left: int, operation: Operation, right: int) -> Calculation | None:
    """The calculation, or None when it leaves the limits."""
    if operation == "+":
        result = left + right
    elif operation == "-":
        result = left - right
    elif operation == "*":
        # Twice a number is known far beyond the table of multiplication.
        result = left * right if left <= MAX_FACTOR or right == 2 else -1
    else:
        result = left // right if left % right == 0 else -1
        if result > MAX_FACTOR and right != 2:
            return None
    if not 0 <= result <= MAX_RESULT or (operation in "*/" and left < 2):
        return None
    return Calculation(left, operation, right, result)


def _plan(random: Random, setting: Setting) -> list[Part]:
    """Parts of as many calculations as drawn; none if a drawn event does not fit."""
    num_steps = random.choices(range(1, 6), STEP_WEIGHTS)[0]
    if setting.openings and (not setting.starts or random.random() < OPENING_RATE):
        parts = [_opening(random, random.choice(setting.openings))]
    else:
        start = random.randint(2, 20 if random.random() < SMALL_RATE else MAX_START)
        parts = [Part(random.choice(setting.starts), {"n": start})]
    value = parts[0].chain[-1].result if parts[0].chain else parts[0].numbers["n"]
    used: set[Event] = set()
    while (left := num_steps - sum(len(part.chain) for part in parts)) > 0:
        fresh = [e for e in setting.events if e not in used and 1 + e.is_group <= left]
        event = random.choice(fresh) if fresh else None
        part = _happening(random, event, value) if event else None
        if event is None or part is None:
            return []
        used.add(event)
        parts.append(part)
        value = part.chain[-1].result
    return parts


def _opening(random: Random, event: Event) -> Part:
    left, right = operands(random, event.operation)
    if event.number:
        right = event.number
        left = left * right if event.operation == "/" else left
        left = min(left, 2 * MAX_START - 2)
    calculation = calculate(left, event.operation, right)
    wording = random.choice(event.wordings)
    if calculation is None or left < 2 or (right < 2 and not event.number):
        return _opening(random, event)
    return Part(wording, {"m": left, "n": right}, (calculation,))


def _happening(random: Random, event: Event, value: int) -> Part | None:
    """`event` befalling `value` with numbers that keep the limits; None if there are none."""
    wording = random.choice(event.wordings)
    if event.is_group:
        num_groups, size = random.randint(2, 6), random.randint(2, 9)
        product = calculate(num_groups, "*", size)
        whole = calculate(value, event.operation, num_groups * size)
        if product is None or whole is None:
            return None
        return Part(wording, {"k": num_groups, "n": size}, (product, whole))
    if event.number:
        number = event.number
    elif event.operation in "+-":
        room = MAX_RESULT - value if event.operation == "+" else value
        number = _amount(random, room)
    else:
        fits = [n for n in range(2, MAX_FACTOR + 1) if calculate(value, event.operation, n)]
        number = random.choice(fits) if fits else 0
    if number < (1 if event.number or TAKES_ONE.search(wording) else 2):
        return None
    calculation = calculate(value, event.operation, number)
    return Part(wording, {"n": number}, (calculation,)) if calculation else None


def _amount(random: Random, limit: int) -> int:
    """1 to `limit`, small ones more often; 0 when there is no such number."""
    if limit < 1:
        return 0
    return random.randint(1, min(limit, 10 if random.random() < SMALL_RATE else MAX_AMOUNT))


def _tell(random: Random, setting: Setting, parts: list[Part]) -> str:
    teller = Teller(random, setting.things)
    if not setting.questions:
        clauses = [teller.clause(part.wording, part.numbers) for part in parts]
        return teller.finish(" ".join(clauses) + "?")
    question = random.choice(setting.questions)
    is_past = teller.is_past and random.random() < 0.5
    draw = random.random()
    if draw < QUESTION_FIRST_RATE and "{P}" not in question:
        asked = teller.clause(question, {}, is_past)
        return teller.finish(f"{asked} {_story(teller, setting, parts)}.")
    can_be_condition = all("<" in p.wording and "." not in p.wording for p in parts)
    if draw > 1 - IF_RATE and 2 <= len(parts) <= 3 and can_be_condition:
        clauses = [teller.clause(part.wording, part.numbers) for part in parts]
        asked = teller.clause(question, {}, is_past)
        return teller.finish(f"if {', '.join(clauses[:-1])} and {clauses[-1]}, {asked}")
    story = _story(teller, setting, parts)
    return teller.finish(f"{story}. {teller.clause(question, {}, is_past)}")


def _story(teller: Teller, setting: Setting, parts: list[Part]) -> str:
    """What happens, without the last full stop."""
    random = teller.random
    clauses = [(part.wording, teller.clause(part.wording, part.numbers)) for part in parts]
    sentences = teller.sentences(clauses, setting.has_times)
    if setting.has_times and random.random() < DETAIL_RATE:
        detail = teller.clause(random.choice(DETAILS), {"n": random.randint(2, 12)})
        sentences.insert(random.randint(1, len(sentences)), detail)
    return ". ".join(sentences)


TASK = Task(NAME, generate, check)
