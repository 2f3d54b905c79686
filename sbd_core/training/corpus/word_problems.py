"""Arithmetic word problems of 1 to 4 steps, solved line by line. Knows settings as data.

The composition that decides the split is the chain of calculations: the numbers and
operations in order, whatever the people, things and wording. A prompt fixes its chain, so no
prompt and no answer occurs in both splits.
"""

import re
from dataclasses import dataclass
from random import Random

from sbd_core.training.corpus.base import Example, Family, Split, split_of
from sbd_core.training.corpus.word_events import (
    SETTING_WEIGHTS,
    SETTINGS,
    Event,
    Operation,
    Setting,
)
from sbd_core.training.corpus.words import COLORS, CONTAINERS, DAYS, NAMES, THINGS, WOMEN

NAME = "math"
MIN_NUMBER, MAX_NUMBER, MAX_RESULT, MAX_FACTOR = 2, 99, 199, 12
STEP_WEIGHTS = (3, 4, 2, 1)
VERBS = {"+": "Add", "-": "Take away", "*": "Multiply by", "/": "Divide by"}
OPENING_RATE = 0.35
SMALL_RATE = 0.3

ANSWER = re.compile(r"The answer is (-?[0-9]{1,6})\.")


@dataclass(frozen=True, slots=True)
class Step:
    """`left` `operation` `right` = `result`, told by `event`."""

    event: Event
    left: int
    right: int
    result: int

    def __str__(self) -> str:
        return f"{self.left} {self.event.operation} {self.right} = {self.result}"

    def line(self) -> str:
        """The step as a line of the answer."""
        return f"{VERBS[self.event.operation]} {self.right}: {self}."


def generate(random: Random, split: Split) -> Example:
    """A problem whose chain of calculations belongs to `split`."""
    while True:
        setting = random.choices(SETTINGS, SETTING_WEIGHTS)[0]
        start, steps, has_opening = _plan(random, setting)
        if steps and split_of(composition(steps)) == split:
            prompt = _tell(random, setting, start, steps, has_opening)
            result = steps[-1].result
            lines = [f"Start with {steps[0].left}.", *(step.line() for step in steps)]
            answer = "\n".join([*lines, f"The answer is {result}."])
            return Example(NAME, prompt, answer, str(result))


def check(example: Example, text: str) -> bool:
    """True when the last "The answer is N." of `text` holds the right number."""
    found = ANSWER.findall(text)
    return bool(found) and int(found[-1]) == int(example.case)


def composition(steps: list[Step]) -> str:
    """The key that decides the split of a problem: its calculations in order."""
    return "; ".join(map(str, steps))


def _plan(random: Random, setting: Setting) -> tuple[int, list[Step], bool]:
    """The starting number, the steps, and whether the first step is the opening."""
    num_steps = random.choices(range(1, 5), STEP_WEIGHTS)[0]
    has_opening = random.random() < OPENING_RATE
    start = value = _number(random, MAX_NUMBER)
    steps: list[Step] = []
    used: set[Event] = set()
    for position in range(num_steps):
        is_opening = has_opening and position == 0
        choices = setting.openings if is_opening else setting.events
        event = random.choice([event for event in choices if event not in used] or choices)
        if is_opening and event.operation in "*/":
            value = _opening_value(random, event.operation)
            start = value
        step = _step(random, event, value)
        if step is None:
            return 0, [], False
        used.add(event)
        steps.append(step)
        value = step.result
    return start, steps, has_opening


def _number(random: Random, limit: int) -> int:
    """MIN_NUMBER to `limit`, small ones more often; 0 when there is no such number."""
    if limit < MIN_NUMBER:
        return 0
    return random.randint(MIN_NUMBER, min(limit, 20) if random.random() < SMALL_RATE else limit)


def _opening_value(random: Random, operation: Operation) -> int:
    if operation == "*":
        return random.randint(2, MAX_FACTOR)
    return random.randint(4, MAX_NUMBER)


def _step(random: Random, event: Event, value: int) -> Step | None:
    """`event` befalling `value` with a number that keeps the limits; None if there is none."""
    if event.operation == "+":
        number = _number(random, min(MAX_NUMBER, MAX_RESULT - value))
        result = value + number
    elif event.operation == "-":
        number = _number(random, min(MAX_NUMBER, value))
        result = value - number
    elif event.operation == "*":
        most = min(MAX_FACTOR, MAX_RESULT // value) if value else 0
        number = random.randint(2, most) if most >= 2 else 0
        result = value * number
    else:
        divisors = [d for d in range(2, MAX_FACTOR + 1) if value and value % d == 0]
        number = random.choice(divisors) if divisors else 0
        result = value // number if number else 0
    return Step(event, value, number, result) if number else None


def _tell(
    random: Random, setting: Setting, start: int, steps: list[Step], has_opening: bool
) -> str:
    owner = random.choice(NAMES)
    others = random.sample([name for name in NAMES if name != owner], 2 * len(steps) + 1)
    he, him, his = ("she", "her", "her") if owner in WOMEN else ("he", "him", "his")
    color, color2 = random.sample(COLORS, 2)
    slots = {
        "A": owner, "he": he, "him": him, "his": his, "He": he.title(), "His": his.title(),
        "thing": random.choice(THINGS), "color": color, "color2": color2,
        "box": random.choice(CONTAINERS),
    }  # fmt: skip
    days = random.sample(DAYS, len(steps) + 1)
    first = setting.starts if not has_opening else ()
    parts = [random.choice(first).format(**slots, n=start, B=others.pop())] if first else []
    for step in steps:
        wording = random.choice(step.event.wordings)
        parts.append(
            wording.format(**slots, m=step.left, n=step.right, B=others.pop(), day=days.pop())
        )
    parts.append(random.choice(setting.questions).format(**slots))
    return " ".join(parts)


FAMILY = Family(NAME, generate, check)
