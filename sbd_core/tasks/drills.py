"""Plain exercises of named kinds: sums, comparing, sorting, counting, copying, looking up.

Trained on because they teach what the shown tasks build on; no suite of their own. Training can
draw more of the kinds that are still wrong: `Example.kind` says which it is and `weighted` makes
a task of other weights. The composition that decides the split is the exercise without its
wording. A drill has at least two sums, so it never asks what a bare sum of task math asks; its
sums are any that a problem may need, also those of held-out chains.
"""

from collections.abc import Callable, Mapping
from random import Random

from sbd_core.errors import ArgumentError
from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Split,
    Task,
    Wording,
    draw_wording,
    made_up_name,
    made_up_word,
    split_of,
)
from sbd_core.tasks.drill_lookup import lookup
from sbd_core.tasks.drill_prompts import PROMPTS
from sbd_core.tasks.infill import task as infill
from sbd_core.tasks.math import bare
from sbd_core.tasks.math.arithmetic import (
    MAX_PRODUCT,
    MAX_TABLE,
    OPERATIONS,
    Calculation,
    Operation,
    calculate,
    operands,
)
from sbd_core.tasks.words import NUMBER_WORDS

NAME = "drill"
KIND_WEIGHTS: dict[str, float] = {
    "add": 4, "subtract": 4, "table": 3, "times": 3, "divide": 3, "part": 1.5, "join": 2,
    "mixed": 2, "compare": 1.5, "digits": 1, "ascending": 1, "descending": 1, "alphabet": 0.7,
    "reverse": 1.5, "count": 1.5, "copy": 2, "rows": 2.5, "gaps": 3.5,
    "lookup": 8,
}  # fmt: skip
"""How often each kind is drawn unless a run says otherwise."""
Exercise = tuple[str, str]
Exerciser = Callable[[Random, Wording], Exercise]


def generate(random: Random, split: Split) -> Example:
    """An exercise whose content belongs to `split`, of a kind drawn by `KIND_WEIGHTS`."""
    kind = random.choices(list(KIND_WEIGHTS), list(KIND_WEIGHTS.values()))[0]
    return generate_kind(random, split, kind)


def generate_kind(random: Random, split: Split, kind: str) -> Example:
    """An exercise of one kind of `KIND_WEIGHTS`."""
    prompts = PROMPTS.get(kind, PROMPTS["sums"])
    wording = draw_wording(random, split) if prompts.has_reserved else "seen"
    while True:
        content, answer = EXERCISES[kind](random, wording)
        if split_of(f"{kind} {content}") == split:
            prompt = prompts.draw(random, wording).format(content)
            return Example(NAME, prompt, answer, answer, wording, kind)


def weighted(weights: Mapping[str, float]) -> Task:
    """The drills drawn by these weights of kinds; a kind not named is not drawn.

    ArgumentError for a kind that is none, or weights of which none is above 0.
    """
    for kind in weights:
        if kind not in KIND_WEIGHTS:
            raise ArgumentError("weights", f"must be of kinds {', '.join(KIND_WEIGHTS)}", kind)
    if not weights or min(weights.values()) < 0 or sum(weights.values()) <= 0:
        raise ArgumentError("weights", "must be 0 or more, one of them above 0", dict(weights))
    kinds, amounts = list(weights), list(weights.values())

    def generate_weighted(random: Random, split: Split) -> Example:
        return generate_kind(random, split, random.choices(kinds, amounts)[0])

    return Task(NAME, generate_weighted, check, is_suite=False)


def check(example: Example, text: str) -> bool:
    """True when `text` is the answer, space at its ends and at line ends aside."""
    return [line.rstrip() for line in text.strip().split("\n")] == example.case.split("\n")


def _sums(draw: Callable[[Random], Calculation | None]) -> Exerciser:
    """Two to four of the sums that `draw` gives, worked out as in problems."""

    def exercise(random: Random, wording: Wording) -> Exercise:
        calculations: list[Calculation] = []
        count = random.choice((2, 2, 3, 3, 4))
        while len(calculations) < count:
            if (found := draw(random)) is not None:
                calculations.append(found)
        separator = random.choice(("; ", "; ", ", ", " and "))
        return separator.join(c.asked for c in calculations), "\n".join(map(str, calculations))

    return exercise


def _add(random: Random) -> Calculation | None:
    """With a carry, most of the time."""
    most = random.choice((99, 99, 999))
    left, right = random.randint(2, most), random.randint(2, random.choice((9, most, most)))
    if (
        left % 10 + right % 10 < 10
        and left // 10 % 10 + right // 10 % 10 < 10
        and random.random() < 0.6
    ):
        return None
    return calculate(left, "+", right)


