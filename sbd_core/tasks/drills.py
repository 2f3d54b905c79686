"""Plain exercises: sums as in word problems, sorting, reversing, counting, copying.

Trained on because they teach what the shown tasks build on; no suite of their own. The
composition that decides the split is the exercise without its wording. The sums of a drill
are any of those a word problem may need, also those of its held-out chains.
"""

from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.math.events import Operation
from sbd_core.tasks.math.task import (
    MAX_AMOUNT,
    MAX_RESULT,
    Calculation,
    calculate,
    operands,
)

NAME = "drill"
KIND_WEIGHTS = {"sums": 16, "sort": 3, "reverse": 2, "count": 2, "copy": 1}
OPERATIONS: tuple[Operation, ...] = ("+", "+", "-", "-", "*", "/")

PROMPTS: dict[str, tuple[str, ...]] = {
    "sums": ("Work out: {}", "Calculate: {}", "Solve: {}", "Compute {}.", "What is {}?"),
    "ascending": (
        "Sort from low to high: {}", "Sort these numbers: {}", "Put in ascending order: {}",
        "Order from smallest to largest: {}",
    ),
    "descending": (
        "Sort from high to low: {}", "Sort in descending order: {}",
        "Order from largest to smallest: {}",
    ),
    "alphabet": ("Sort by the alphabet: {}", "Put in alphabetical order: {}",
                 "Sort these words: {}"),
    "reverse": ("Reverse the order: {}", "Write from last to first: {}", "Turn around: {}"),
    "count": ("Count each: {}", "How many of each: {}", "Count the words: {}"),
    "copy": ("Repeat: {}", "Copy: {}", "Write the same: {}"),
}  # fmt: skip


def generate(random: Random, split: Split) -> Example:
    """An exercise whose content belongs to `split`."""
    while True:
        kind = random.choices(list(KIND_WEIGHTS), list(KIND_WEIGHTS.values()))[0]
        kind, content, answer = EXERCISES[kind](random)
        if split_of(f"{kind} {content}") == split:
            prompt = random.choice(PROMPTS[kind]).format(content)
            return Example(NAME, prompt, answer, answer)


def check(example: Example, text: str) -> bool:
    """True when `text` is the answer, space at its ends and at line ends aside."""
    return [line.rstrip() for line in text.strip().split("\n")] == example.case.split("\n")


def _sums(random: Random) -> tuple[str, str, str]:
    calculations = [_calculation(random) for _ in range(random.randint(3, 7))]
    asked = "; ".join(f"{c.left} {c.operation} {c.right}" for c in calculations)
    return "sums", asked, "\n".join(map(str, calculations))


def _calculation(random: Random) -> Calculation:
    """Half as word problems draw them, half evenly from all that they may come to."""
    while True:
        operation = random.choice(OPERATIONS)
        left, right = operands(random, operation)
        if random.random() < 0.5:
            left, right = random.randint(2, MAX_RESULT), random.randint(1, MAX_AMOUNT)
            if operation in "*/":
                right = 2
        found = calculate(left, operation, right)
        if found is not None:
            return found


def _sort(random: Random) -> tuple[str, str, str]:
    if random.random() < 0.3:
        things = random.sample(words.THINGS, random.randint(3, 6))
        return "alphabet", ", ".join(things), ", ".join(sorted(things))
    numbers = random.sample(range(100), random.randint(3, 8))
    kind = random.choice(("ascending", "descending"))
    done = sorted(numbers, reverse=kind == "descending")
    return kind, ", ".join(map(str, numbers)), ", ".join(map(str, done))


def _reverse(random: Random) -> tuple[str, str, str]:
    items = _items(random)
    return "reverse", ", ".join(items), ", ".join(reversed(items))


def _count(random: Random) -> tuple[str, str, str]:
    kinds = random.sample(words.THINGS, random.randint(1, 3))
    items = [kind for kind in kinds for _ in range(random.randint(1, 4))]
    random.shuffle(items)
    found = list(dict.fromkeys(items))
    return "count", ", ".join(items), "\n".join(f"{kind}: {items.count(kind)}" for kind in found)


def _copy(random: Random) -> tuple[str, str, str]:
    content = ", ".join(_items(random))
    return "copy", content, content


def _items(random: Random) -> list[str]:
    count = random.randint(3, 8)
    if random.random() < 0.4:
        return [str(random.randint(0, 99)) for _ in range(count)]
    return random.sample(random.choice((words.THINGS, words.NAMES, words.CITIES)), count)


EXERCISES = {
    "sums": _sums,
    "sort": _sort,
    "reverse": _reverse,
    "count": _count,
    "copy": _copy,
}
TASK = Task(NAME, generate, check, is_suite=False)