def _subtract(random: Random) -> Calculation | None:
    """With a borrow, most of the time."""
    most = random.choice((99, 199, 999))
    left, right = random.randint(2, most), random.randint(1, random.choice((9, most, most)))
    has_borrow = any(left // p % 10 < right // p % 10 for p in (1, 10))
    if not has_borrow and random.random() < 0.6:
        return None
    return calculate(left, "-", right)


def _table(random: Random) -> Calculation | None:
    most = random.choice((10, MAX_TABLE, MAX_TABLE))
    return calculate(random.randint(2, most), "*", random.randint(2, most))


def _times(random: Random) -> Calculation | None:
    many, few = random.randint(11, random.choice((99, 999))), random.randint(2, 9)
    pair = (many, few) if random.random() < 0.6 else (few, many)
    return calculate(pair[0], "*", pair[1], MAX_PRODUCT)


def _divide(random: Random) -> Calculation | None:
    right = random.randint(2, random.choice((10, MAX_TABLE)))
    most = MAX_TABLE if right > 10 else min(999 // right, random.choice((12, 99, 333)))
    return calculate(right * random.randint(2, most), "/", right)


def _mixed(random: Random) -> Calculation | None:
    operation: Operation = random.choice(OPERATIONS)
    left, right = operands(random, operation)
    return calculate(left, operation, right)


def _part(random: Random, wording: Wording) -> Exercise:
    asked: list[str] = []
    lines: list[str] = []
    while len(lines) < 3:
        operation, number = random.choice(list(bare.NAMED))
        value = random.randint(2, 999 // number if operation == "*" or number > 2 else 400)
        value = min(value, 330) * (number if operation == "/" else 1)
        calculation = calculate(value, operation, number)
        if calculation is not None:
            asked.append(bare.NAMED[operation, number].draw(random, wording).format(m=value))
            lines.append(str(calculation))
    return "; ".join(asked), "\n".join(lines)


def _join(random: Random, wording: Wording) -> Exercise:
    """The last step of long sums and products."""
    asked: list[str] = []
    while len(asked) < 3:
        if (found := (_add if random.random() < 0.5 else _times)(random)) is None:
            continue
        steps = found.steps()
        if steps:
            asked.append(f"{steps} = {found.result}")
    return "; ".join(line.split(" = ")[0] for line in asked), "\n".join(asked)


def _compare(random: Random, wording: Wording) -> Exercise:
    most = random.choice((30, 99, 999))
    numbers = random.sample(range(most + 1), random.randint(2, 6))
    if random.random() < 0.4:  # Alike but for one digit.
        numbers = [
            numbers[0],
            *(abs(numbers[0] + random.choice((1, -1, 9, 10, -10))) for _ in numbers[2:]),
        ]
    numbers = list(dict.fromkeys(numbers))
    return ", ".join(map(str, numbers)), str(max(numbers))


def _digits(random: Random, wording: Wording) -> Exercise:
    numbers = [random.randint(0, 99) for _ in range(random.randint(3, 8))]
    return ", ".join(NUMBER_WORDS[number] for number in numbers), ", ".join(map(str, numbers))


def _sort(*, is_descending: bool) -> Exerciser:
    def exercise(random: Random, wording: Wording) -> Exercise:
        numbers = random.sample(range(random.choice((100, 100, 1000))), random.randint(3, 8))
        done = sorted(numbers, reverse=is_descending)
        return ", ".join(map(str, numbers)), ", ".join(map(str, done))

    return exercise


def _alphabet(random: Random, wording: Wording) -> Exercise:
    chosen = random.sample(words.THINGS, random.randint(3, 6))
    return ", ".join(chosen), ", ".join(sorted(chosen))


def _reverse(random: Random, wording: Wording) -> Exercise:
    items = _items(random, wording)
    return ", ".join(items), ", ".join(reversed(items))


def _count(random: Random, wording: Wording) -> Exercise:
    kinds = random.sample(words.THINGS, random.randint(1, 3))
    if random.random() < 0.2:
        kinds[-1] = made_up_word(random, wording)
    items = [kind for kind in kinds for _ in range(random.randint(1, 4))]
    random.shuffle(items)
    found = list(dict.fromkeys(items))
    return ", ".join(items), "\n".join(f"{kind}: {items.count(kind)}" for kind in found)


def _copy(random: Random, wording: Wording) -> Exercise:
    content = random.choice((", ", ", ", " ")).join(_items(random, wording))
    return content, content


def _items(random: Random, wording: Wording) -> list[str]:
    """Numbers, known words, or made-up ones that can only be copied."""
    count, draw = random.randint(3, 8), random.random()
    if draw < 0.25:
        return [str(random.randint(0, random.choice((99, 9999)))) for _ in range(count)]
    if draw < 0.5:
        return random.sample(random.choice((words.THINGS, words.CITIES)), count)
    if draw < 0.65:
        return words.NAME_POOL.sample(random, wording, count)
    make = random.choice((made_up_name, made_up_word))
    return [make(random, wording) for _ in range(min(count, 6))]


def _infill(kind: str) -> Exerciser:
    """A line of task infill to be filled, with its request."""

    def exercise(random: Random, _: Wording) -> Exercise:
        example = infill.generate_kind(random, "train", kind)
        return example.prompt, example.answer

    return exercise


EXERCISES: dict[str, Exerciser] = {
    "add": _sums(_add),
    "subtract": _sums(_subtract),
    "table": _sums(_table),
    "times": _sums(_times),
    "divide": _sums(_divide),
    "part": _part,
    "join": _join,
    "mixed": _sums(_mixed),
    "compare": _compare,
    "digits": _digits,
    "ascending": _sort(is_descending=False),
    "descending": _sort(is_descending=True),
    "alphabet": _alphabet,
    "reverse": _reverse,
    "count": _count,
    "copy": _copy,
    "rows": _infill("rows"),
    "gaps": _infill("numbers"),
    "lookup": lookup,
}
TASK = Task(NAME, generate, check, is_suite=False, kinds=KIND_WEIGHTS, generate_kind=generate_kind)
